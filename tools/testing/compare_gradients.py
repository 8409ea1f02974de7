#!/usr/bin/env python3
"""Compares the gradients of a training step with PyTorch.

  compare_gradients.py MODEL.pt2 --inputs I.safetensors [--loss NAME] OUTPUTS.safetensors...

OUTPUTS hold the loss and `gradients.NAME` of every trained parameter. The reference is the exported graph in float64,
as in compare_forward.py. A gradient is right as `meshplan-run verify` says (docs/verify.md, own_errors.py).
Prints the worst of each run; status 1 if one is wrong, missing or too many, has another dtype or shape than in PyTorch,
or is not finite.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import torch
from addends import Shards
from compare_forward import (
    Tensors,
    is_half,
    leaves,
    load_program,
    own_module,
    positional_inputs,
    widened,
    widened_module,
)
from draws import Draws
from own_errors import Anew, OwnErrors
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
        self.wide = step(self.exact, widened(inputs), loss, self.positional, self.ties)
        self.magnitude = max(
            (tensor.abs().max().item() for name, tensor in self.wide.items() if name != loss and tensor.numel()),
            default=0.0,
        )
        self.errors = OwnErrors(self.own_step, self.wide, half=self.half, magnitude_of=self.magnitude_of)
        self.own = self.errors.own

    def own_step(self, anew: Anew = lambda gradient: gradient) -> Tensors:
        """In PyTorch's own precision; each gradient goes through `anew`."""
        made = step(self.narrow, self.inputs, self.loss, self.positional, self.ties)
        return {name: tensor if name == self.loss else anew(tensor) for name, tensor in made.items()}

    def magnitude_of(self, name: str, exact: torch.Tensor) -> float:
        """Of the loss, or of all gradients."""
        return exact.abs().item() if name == self.loss else self.magnitude

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

    def compare(self, ours: Tensors, label: str) -> bool:
        """Prints the worst of one run; false if one is wrong or missing."""
        # A tied parameter may go by any of its names.
        ours = {self.first.get(name, name): tensor for name, tensor in ours.items()}
        if mismatch := self.mismatch(ours):
            print(f"{label}: {mismatch}: WRONG")
            return False
        found = self.errors.deviations(ours)
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
