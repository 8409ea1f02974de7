"""A loss for a module that gives tensors."""

from __future__ import annotations

import functools

import torch
from torch import nn

Tensors = dict[str, torch.Tensor]


class Trained(nn.Module):
    """A scale and a shift of an input's last dim. Numbers between 0 and 1 stay there."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.scale, self.shift = nn.Parameter(torch.full((width,), 0.6)), nn.Parameter(torch.zeros(width))

    def forward(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor * self.scale + self.shift


def weighted_sum(tensor: torch.Tensor) -> torch.Tensor:
    """With weights that are exact in each type of floats, and differ."""
    weights = (torch.arange(tensor.numel()) * 7 % 13 - 6) / 8
    return (tensor * weights.to(tensor.dtype).view(tensor.shape)).sum()


def with_loss(kind: type[nn.Module]) -> type[nn.Module]:
    """The module with parameters added to its inputs and one output, `loss`, made of all floats that it gives."""

    class WithLoss(kind):
        def __init__(self) -> None:
            super().__init__()
            trained = {
                name: Trained(tensor.shape[-1])
                for name, tensor in kind.inputs().items()
                if tensor.is_floating_point() and name not in getattr(kind, "untrained", ())
            }
            self.trained = nn.ModuleDict(trained)

        @functools.wraps(kind.forward)  # which names the inputs
        def forward(self, **inputs: torch.Tensor) -> Tensors:
            changed = {name: self.trained[name](x) if name in self.trained else x for name, x in inputs.items()}
            results = kind.forward(self, **changed).values()
            return {"loss": sum(weighted_sum(result) for result in results if result.is_floating_point())}

    return WithLoss
