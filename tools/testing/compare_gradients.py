#!/usr/bin/env python3
"""Compares the gradients of a training step with PyTorch.

  compare_gradients.py MODEL.pt2 --inputs I.safetensors [--loss NAME] OUTPUTS.safetensors...

OUTPUTS hold the loss and `gradients.NAME` of every trained parameter. The reference is the exported graph in float64,
as in compare_forward.py. A gradient is right if its largest error is at most max(4 x the largest error of PyTorch's own
gradient, 1e-6 x the largest magnitude of all gradients of the model); of a model with 16-bit parameters, 1.5 x the
largest error of PyTorch's own gradient.
Prints the worst of each run; status 1 if one is wrong, missing or too many, has another dtype or shape than in PyTorch,
or is not finite.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path

import torch
from compare_forward import (
    Deviation,
    Tensors,
    error_of_others,
    is_half,
    largest_error,
    leaves,
    load_program,
    own_module,
    positional_inputs,
    widened,
    widened_module,
)
from safetensors.torch import load_file

PREFIX = "gradients."
SHOWN = 3  # of the worst gradients


def names_of_parameters(program: torch.export.ExportedProgram) -> dict[str, list[str]]:
    """The names of each parameter, tied ones together, by the first of them."""
    groups: dict[int, list[str]] = {}
    for name in program.graph_signature.parameters:
        groups.setdefault(program.state_dict[name].data_ptr(), []).append(name)
    return {names[0]: names for names in groups.values()}


def step(
    module: torch.nn.Module, inputs: Tensors, loss: str, positional: Sequence[str], ties: dict[str, list[str]]
) -> Tensors:
    """The loss, and the gradients of the parameters that it depends on."""
    parameters = dict(module.named_parameters(remove_duplicate=False))
    for parameter in parameters.values():
        parameter.grad = None
    named = {name: tensor for name, tensor in inputs.items() if name not in positional}
    outputs = dict(leaves(module(*(inputs[name] for name in positional), **named)))
    outputs[loss].sum().backward()
    result = {loss: outputs[loss].detach()}
    for first, names in ties.items():
        # Tied ones may be one parameter to PyTorch, or two that share their elements.
        own = {id(parameters[name]): parameters[name].grad for name in names}
        found = [gradient for gradient in own.values() if gradient is not None]
        if found:
            result[PREFIX + first] = torch.stack(found).sum(0) if len(found) > 1 else found[0]
    return result


class GradientReference:
    """What PyTorch computes from an archive, in its own precision and in float64."""

    def __init__(self, program: torch.export.ExportedProgram, inputs: Tensors, loss: str) -> None:
        self.half, self.loss = is_half(program), loss
        ties, positional = names_of_parameters(program), positional_inputs(program)
        self.first = {PREFIX + name: PREFIX + first for first, names in ties.items() for name in names}
        self.own = step(own_module(program), inputs, loss, positional, ties)
        self.wide = step(widened_module(program), widened(inputs), loss, positional, ties)
        self.magnitude = max(
            (tensor.abs().max().item() for name, tensor in self.wide.items() if name != loss and tensor.numel()),
            default=0.0,
        )

    def mismatch(self, ours: Tensors) -> str | None:
        for name, own in self.own.items():
            if name not in ours:
                return f"{name} is missing"
            kinds = [f"{tensor.dtype} {list(tensor.shape)}" for tensor in (ours[name], own)]
            if kinds[0] != kinds[1]:
                return f"{name} is {kinds[0]}, in PyTorch {kinds[1]}"
        return next(
            (f"{name} has no gradient in PyTorch" for name in ours if name.startswith(PREFIX) and name not in self.own),
            None,
        )

    def deviation(self, name: str, ours: torch.Tensor) -> Deviation:
        wide, own = self.wide[name], largest_error(self.own[name], self.wide[name])
        magnitude = wide.abs().item() if name == self.loss else self.magnitude
        error, bound = largest_error(ours, wide), 1.5 * own if self.half else max(4 * own, 1e-6 * magnitude)
        return Deviation(error_of_others(ours, wide) if self.half and error > bound else error, own, bound)

    def compare(self, ours: Tensors, label: str) -> bool:
        """Prints the worst of one run; false if one is wrong or missing."""
        # A tied parameter may go by any of its names.
        ours = {self.first.get(name, name): tensor for name, tensor in ours.items()}
        if mismatch := self.mismatch(ours):
            print(f"{label}: {mismatch}: WRONG")
            return False
        found = {name: self.deviation(name, ours[name]) for name in self.own}
        worst = sorted(found, key=lambda name: found[name].share, reverse=True)
        wrong = [name for name in worst if not found[name].share <= 1]
        for name in wrong or worst[:SHOWN]:
            deviation = found[name]
            verdict = "ok" if deviation.share <= 1 else "WRONG"
            print(
                f"{label}: {name}: error {deviation.error:.3e}, PyTorch {deviation.own:.3e}, "
                f"bound {deviation.bound:.3e}: {verdict}"
            )
        return not wrong and all(math.isfinite(found[name].share) for name in found)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("outputs", nargs="+")
    parser.add_argument("--inputs", required=True)
    parser.add_argument("--loss", default="loss")
    arguments = parser.parse_args()

    reference = GradientReference(load_program(arguments.model), load_file(arguments.inputs), arguments.loss)
    right = [reference.compare(load_file(path), Path(path).stem) for path in arguments.outputs]
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
