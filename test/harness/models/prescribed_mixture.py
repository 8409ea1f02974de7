"""A mixture of experts whose choices are an input, so that a test prescribes them."""

from __future__ import annotations

import torch
from torch import nn

Tensors = dict[str, torch.Tensor]
SLOTS, EXPERTS, WIDTH, INNER = 2, 4, 32, 96


class PrescribedMixture(nn.Module):
    """Rows in order of the tokens, each with a copy of the weights of its expert."""

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Parameter(torch.randn(EXPERTS, INNER, WIDTH) / 5)
        self.down = nn.Parameter(torch.randn(EXPERTS, WIDTH, INNER) / 7)

    def forward(self, hidden: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        gates, chosen = scores.flatten(0, 1).topk(SLOTS, dim=-1)
        experts, tokens = chosen.flatten(), hidden.flatten(0, 1)
        rows = tokens.repeat_interleave(SLOTS, dim=0).unsqueeze(-1)
        made = torch.bmm(self.down[experts], torch.bmm(self.up[experts], rows).relu())
        rows = made.squeeze(-1) * gates.flatten().unsqueeze(-1)
        return rows.view(-1, SLOTS, hidden.shape[-1]).sum(1).view(hidden.shape)


class PrescribedMixtures(nn.Module):
    """Two layers, each after a norm. Each expert gets equally many tokens of each sample."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.head = nn.Embedding(40, WIDTH), nn.Linear(WIDTH, 40)
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(2))
        self.mixtures = nn.ModuleList(PrescribedMixture() for _ in range(2))

    def forward(self, ids: torch.Tensor, labels: torch.Tensor, scores: torch.Tensor) -> Tensors:
        hidden = self.embed(ids)
        for norm, mixture in zip(self.norms, self.mixtures, strict=True):
            hidden = hidden + mixture(norm(hidden), scores)
        return {"loss": nn.functional.cross_entropy(self.head(hidden).flatten(0, 1), labels.flatten())}

    @staticmethod
    def inputs() -> Tensors:
        samples, positions = 12, 16
        first = torch.arange(samples * positions).view(samples, positions, 1) % EXPERTS
        # The expert of the position and the next one; the others are far below.
        distance = (torch.arange(EXPERTS) - first) % EXPERTS
        scores = torch.where(distance < SLOTS, 0.5 + 0.25 * distance, -1.0 - distance)
        return {
            "ids": torch.randint(40, (samples, positions)),
            "labels": torch.randint(40, (samples, positions)),
            "scores": scores,
        }
