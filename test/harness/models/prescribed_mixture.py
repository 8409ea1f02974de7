"""A mixture of experts whose choices are an input, so that a test prescribes them."""

from __future__ import annotations

import torch
from torch import nn

from harness.models.two_mixtures import EXPERTS, SLOTS, Tensors, TwoMixtures, expert_weights, through_experts

INNER = 96


class PrescribedMixture(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = expert_weights(INNER)

    def forward(self, hidden: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        gates, chosen = scores.flatten(0, 1).topk(SLOTS, dim=-1)
        return through_experts(hidden, gates, chosen, self.up, self.down)


class PrescribedMixtures(TwoMixtures):
    """Each expert gets equally many tokens of each sample."""

    def __init__(self) -> None:
        super().__init__(PrescribedMixture)

    def forward(self, ids: torch.Tensor, labels: torch.Tensor, scores: torch.Tensor) -> Tensors:
        return self.loss(ids, labels, scores)

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
