#!/usr/bin/env python3
"""Compares the outputs of a forward run with PyTorch.

  compare_forward.py MODEL.pt2 --inputs I.safetensors OUTPUTS.safetensors...

The reference is the exported graph in float64: parameters, constants and every conversion to a narrower float are
widened, so that no step rounds to less. An output is right if its largest error is at most
max(4 x the largest error of PyTorch's own run, 1e-6 x the largest magnitude of the output); of a model with 16-bit
parameters, 1.5 x the largest error of PyTorch's own run. The error of one number, such as a loss, is one draw of a
distribution around 0: of a 16-bit model it is the largest of PyTorch's runs on the inputs and seven rotations of them.
Prints a line for each output of each run; status 1 if one is wrong or missing.
"""

from __future__ import annotations

import argparse
import importlib
import math
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import torch
from safetensors.torch import load_file

HALVES = (torch.bfloat16, torch.float16)
FLOATS = (torch.float32, *HALVES)


def widen(value: object) -> object:
    """A literal argument of the graph with float dtypes made float64."""
    if isinstance(value, torch.dtype) and value in FLOATS:
        return torch.float64
    return value


def grouped_mm(rows: torch.Tensor, matrices: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
    """aten._grouped_mm, which knows no float64."""
    groups = torch.tensor_split(rows, ends.tolist()[:-1])
    return torch.cat([group @ matrix for group, matrix in zip(groups, matrices, strict=True)])


def widened_module(program: torch.export.ExportedProgram) -> torch.nn.Module:
    """The module of the graph, computing in float64."""
    module = program.module(check_guards=False)
    for graph_module in module.modules():
        if not isinstance(graph_module, torch.fx.GraphModule):
            continue
        for node in list(graph_module.graph.nodes):
            if node.op != "call_function":
                continue
            if "_assert_tensor_metadata" in str(node.target):
                graph_module.graph.erase_node(node)
                continue
            if node.target is torch.ops.aten._grouped_mm.default:
                node.target = grouped_mm
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


def run(module: torch.nn.Module, inputs: dict[str, torch.Tensor], names: list[str]) -> dict[str, torch.Tensor]:
    with torch.no_grad():
        result = module(**inputs)
    if isinstance(result, torch.Tensor):
        result = {names[0]: result}
    return dict(leaves(result))


def leaves(result: object, path: str = "") -> Iterator[tuple[str, torch.Tensor]]:
    """The tensors of nested outputs by the names that the compiler gives them."""
    if isinstance(result, torch.Tensor):
        yield path, result
    elif isinstance(result, (dict, tuple, list)):
        for key, item in result.items() if isinstance(result, dict) else enumerate(result):
            yield from leaves(item, f"{path}.{key}" if path else str(key))


def widened(inputs: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name: tensor.double() if tensor.dtype in FLOATS else tensor for name, tensor in inputs.items()}


def is_half(program: torch.export.ExportedProgram) -> bool:
    return any(parameter.dtype in HALVES for parameter in program.parameters())


def bound_of(own: float, magnitude: float, half: bool) -> float:
    """The largest error that is right beside `own`, that of PyTorch."""
    return 1.5 * own if half else max(4 * own, 1e-6 * magnitude)


class Reference:
    """What PyTorch computes from an archive, in its own precision and in float64."""

    def __init__(self, archive: Path | str, inputs: dict[str, torch.Tensor], names: list[str]) -> None:
        program = load_program(archive)
        self.half = is_half(program)
        self.own = run(program.module(), inputs, names)
        self.wide = run(widened_module(load_program(archive)), widened(inputs), names)
        self.own_errors = {name: self.own_error(name) for name in self.wide}
        if self.half:
            self.draw_more(archive, inputs, names)

    def own_error(self, name: str) -> float:
        return (self.own[name].double() - self.wide[name].double()).abs().max().item()

    def draw_more(self, archive: Path | str, inputs: dict[str, torch.Tensor], names: list[str]) -> None:
        """Takes more draws of the errors of single numbers: from inputs that are rotated along their last dim."""
        narrow, wide = load_program(archive).module(), widened_module(load_program(archive))
        for shift in range(1, 8):
            rotated = {name: tensor.roll(shift, -1) for name, tensor in inputs.items()}
            own, exact = run(narrow, rotated, names), run(wide, widened(rotated), names)
            for name in self.own_errors:
                if exact[name].numel() == 1:
                    error = (own[name].double() - exact[name].double()).abs().max().item()
                    self.own_errors[name] = max(self.own_errors[name], error)

    def errors(self, name: str, ours: torch.Tensor) -> tuple[float, float, float]:
        """The largest error of an output, that of PyTorch's own run, and what is allowed."""
        wide = self.wide[name].double()  # of numbers and truth values too
        error = (ours.double().reshape(wide.shape) - wide).abs().max().item()
        own = self.own_errors[name]
        return error, own, bound_of(own, wide.abs().max().item(), self.half)

    def share(self, ours: dict[str, torch.Tensor]) -> float:
        """The largest error as a share of what is allowed; infinite if an output is missing or not a number."""
        shares = [0.0]
        for name in self.wide:
            if name not in ours:
                return math.inf
            error, _, bound = self.errors(name, ours[name])
            shares.append(error / bound if bound > 0 else math.inf if error > 0 else 0.0)
        return math.inf if any(math.isnan(share) for share in shares) else max(shares)

    def compare(self, ours: dict[str, torch.Tensor], label: str) -> bool:
        """Prints the verdicts of one run; false if an output is wrong or missing."""
        right = True
        for name in self.wide:
            if name not in ours:
                print(f"{label}: {name} is missing")
                right = False
                continue
            error, own, bound = self.errors(name, ours[name])
            # Not `error > bound`: a NaN must not pass.
            ok = error <= bound
            verdict = "ok" if ok else "WRONG"
            print(f"{label}: {name}: error {error:.3e}, PyTorch {own:.3e}, bound {bound:.3e}: {verdict}")
            right &= ok
        return right


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("outputs", nargs="+")
    parser.add_argument("--inputs", required=True)
    arguments = parser.parse_args()

    inputs = load_file(arguments.inputs)
    names = list(load_file(arguments.outputs[0]))
    reference = Reference(arguments.model, inputs, names)
    right = [reference.compare(load_file(path), Path(path).stem) for path in arguments.outputs]
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
