"""A module of which `torch.no_grad()` leaves out a part, as a frozen feature extractor does."""

from __future__ import annotations

import torch
from torch import nn

Tensors = dict[str, torch.Tensor]


class Stopped(nn.Module):
    """Reads what it computed without gradients beside what has them, within the same modules."""

    # Decompositions forget regions without gradients.
    decomposed = False

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(40, 24)
        self.up, self.down = nn.Linear(24, 48), nn.Linear(48, 24)
        self.gate = nn.Linear(24, 24)

    def forward(self, ids: torch.Tensor) -> Tensors:
        hidden = self.embed(ids)
        with torch.no_grad():
            # The same tensor, with its gradient: what reads it below reads this result.
            same = hidden.float()
            features = self.down(self.up(same).relu())
            scale = features.std(-1, keepdim=True)
        hidden = hidden + features * self.gate(hidden) / scale
        return {"hidden": self.down(self.up(hidden).relu()), "features": features}

    @staticmethod
    def inputs() -> Tensors:
        return {"ids": torch.randint(40, (4, 10))}
