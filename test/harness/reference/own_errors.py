"""How far a right gradient may be from the exact one: the rule of `meshplan-run verify` (docs/verify.md).

An error is held against those of PyTorch's own runs: one as it is, and up to 31 of which results are rounded randomly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves, tree_map

from harness.reference.deviations import MOST_DRAWS, Deviation, error_of_others, largest_error, rounding_of
from harness.tensors import Tensors

MOST_OWN_ERRORS = 3
PROBABILITY = 1 / 6  # that an element goes up, and that it goes down


def round_anew(tensor: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """The tensor with some elements moved to a neighbour: that has four times the variance of rounding."""
    drawn = torch.rand(tensor.shape, generator=generator)
    steps = (drawn > 1 - PROBABILITY).float() - (drawn < PROBABILITY).float()
    # Between half of a unit in the last place and one and a half.
    factors = 1 + steps * (0.75 * torch.finfo(tensor.dtype).eps)
    moved = (tensor.detach().float() * factors).to(tensor.dtype)
    return (tensor * factors.masked_fill(~moved.isfinite(), 1)).to(tensor.dtype)


Anew = Callable[[torch.Tensor], torch.Tensor]


class RoundedAnew(TorchFunctionMode):
    """While it is on, what operators make of trained parameters is rounded randomly. Views are what they are views of,
    and float64 is exact."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.generator = torch.Generator().manual_seed(seed)

    def __torch_function__(
        self,
        func: Callable[..., object],
        types: Sequence[type],
        args: tuple[object, ...] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        result = func(*args, **(kwargs or {}))
        read = [each for each in tree_leaves(args) if isinstance(each, torch.Tensor)]

        def changed(made: object) -> object:
            is_made = isinstance(made, torch.Tensor) and made.is_floating_point() and made.dtype != torch.float64
            if not is_made or not made.requires_grad or made.is_leaf:
                return made
            storage = made.untyped_storage().data_ptr()
            if any(each.untyped_storage().data_ptr() == storage for each in read):
                return made
            return round_anew(made, self.generator)

        return tree_map(changed, result)


class OwnErrors:
    """The largest errors that PyTorch's own runs have, and the bounds that follow."""

    def __init__(
        self,
        run: Callable[[Anew], Tensors],
        exact: Tensors,
        *,
        half: bool,
        magnitude_of: Callable[[str, torch.Tensor], float],
    ) -> None:
        """`run` is PyTorch in its own precision, which passes each gradient through a function; `half` where that
        precision has 16 bits. `magnitude_of` is what errors of 32 bits are relative to."""
        self.run, self.exact, self.half, self.magnitude_of = run, exact, half, magnitude_of
        self.own = run(lambda gradient: gradient)
        # No number is never the smaller one.
        self.errors = {
            name: max(largest_error(own, exact[name]), rounding_of(own), key=lambda error: (math.isnan(error), error))
            for name, own in self.own.items()
        }
        self.draws = 1

    def add_draw(self) -> None:
        with RoundedAnew(self.draws) as mode:
            own = self.run(lambda gradient: round_anew(gradient, mode.generator))
        self.draws += 1
        for name, tensor in own.items():
            error = largest_error(tensor, self.exact[name])
            if math.isfinite(error):  # another draw without numbers tells nothing of errors
                self.errors[name] = max(self.errors[name], error)

    def deviation(self, name: str, ours: torch.Tensor) -> Deviation:
        exact, own = self.exact[name], self.errors[name]
        bound = MOST_OWN_ERRORS * own
        if not self.half:
            bound = max(bound, 1e-6 * self.magnitude_of(name, exact))
        error = largest_error(ours, exact)
        return Deviation(error_of_others(ours, exact) if self.half and error > bound else error, own, bound)

    def deviations(self, ours: Mapping[str, torch.Tensor]) -> dict[str, Deviation]:
        """Of all. PyTorch runs for as long as an error is too large for the draws that were made."""
        found = {name: self.deviation(name, ours[name]) for name in self.own}
        while self.draws < MOST_DRAWS and any(not each.share <= 1 for each in found.values()):
            self.add_draw()
            found = {name: self.deviation(name, ours[name]) for name in self.own}
        return found
