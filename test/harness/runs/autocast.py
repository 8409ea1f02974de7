"""Compares the dtypes of all that a model computes under `precision { compute bf16 }` with those of torch.autocast.

  harness autocast MODEL... --models FOLDER --work FOLDER --plan P.plan... --mesh dp=2,tp=2 [--device cpu|cuda]

For each MODEL, a name of models/make_models.py, with the corresponding plan: the exported graph runs under
torch.autocast on tensors without elements, and what each operator makes there is compared with the program `reference`,
in the order of the graph. Conversions and what only moves elements do not count: casts are the compiler's own. With
`--device cuda` the tensors say that they lie on a GPU; none is needed. Status 1 if one differs.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch._subclasses.fake_tensor import FakeTensorMode

from harness.arguments import parser_of
from harness.plans import Run, autocast_statement, compile_run, made_files, runs_of, with_statements
from harness.reference.archives import load_program, positional_inputs
from harness.reference.graphs import data_of, erase_metadata_asserts, leaves_recurrences_wide
from harness.verdicts import verdict

WORDS = {torch.float64: "f64", torch.float32: "f32", torch.bfloat16: "bf16", torch.float16: "f16", torch.int64: "i64"}
# Copies, conversions, and what the compiler recomputes after a conversion.
MOVES = "t|transpose|permute|view|_unsafe_view|reshape|unsqueeze|squeeze|expand"
UNCOUNTED = rf"aten\.(_to_copy|to|type_as|alias|detach|lift_fresh_copy|clone|contiguous|dropout|{MOVES})\."
DTYPE = re.compile(r"tensor<(?:\d+x)*(\w+)>")

Makes = tuple[str, tuple[str, ...]]  # an operator, and dtypes of floats among its results


@contextlib.contextmanager
def autocast(device: str, enabled: bool = True) -> Iterator[None]:
    """torch.autocast, which refuses a GPU where there is none."""
    before = torch.is_autocast_enabled(device)
    torch.set_autocast_enabled(device, enabled)
    torch.set_autocast_dtype(device, torch.bfloat16)
    try:
        yield
    finally:
        torch.set_autocast_enabled(device, before)
        torch.clear_autocast_cache()


class Observer(torch.fx.Interpreter):
    """Runs a graph and writes down what its operators make."""

    def __init__(self, module: torch.fx.GraphModule) -> None:
        super().__init__(module)
        self.seen: list[Makes] = []
        self.data = data_of(module.graph)

    def run_node(self, n: torch.fx.Node) -> object:
        if n.target is torch.ops.higher_order.wrap_with_set_grad_enabled:
            return self.run_region(n)
        if n.target is torch.ops.higher_order.wrap_with_autocast:
            return self.run_without_autocast(n)
        made = super().run_node(n)
        if n.target is torch.ops.aten.lstm.input:
            made = as_with_onednn(made)
        if isinstance(n.target, torch._ops.OpOverload) and not re.match(UNCOUNTED, f"{n.target}."):
            results = list(made) if isinstance(made, (tuple, list)) else [made]
            dtypes = [result.dtype for result in results if isinstance(result, torch.Tensor)]
            self.seen.append((str(n.target), tuple(WORDS[dtype] for dtype in dtypes if dtype.is_floating_point)))
        return made

    def run_region(self, n: torch.fx.Node) -> object:
        """Without gradients, and where it is about positions alone without autocast: see `without_autocast`."""
        _, region, *operands = self.fetch_args_kwargs_from_env(n)[0]
        inner = Observer(region)
        inner.seen = self.seen
        if not self.data.isdisjoint(n.all_input_nodes):
            return inner.run(*operands)
        with autocast("cpu", False), autocast("cuda", False):
            return inner.run(*operands)

    def run_without_autocast(self, n: torch.fx.Node) -> object:
        """A region that the model runs without autocast: of the device that it was exported on, or will run on."""
        _, _, enabled, _, region, *operands = self.fetch_args_kwargs_from_env(n)[0]
        assert not enabled
        inner = Observer(region)
        inner.seen = self.seen
        with autocast("cpu", False), autocast("cuda", False):
            return inner.run(*operands)


def as_with_onednn(results: object) -> object:
    """What a recurrence makes on a CPU where oneDNN computes in 16 bits."""
    if not leaves_recurrences_wide():
        return results
    return torch.utils._pytree.tree_map(lambda result: result.to(torch.bfloat16), results)


def on_device(module: torch.fx.GraphModule, device: str) -> None:
    """The graph, and those of its regions, for tensors of this device, without what it does not need."""

    def moved(value: object) -> object:
        return torch.device(device) if isinstance(value, torch.device) else value

    for graph_module in module.modules():
        if not isinstance(graph_module, torch.fx.GraphModule):
            continue
        erase_metadata_asserts(graph_module)
        for node in graph_module.graph.nodes:
            node.args = torch.fx.node.map_aggregate(node.args, moved)
            node.kwargs = torch.fx.node.map_aggregate(node.kwargs, moved)
        graph_module.graph.eliminate_dead_code()
        graph_module.recompile()


def fake_tensors(module: torch.nn.Module, device: str) -> None:
    """Puts tensors without elements in place of all that the module holds."""
    for owner in module.modules():
        for name, parameter in list(owner._parameters.items()):
            owner._parameters[name] = parameter if parameter is None else torch.nn.Parameter(faked(parameter, device))
        for name, buffer in list(owner._buffers.items()):
            owner._buffers[name] = buffer if buffer is None else faked(buffer, device)
        for name, value in list(vars(owner).items()):
            if isinstance(value, torch.Tensor):
                setattr(owner, name, faked(value, device))


def faked(tensor: torch.Tensor, device: str) -> torch.Tensor:
    return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=device)


def of_torch(path: Path, inputs: dict[str, torch.Tensor], device: str) -> list[Makes]:
    program = load_program(path)
    module = program.module(check_guards=False)
    on_device(module, device)
    names = positional_inputs(program) or [node.name for node in module.graph.find_nodes(op="placeholder")]
    observer = Observer(module)
    with FakeTensorMode(allow_non_fake_inputs=True):
        fake_tensors(module, device)
        ordered = [faked(inputs[name], device) for name in names]
        with autocast(device), torch.no_grad():
            observer.run(*ordered, enable_io_processing=False)
    return [counted(makes) for makes in observer.seen if makes[1]]


def of_compiler(text: str, device: str) -> list[Makes]:
    """What the calls of the reference make. A norm without a list that reads 16 bits is computed in f32, and its result
    converted."""
    unlisted = r".*_norm" if device == "cpu" else r".*(batch|instance|rms)_norm"
    found: list[Makes] = []
    widened: set[str] = set()  # conversions of 16 bits to f32
    norms: dict[str, int] = {}  # of such conversions, by what they make
    for line in text[text.index("module @reference") :].splitlines():
        call = re.search(r'(%\w+)(?::\d+)? = plan\.call "([^"]+)"\((%\w+)?.*\} .*?: \((.*)\) -> (.*)$', line)
        if not call:
            continue
        made, target, operand, read, results = call.groups()
        if target == "aten.to.dtype" and read.endswith("bf16>") and results.endswith("f32>"):
            widened.add(made)
        if target == "aten.to.dtype" and operand.partition("#")[0] in norms and results.endswith("bf16>"):
            name, dtypes = found[norms[operand.partition("#")[0]]]
            found[norms[operand.partition("#")[0]]] = (name, ("bf16", *dtypes[1:]))
        dtypes = tuple(word for word in DTYPE.findall(results) if word in WORDS.values() and word != "i64")
        if dtypes and not re.match(UNCOUNTED, target + "."):
            if re.match(unlisted, target) and operand in widened:
                norms[made] = len(found)
            found.append((target, dtypes))
    return [counted(makes) for makes in found]


def counted(makes: Makes) -> Makes:
    """Of a norm its first result: statistics that nothing reads are not the same on tensors without elements."""
    target, dtypes = makes
    return (target, dtypes[:1]) if "_norm" in target else makes


def compare(ours: list[Makes], theirs: list[Makes], label: str) -> bool:
    for number, (own, other) in enumerate(zip(ours, theirs, strict=False)):
        if own != other:
            print(f"{label}: operator {number} makes {own}, in PyTorch {other}: WRONG", flush=True)
            return False
    return verdict(f"{label}: {len(ours)} operators, {len(theirs)} in PyTorch", len(ours) == len(theirs) > 0)


def main(words: Sequence[str]) -> int:
    arguments = parser_of(__doc__, "runs", "device").parse_args(words)
    files = made_files(arguments)
    theirs = of_torch(files.archive, load_file(files.inputs), arguments.device)
    right = True

    def imported(run: Run) -> str:
        options = ["--reference", "--emit=import"]
        compile_run(arguments, run, options)
        return run.schedule.read_text()

    for run in runs_of(arguments, lambda text: with_statements(text, autocast_statement("bfloat16"))):
        right &= compare(of_compiler(imported(run), arguments.device), theirs, f"{arguments.model} {arguments.device}")
    return 0 if right else 1
