"""A module that reads functions of its parameters."""

from __future__ import annotations

import torch
from torch import nn

Tensors = dict[str, torch.Tensor]


class ParameterFunctions(nn.Module):
    """What adapters, state space models and norms of weights make of parameters before they compute with them."""

    decomposed = False

    def __init__(self) -> None:
        super().__init__()
        self.decay, self.scale = nn.Parameter(torch.rand(24) + 0.5), nn.Parameter(torch.rand(24) + 0.5)
        self.base, self.magnitude = nn.Linear(24, 24), nn.Parameter(torch.rand(24) + 0.5)
        self.down, self.up = nn.Linear(24, 4, bias=False), nn.Linear(4, 24, bias=False)
        self.narrow = nn.Linear(24, 24)

    def adapted(self) -> torch.Tensor:
        """The weight and what adapters add to it, with rows of learned lengths: DoRA, through the norm as well."""
        weight = self.base.weight + self.up.weight @ self.down.weight
        return weight * (self.magnitude / weight.norm(dim=1)).unsqueeze(1)

    def forward(self, hidden: torch.Tensor) -> Tensors:
        hidden = hidden * nn.functional.softplus(self.decay) * self.scale
        hidden = nn.functional.linear(hidden, self.adapted(), self.base.bias).tanh()
        hidden = hidden * self.scale.double().float() * (1 + self.scale)
        return {"hidden": nn.functional.linear(hidden, self.narrow.weight.exp().transpose(0, 1), self.narrow.bias)}

    @staticmethod
    def inputs() -> Tensors:
        return {"hidden": torch.randn(4, 6, 24)}


class OpaqueFunctions(nn.Module):
    """Functions of parameters by operators that have no record, and parameters whose gradients are zero or are none."""

    decomposed = False

    def __init__(self) -> None:
        super().__init__()
        self.turn, self.places = nn.Parameter(torch.randn(24, 24) / 8), nn.Parameter(torch.randn(1, 24, 3, 3))
        self.levels, self.kept = nn.Parameter(torch.randn(24) * 3), nn.Parameter(torch.rand(24))

    def forward(self, hidden: torch.Tensor) -> Tensors:
        places = nn.functional.interpolate(self.places, size=(2, 3), mode="bicubic", antialias=True)
        hidden = hidden @ torch.linalg.matrix_exp(self.turn - self.turn.T) + places.flatten(2).transpose(1, 2)
        return {"hidden": (hidden + self.levels.round() * 0.1).tanh() * self.kept.detach()}

    @staticmethod
    def inputs() -> Tensors:
        return {"hidden": torch.randn(4, 6, 24)}
