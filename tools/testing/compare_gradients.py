#!/usr/bin/env python3
"""Compares the gradients of a training step with PyTorch.

  compare_gradients.py MODEL.pt2 --inputs I.safetensors [--loss NAME] OUTPUTS.safetensors...

OUTPUTS hold the loss and `gradients.NAME` of every trained parameter. The reference is the exported graph in float64,
as in compare_forward.py. A gradient is right if its largest error is at most max(4 x the largest error of PyTorch's own
gradient, 1e-6 x the largest magnitude of all gradients of the model); of a model with 16-bit parameters, 1.5 x the
largest error of PyTorch's own gradient. An error beyond that may be no more than another draw. The error of one number
is one, and so is that of a 16-bit gradient: the rounding of an activation that all its elements were made of moves them
together, one or a thousand. Such a gradient is held against the largest error of PyTorch's runs on the inputs and on
seven rotations of them.
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
from addends import Shards
from compare_forward import (
    DRAWS,
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
from draws import Draws
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

    def __init__(
        self,
        program: torch.export.ExportedProgram,
        inputs: Tensors,
        loss: str,
        draws: Draws | None = None,
        shards: Shards | None = None,
    ) -> None:
        self.half, self.loss, self.inputs = is_half(program), loss, inputs
        self.ties, self.positional = names_of_parameters(program), positional_inputs(program)
        self.first = {PREFIX + name: PREFIX + first for first, names in self.ties.items() for name in names}
        self.narrow, self.exact = own_module(program, draws, shards), widened_module(program, draws)
        self.own, self.wide = self.steps(inputs)
        self.own_errors = {name: largest_error(own, self.wide[name]) for name, own in self.own.items()}
        self.draws = 1
        self.magnitude = max(
            (tensor.abs().max().item() for name, tensor in self.wide.items() if name != loss and tensor.numel()),
            default=0.0,
        )

    def steps(self, inputs: Tensors) -> tuple[Tensors, Tensors]:
        """In PyTorch's own precision, and in float64."""
        own = step(self.narrow, inputs, self.loss, self.positional, self.ties)
        return own, step(self.exact, widened(inputs), self.loss, self.positional, self.ties)

    def add_draw(self) -> None:
        """Takes the errors of PyTorch's step on other inputs into account, where they are draws."""
        own, exact = self.steps({name: tensor.roll(self.draws, -1) for name, tensor in self.inputs.items()})
        self.draws += 1
        for name in filter(self.is_draw, own):
            error = largest_error(own[name], exact[name])
            if math.isfinite(error):  # another draw without numbers tells nothing of errors
                self.own_errors[name] = max(self.own_errors[name], error)

    def is_draw(self, name: str) -> bool:
        """True if the largest error is one draw."""
        return self.half or self.own[name].numel() == 1

    def mismatch(self, ours: Tensors) -> str | None:
        """What makes gradients others than those of PyTorch, whatever their values."""
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
        wide, own = self.wide[name], self.own_errors[name]
        magnitude = wide.abs().item() if name == self.loss else self.magnitude
        error, bound = largest_error(ours, wide), 1.5 * own if self.half else max(4 * own, 1e-6 * magnitude)
        return Deviation(error_of_others(ours, wide) if self.half and error > bound else error, own, bound)

    def deviations(self, ours: Tensors) -> dict[str, Deviation]:
        """Of the loss and each gradient. PyTorch runs on other inputs for as long as an error that is a draw is too
        large for those that were made.
        """
        found = {name: self.deviation(name, ours[name]) for name in self.own}
        while self.draws < DRAWS and any(self.is_draw(name) and not found[name].share <= 1 for name in found):
            self.add_draw()
            found = {name: self.deviation(name, ours[name]) for name in self.own}
        return found

    def compare(self, ours: Tensors, label: str) -> bool:
        """Prints the worst of one run; false if one is wrong or missing."""
        # A tied parameter may go by any of its names.
        ours = {self.first.get(name, name): tensor for name, tensor in ours.items()}
        if mismatch := self.mismatch(ours):
            print(f"{label}: {mismatch}: WRONG")
            return False
        found = self.deviations(ours)
        worst = sorted(found, key=lambda name: found[name].share, reverse=True)
        wrong = [name for name in worst if not found[name].share <= 1]
        for name in wrong or worst[:SHOWN]:
            deviation = found[name]
            verdict = "ok" if deviation.share <= 1 else "WRONG"
            print(
                f"{label}: {name}: error {deviation.error:.3e}, PyTorch {deviation.own:.3e}, "
                f"bound {deviation.bound:.3e}: {verdict}"
            )
        return not wrong


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
