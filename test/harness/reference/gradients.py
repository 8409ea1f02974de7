"""What PyTorch makes of the gradients of a training step, and how far they may be from it.

Outputs hold the loss and `gradients.NAME` of every trained parameter. The reference is the exported graph in float64,
as in forward.py. A gradient is right as `meshplan-run verify` says (docs/verify.md, own_errors.py): none is missing or
too many, dtype and shape are those of PyTorch, and all numbers are finite.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from harness.reference.addends import Shards
from harness.reference.archives import is_half, leaves, positional_inputs
from harness.reference.choices import Choices, use_topk
from harness.reference.deviations import mismatch, widened
from harness.reference.draws import Draws
from harness.reference.graphs import own_module, widened_module
from harness.reference.own_errors import Anew, OwnErrors
from harness.reference.stacked import Stacks
from harness.tensors import Tensors

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
        self.choices = Choices(self.half)
        use_topk(self.exact, self.choices.replay)
        if use_topk(self.narrow, self.choices.record):
            self.own_step()
        self.choices.begin_again()
        self.wide = step(self.exact, widened(inputs), loss, self.positional, self.ties)
        self.magnitude = max(
            (tensor.abs().max().item() for name, tensor in self.wide.items() if name != loss and tensor.numel()),
            default=0.0,
        )
        self.errors = OwnErrors(self.own_step, self.wide, half=self.half, magnitude_of=self.magnitude_of)
        self.own = self.errors.own

    def own_step(self, anew: Anew = lambda gradient: gradient) -> Tensors:
        """In PyTorch's own precision; each gradient goes through the given function."""
        self.choices.begin_own()
        made = step(self.narrow, self.inputs, self.loss, self.positional, self.ties)
        return {name: tensor if name == self.loss else anew(tensor) for name, tensor in made.items()}

    def magnitude_of(self, name: str, exact: torch.Tensor) -> float:
        """Of the loss, or of all gradients."""
        return exact.abs().item() if name == self.loss else self.magnitude

    def mismatch(self, ours: Tensors) -> str | None:
        """What makes gradients others than those of PyTorch, whatever their values."""
        if found := mismatch(ours, self.own):
            return found
        return next(
            (f"{name} has no gradient in PyTorch" for name in ours if name.startswith(PREFIX) and name not in self.own),
            None,
        )

    def compare(self, ours: Tensors, label: str) -> bool:
        """Prints the worst of one run; false if one is wrong or missing."""
        # A tied parameter may go by any of its names.
        ours = {self.first.get(name, name): tensor for name, tensor in Stacks(self.first).unstacked(ours).items()}
        if mismatch := self.mismatch(ours):
            print(f"{label}: {mismatch}: WRONG")
            return False
        right = self.choices.compare()
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
        return right and not wrong
