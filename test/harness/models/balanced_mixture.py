"""A mixture of experts with a bias that balances the choice of experts, and the reference of dropped tokens."""

from __future__ import annotations

import math

import torch
from torch import nn

from harness.models.two_mixtures import EXPERTS, SLOTS, WIDTH, Tensors, TwoMixtures, expert_weights, through_experts

INNER = 48


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
        self.up, self.down = expert_weights(INNER)
        self.chosen = torch.empty(0)  # by the last call

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        scores = self.router(hidden.flatten(0, 1)).sigmoid()
        chosen = (scores + self.bias).topk(SLOTS, dim=-1).indices
        gates = scores.gather(-1, chosen)
        gates = gates / gates.sum(-1, keepdim=True)
        if not torch.compiler.is_exporting():
            self.chosen = chosen.view(*hidden.shape[:2], SLOTS)
            if self.capacity:
                gates = gates * kept(self.chosen, self.capacity).view(gates.shape)
        return through_experts(hidden, gates, chosen, self.up, self.down)


class BalancedMixtures(TwoMixtures):
    def __init__(self) -> None:
        super().__init__(Mixture)

    def forward(self, ids: torch.Tensor, labels: torch.Tensor) -> Tensors:
        return self.loss(ids, labels)

    @staticmethod
    def inputs() -> Tensors:
        return {"ids": torch.randint(40, (12, 8)), "labels": torch.randint(40, (12, 8))}
