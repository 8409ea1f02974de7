#!/usr/bin/env python3
"""Compares the outputs of a forward run with PyTorch.

  compare_forward.py MODEL.pt2 --inputs I.safetensors [--compute DTYPE] OUTPUTS.safetensors...

The reference is the exported graph in float64: parameters, constants and every conversion to a narrower float are
widened, so that no step rounds to less. An output is right if its largest error is at most
max(4 x the largest error of PyTorch's own run, 1e-6 x the largest magnitude of the output); of a model with 16-bit
parameters, 1.5 x the largest error of PyTorch's own run. The error of one number, such as a loss, is one draw of a
distribution around 0: of a 16-bit model it is the largest of PyTorch's runs on the inputs and seven rotations of them,
and up to 31 where an error is beyond that.
So is that of every output where products are made in addends that are rounded (addends.py): nothing is rounded as on
one device, and the largest error of a tensor varies by a factor of two from run to run.
Integers and truth values have no magnitude: where PyTorch's own run is exact, so must ours be. With `--compute`
PyTorch's own run is under torch.autocast in that dtype, and the model counts as one of 16 bits.
Prints a line for each output of each run; status 1 if one is wrong, missing or too many, has another dtype or shape
than in PyTorch, or is not finite.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import importlib
import math
import sys
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from addends import Shards, split_products
from draws import Draws, replay
from safetensors.torch import load_file
from torch.export.passes import move_to_device_pass

HALVES = (torch.bfloat16, torch.float16)
FLOATS = (torch.float32, *HALVES)
COMPUTE = {"bfloat16": torch.bfloat16, "float16": torch.float16}
CONVOLUTIONS = (
    torch.ops.aten.conv3d.default,
    torch.ops.aten.conv3d.padding,
    torch.ops.aten.conv_transpose3d.input,
    torch.ops.aten.convolution.default,
)
DRAWS = 8  # of the error of a single number
MOST_DRAWS = 32  # runs of PyTorch before an error counts as too large

Tensors = dict[str, torch.Tensor]


def widen(value: object) -> object:
    """A literal argument of the graph with float dtypes made float64."""
    if isinstance(value, torch.dtype) and value in FLOATS:
        return torch.float64
    return value


def grouped_mm(rows: torch.Tensor, matrices: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
    """aten._grouped_mm, which knows no float64."""
    groups = torch.tensor_split(rows, ends.tolist()[:-1])
    return torch.cat([group @ matrix for group, matrix in zip(groups, matrices, strict=True)])


def erase_metadata_asserts(module: torch.fx.GraphModule) -> None:
    """In another precision tensors have other dtypes than when the model was exported."""
    for node in module.graph.find_nodes(op="call_function", target=torch.ops.aten._assert_tensor_metadata.default):
        module.graph.erase_node(node)


def without_autocast(enabled: bool, region: torch.nn.Module, *arguments: object) -> object:
    """A region without gradients of a graph that computes with positions alone: models switch autocast off around
    rotary angles, of which a graph says nothing."""
    with torch.set_grad_enabled(enabled), torch.autocast("cpu", enabled=False):
        return region(*arguments)


def data_of(graph: torch.fx.Graph) -> set[torch.fx.Node]:
    """What depends on parameters or floats of the batch, and not on integers and buffers alone."""
    found: set[torch.fx.Node] = set()
    for node in graph.nodes:
        value = node.meta.get("val")
        is_float = isinstance(value, torch.Tensor) and value.is_floating_point()
        is_first = node.op == "placeholder" and is_float
        is_first |= node.op == "get_attr" and isinstance(attribute_of(node), torch.nn.Parameter)
        if is_first or not found.isdisjoint(node.all_input_nodes):
            found.add(node)
    return found


def attribute_of(node: torch.fx.Node) -> object:
    module: object = node.graph.owning_module
    for name in str(node.target).split("."):
        module = getattr(module, name)
    return module


def sound(target: torch._ops.OpOverload) -> Callable[..., torch.Tensor]:
    """A convolution whose weight has a gradient. Of volumes of bf16 PyTorch 2.11 leaves elements of it as they were in
    memory, and so these are computed in float32.
    """

    def convolution(images: torch.Tensor, weight: torch.Tensor, *rest: object) -> torch.Tensor:
        if weight.dim() != 5 or weight.dtype != torch.bfloat16:
            return target(images, weight, *rest)
        wide = [each.float() if isinstance(each, torch.Tensor) else each for each in rest]
        return target(images.float(), weight.float(), *wide).to(weight.dtype)

    return convolution


def batch_norm(
    input: torch.Tensor,
    weight: torch.Tensor | None,
    bias: torch.Tensor | None,
    running_mean: torch.Tensor,
    running_var: torch.Tensor,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[torch.Tensor | None, ...]:
    """aten._native_batch_norm_legit_functional by PyTorch's own batch norm: the module of a graph overwrites buffers
    that the operator has kept for its derivative."""
    mean, variance = running_mean.clone(), running_var.clone()
    made = torch.nn.functional.batch_norm(input, mean, variance, weight, bias, training, momentum, eps)
    return made, None, None, mean, variance


def use_own_batch_norm(graph: torch.fx.Graph) -> None:
    target = torch.ops.aten._native_batch_norm_legit_functional.default
    for node in graph.find_nodes(op="call_function", target=target):
        node.target = batch_norm


def own_module(
    program: torch.export.ExportedProgram, draws: Draws | None = None, shards: Shards | None = None
) -> torch.nn.Module:
    """The module of the graph, with the random numbers of a compiled program; with `shards` products are computed in
    addends that are rounded (addends.py).

    Its kernels may lay results out otherwise than the export thought, so that no view of them is possible.
    """
    module = program.module()
    for graph_module in module.modules():
        if isinstance(graph_module, torch.fx.GraphModule):
            for node in graph_module.graph.find_nodes(op="call_function", target=torch.ops.aten.view.default):
                node.target = torch.ops.aten.reshape.default
            data = data_of(graph_module.graph)
            for node in graph_module.graph.find_nodes(
                op="call_function", target=torch.ops.higher_order.wrap_with_set_grad_enabled
            ):
                if data.isdisjoint(node.all_input_nodes):
                    node.target = without_autocast
            use_own_batch_norm(graph_module.graph)
            for target in CONVOLUTIONS:
                for node in graph_module.graph.find_nodes(op="call_function", target=target):
                    node.target = sound(target)
            erase_metadata_asserts(graph_module)
            graph_module.recompile()
    replay(module, draws or Draws())
    split_products(module, shards or {})
    return module


def on_device(program: torch.export.ExportedProgram, device: str) -> torch.export.ExportedProgram:
    """The program with its parameters and constants on a device, where it computes in float32 without TF32."""
    if device == "cpu":
        return program
    torch.backends.cudnn.allow_tf32 = False
    return move_to_device_pass(copy.deepcopy(program), device)


def run_on_device(module: torch.nn.Module, device: str, inputs: Tensors, positional: Sequence[str] = ()) -> Tensors:
    """The outputs of a module of such a program, on the host."""
    placed = {name: tensor.to(device) for name, tensor in inputs.items()}
    return {name: tensor.cpu() for name, tensor in run(module, placed, positional).items()}


def widened_module(program: torch.export.ExportedProgram, draws: Draws | None = None) -> torch.nn.Module:
    """The module of the graph, with the random numbers of a compiled program, computing in float64."""
    module = copy.deepcopy(program.module(check_guards=False))
    replay(module, draws or Draws())
    for graph_module in module.modules():
        if not isinstance(graph_module, torch.fx.GraphModule):
            continue
        erase_metadata_asserts(graph_module)
        use_own_batch_norm(graph_module.graph)
        for node in list(graph_module.graph.nodes):
            if node.op != "call_function":
                continue
            if node.target is torch.ops.aten._grouped_mm.default:
                node.target = grouped_mm
            if node.target is torch.ops.aten.view.default:
                # A kernel may lay its result out otherwise in float64.
                node.target = torch.ops.aten.reshape.default
            node.args = torch.fx.node.map_aggregate(node.args, widen)
            node.kwargs = torch.fx.node.map_aggregate(node.kwargs, widen)
        graph_module.recompile()
    return module.double()


def load_program(path: Path | str) -> torch.export.ExportedProgram:
    """An archive, with the library imported whose operators it has."""
    with zipfile.ZipFile(path) as archive:
        graphs = [archive.read(name) for name in archive.namelist() if name.endswith(".json")]
    if any(b"torch.ops.transformers." in graph for graph in graphs):
        importlib.import_module("transformers.integrations.moe")
    return torch.export.load(path)


def autocast(compute: str | None) -> contextlib.AbstractContextManager[object]:
    """PyTorch's autocast in this dtype; none does nothing."""
    return torch.autocast("cpu", dtype=COMPUTE[compute]) if compute else contextlib.nullcontext()


def run(
    module: torch.nn.Module, inputs: Tensors, positional: Sequence[str] = (), compute: str | None = None
) -> Tensors:
    """The outputs by name; the inputs named in `positional` were exported without their names, in this order."""
    named = {name: tensor for name, tensor in inputs.items() if name not in positional}
    with torch.no_grad(), autocast(compute):
        return dict(leaves(module(*(inputs[name] for name in positional), **named)))


def positional_inputs(program: torch.export.ExportedProgram) -> tuple[str, ...]:
    """Names of the inputs that are tensors by position."""
    arguments = program.call_spec.in_spec.children()[0]
    return tuple(program.graph_signature.user_inputs[: arguments.num_leaves])


def leaves(result: object, path: str = "") -> Iterator[tuple[str, torch.Tensor]]:
    """The tensors of nested outputs by the names that the compiler gives them."""
    if isinstance(result, torch.Tensor):
        yield path or "0", result
    elif isinstance(result, (dict, tuple, list)):
        for key, item in result.items() if isinstance(result, dict) else enumerate(result):
            yield from leaves(item, f"{path}.{key}" if path else str(key))


def widened(inputs: Tensors) -> Tensors:
    return {name: tensor.double() if tensor.dtype in FLOATS else tensor for name, tensor in inputs.items()}


def is_half(program: torch.export.ExportedProgram) -> bool:
    return any(parameter.dtype in HALVES for parameter in program.parameters())


def largest_error(tensor: torch.Tensor, exact: torch.Tensor) -> float:
    """NaN if one is in the tensors. Truth values count as 0 and 1."""
    return (tensor.double() - exact.double()).abs().max().item() if exact.numel() else 0.0


def error_of_others(tensor: torch.Tensor, exact: torch.Tensor) -> float:
    """Of the elements that are not the exact ones, rounded once: those are right whatever errors PyTorch makes."""
    others = tensor != exact.to(tensor.dtype)
    return largest_error(tensor[others], exact[others])


def beside(tensor: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Floats each of which is itself, the next larger number or the next smaller one."""
    if not tensor.is_floating_point():
        return tensor
    steps = torch.randint(-1, 2, tensor.shape, generator=generator).to(tensor.device)
    moved = torch.nextafter(tensor, torch.where(steps > 0, math.inf, -math.inf).to(tensor.dtype))
    return torch.where(steps == 0, tensor, moved)


@dataclass(frozen=True)
class Deviation:
    """The largest error of an output, that of PyTorch's own run, and what is allowed."""

    error: float
    own: float
    bound: float

    @property
    def share(self) -> float:
        """The error as a share of what is allowed; infinite if one of them is not a finite number."""
        if not math.isfinite(self.error) or not math.isfinite(self.bound):
            return math.inf
        return self.error / self.bound if self.bound > 0 else math.inf if self.error > 0 else 0.0


class Reference:
    """What PyTorch computes from an archive, in its own precision and in float64."""

    def __init__(
        self,
        program: torch.export.ExportedProgram,
        inputs: Tensors,
        compute: str | None = None,
        shards: Shards | None = None,
        device: str = "cpu",
    ) -> None:
        """PyTorch's own runs are on `device`, without autocast where that is not the CPU."""
        self.half, self.compute, self.device = is_half(program) or compute is not None, compute, device
        self.narrow, self.exact = own_module(on_device(program, device), shards=shards), widened_module(program)
        self.positional = positional_inputs(program)
        self.own_errors: dict[str, float] = {}
        self.own, self.wide = self.add_draw(inputs)
        floats = [name for name, own in self.own.items() if own.is_floating_point()]
        self.inputs, self.draws = inputs, 1
        self.drawn = [name for name in floats if self.half and (shards or self.own[name].numel() == 1)]
        while self.drawn and self.draws < DRAWS:
            self.add_rotation()

    def add_draw(self, inputs: Tensors, names: Sequence[str] = ()) -> tuple[Tensors, Tensors]:
        """Takes the errors of PyTorch's own run on other inputs into account, those of the outputs named or of all.

        Returns that run, and the one in float64.
        """
        exact = run(self.exact, widened(inputs), self.positional)
        if self.device == "cpu":
            own = run(self.narrow, inputs, self.positional, self.compute)
        else:
            own = run_on_device(self.narrow, self.device, inputs, self.positional)
        for name in names or exact:
            error = largest_error(own[name], exact[name])
            if name not in self.own_errors:
                self.own_errors[name] = error
            elif math.isfinite(error):  # another draw without numbers tells nothing of errors
                self.own_errors[name] = max(self.own_errors[name], error)
        return own, exact

    def add_other_draw(self, inputs: Tensors, names: Sequence[str] = ()) -> None:
        """The same; matrices of other inputs may have no factors, and then tell nothing."""
        with contextlib.suppress(torch.linalg.LinAlgError):
            self.add_draw(inputs, names)

    def add_rotation(self) -> None:
        """The same on the inputs, rotated, for what is a draw."""
        self.add_other_draw({name: tensor.roll(self.draws, -1) for name, tensor in self.inputs.items()}, self.drawn)
        self.draws += 1

    @torch.no_grad()
    def change_weights(self, change: Callable[[torch.Tensor], torch.Tensor]) -> None:
        """Gives every parameter what `change` makes of it, for further draws of another model of the same kind."""
        narrow = dict(self.narrow.named_parameters(remove_duplicate=False))
        # Tied ones may share their elements and be two tensors to PyTorch.
        for parameter in {parameter.data_ptr(): parameter for parameter in narrow.values()}.values():
            parameter.copy_(change(parameter))
        for name, parameter in self.exact.named_parameters(remove_duplicate=False):
            parameter.copy_(narrow[name])

    def mismatch(self, ours: Tensors) -> str | None:
        """What makes the outputs of a run others than those of PyTorch, whatever their values."""
        for name, own in self.own.items():
            if name not in ours:
                return f"{name} is missing"
            kinds = [f"{tensor.dtype} {list(tensor.shape)}" for tensor in (ours[name], own)]
            if kinds[0] != kinds[1]:
                return f"{name} is {kinds[0]}, in PyTorch {kinds[1]}"
        return next((f"{name} is no output of the model" for name in ours if name not in self.own), None)

    def deviation(self, name: str, ours: torch.Tensor) -> Deviation:
        """PyTorch runs for as long as an error is too large for the draws that were made."""
        found = self.deviation_of_draws(name, ours)
        while name in self.drawn and self.draws < MOST_DRAWS and not found.share <= 1:
            self.add_rotation()
            found = self.deviation_of_draws(name, ours)
        return found

    def deviation_of_draws(self, name: str, ours: torch.Tensor) -> Deviation:
        wide, own = self.wide[name], self.own_errors[name]
        # Numbers that are not rounded have no magnitude to be rounded to.
        magnitude = wide.abs().max().item() if wide.is_floating_point() and wide.numel() else 0.0
        error, bound = largest_error(ours, wide), 1.5 * own if self.half else max(4 * own, 1e-6 * magnitude)
        return Deviation(error_of_others(ours, wide) if self.half and error > bound else error, own, bound)

    def share(self, ours: Tensors) -> float:
        """The largest error as a share of what is allowed; infinite if the outputs do not compare."""
        if self.mismatch(ours):
            return math.inf
        return max((self.deviation(name, tensor).share for name, tensor in ours.items()), default=math.inf)

    def compare(self, ours: Tensors, label: str) -> bool:
        """Prints the verdicts of one run; false if an output is wrong or missing."""
        if mismatch := self.mismatch(ours):
            print(f"{label}: {mismatch}: WRONG")
            return False
        for name, tensor in ours.items():
            found = self.deviation(name, tensor)
            verdict = "ok" if found.share <= 1 else "WRONG"
            print(
                f"{label}: {name}: error {found.error:.3e}, PyTorch {found.own:.3e}, bound {found.bound:.3e}: {verdict}"
            )
        return self.share(ours) <= 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("outputs", nargs="+")
    parser.add_argument("--inputs", required=True)
    parser.add_argument("--compute", choices=COMPUTE, help="of PyTorch's autocast")
    arguments = parser.parse_args()

    reference = Reference(load_program(arguments.model), load_file(arguments.inputs), arguments.compute)
    right = [reference.compare(load_file(path), Path(path).stem) for path in arguments.outputs]
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
