"""A mixture of experts with a bias that balances the choice of experts, and the reference of dropped tokens."""

from __future__ import annotations

import math

import torch
from torch import nn

Tensors = dict[str, torch.Tensor]
SLOTS, EXPERTS, WIDTH, INNER = 2, 4, 32, 48


def kept(chosen: torch.Tensor, capacity: float) -> torch.Tensor:
    """Of choices [samples, positions, slots] those that an expert takes: in each sample the first ones, by position and
    then by slot."""
    samples, positions, slots = chosen.shape
    most = math.ceil(capacity * positions * slots / EXPERTS)
    taken = nn.functional.one_hot(chosen.flatten(1), EXPERTS).cumsum(1)
    order = taken.gather(-1, chosen.flatten(1).unsqueeze(-1)).view(samples, positions, slots)
    return order <= most


class Mixture(nn.Module):
    """Scores between 0 and 1, to which a buffer is added for the choice alone. A copy of its weights for each row."""

    capacity = 0.0  # what the plan says; 0: nothing is dropped

    def __init__(self) -> None:
        super().__init__()
        self.router = nn.Linear(WIDTH, EXPERTS, bias=False)
        self.register_buffer("bias", torch.zeros(EXPERTS))
        self.up = nn.Parameter(torch.randn(EXPERTS, INNER, WIDTH) / 5)
        self.down = nn.Parameter(torch.randn(EXPERTS, WIDTH, INNER) / 7)
        self.chosen = torch.empty(0)  # by the last call

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        tokens = hidden.flatten(0, 1)
        scores = self.router(tokens).sigmoid()
        chosen = (scores + self.bias).topk(SLOTS, dim=-1).indices
        gates = scores.gather(-1, chosen)
        gates = gates / gates.sum(-1, keepdim=True)
        if not torch.compiler.is_exporting():
            self.chosen = chosen.view(*hidden.shape[:2], SLOTS)
            if self.capacity:
                gates = gates * kept(self.chosen, self.capacity).view(gates.shape)
        experts = chosen.flatten()
        rows = tokens.repeat_interleave(SLOTS, dim=0).unsqueeze(-1)
        inner = torch.bmm(self.up[experts], rows).relu()
        rows = torch.bmm(self.down[experts], inner).squeeze(-1) * gates.flatten().unsqueeze(-1)
        return rows.view(-1, SLOTS, hidden.shape[-1]).sum(1).view(hidden.shape)


class BalancedMixtures(nn.Module):
    """Two layers, each after a norm, and the mean of the losses of all tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.head = nn.Embedding(40, WIDTH), nn.Linear(WIDTH, 40)
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(2))
        self.mixtures = nn.ModuleList(Mixture() for _ in range(2))

    def forward(self, ids: torch.Tensor, labels: torch.Tensor) -> Tensors:
        hidden = self.embed(ids)
        for norm, mixture in zip(self.norms, self.mixtures, strict=True):
            hidden = hidden + mixture(norm(hidden))
        return {"loss": nn.functional.cross_entropy(self.head(hidden).flatten(0, 1), labels.flatten())}

    @staticmethod
    def inputs() -> Tensors:
        return {"ids": torch.randint(40, (12, 8)), "labels": torch.randint(40, (12, 8))}
