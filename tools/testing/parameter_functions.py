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
