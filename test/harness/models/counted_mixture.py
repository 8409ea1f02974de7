"""Mixtures of experts with an auxiliary loss of the numbers of tokens of their experts."""

from __future__ import annotations

import torch
from torch import nn

from harness.models.two_mixtures import EXPERTS, SLOTS, WIDTH, Tensors, TwoMixtures, expert_weights, through_experts

INNER = 48


class CountedMixture(nn.Module):
    """Gives the hidden values and the auxiliary loss of the batch."""

    def __init__(self) -> None:
        super().__init__()
        self.router = nn.Linear(WIDTH, EXPERTS, bias=False)
        self.up, self.down = expert_weights(INNER)

    def forward(self, hidden: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        scores = self.router(hidden.flatten(0, 1)).softmax(-1)
        gates, chosen = scores.topk(SLOTS, dim=-1)
        tokens = torch.bincount(chosen.flatten(), minlength=EXPERTS).to(scores.dtype)
        first = torch.histc(chosen[:, 0].to(scores.dtype), EXPERTS, 0, EXPERTS - 1)
        shares = tokens / tokens.sum() + first / len(first)
        auxiliary = EXPERTS * (shares * scores.mean(0)).sum()
        return through_experts(hidden, gates, chosen, self.up, self.down), auxiliary


class CountedMixtures(TwoMixtures):
    def __init__(self) -> None:
        super().__init__(CountedMixture)

    def forward(self, ids: torch.Tensor, labels: torch.Tensor) -> Tensors:
        hidden, auxiliary = self.embed(ids), 0
        for norm, mixture in zip(self.norms, self.mixtures, strict=True):
            made, added = mixture(norm(hidden))
            hidden, auxiliary = hidden + made, auxiliary + added
        loss = nn.functional.cross_entropy(self.head(hidden).flatten(0, 1), labels.flatten())
        return {"loss": loss + 0.1 * auxiliary}

    @staticmethod
    def inputs() -> Tensors:
        return {"ids": torch.randint(40, (12, 8)), "labels": torch.randint(40, (12, 8))}
