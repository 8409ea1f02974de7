"""How far a tensor is from the exact one, and how far it may be."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from harness.tensors import Tensors

HALVES = (torch.bfloat16, torch.float16)
FLOATS = (torch.float32, *HALVES)
MOST_DRAWS = 32  # runs of PyTorch before an error counts as too large


def widened(inputs: Tensors) -> Tensors:
    return {name: tensor.double() if tensor.dtype in FLOATS else tensor for name, tensor in inputs.items()}


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


def rounding_of(tensor: torch.Tensor) -> float:
    """What a tensor of 16 bits is rounded by at the least: half of a unit in the last place of its largest element.

    Where PyTorch happens to change nothing, as where a gradient is zero but for rounding, its error does not show that.
    """
    if tensor.dtype not in HALVES or not tensor.numel():
        return 0.0
    largest = tensor.abs().max().item()
    isfinite = math.isfinite(largest) and largest > 0
    return torch.finfo(tensor.dtype).eps / 2 * 2.0 ** math.floor(math.log2(largest)) if isfinite else 0.0


def mismatch(ours: Tensors, own: Tensors) -> str | None:
    """What makes tensors others than those of PyTorch, whatever their values."""
    for name, tensor in own.items():
        if name not in ours:
            return f"{name} is missing"
        kinds = [f"{each.dtype} {list(each.shape)}" for each in (ours[name], tensor)]
        if kinds[0] != kinds[1]:
            return f"{name} is {kinds[0]}, in PyTorch {kinds[1]}"
    return None
