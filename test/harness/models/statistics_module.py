"""A module in training mode whose buffers follow what it sees: batch norms, an average, a counter."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import nn

Tensors = dict[str, torch.Tensor]


class Statistics(nn.Module):
    """Images and rows through batch norms, some called again and one without running statistics, and a running mean and
    a counter that are read too."""

    training_mode: ClassVar[bool] = True

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.wide = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 8, 1, bias=False)
        self.stem_norm, self.norm = nn.BatchNorm2d(8), nn.BatchNorm2d(8, momentum=0.3, eps=1e-3, affine=False)
        self.up, self.rows, self.down = nn.Linear(8, 12), nn.BatchNorm1d(12), nn.Linear(12, 6)
        self.untracked = nn.BatchNorm1d(8, track_running_stats=False)
        self.register_buffer("average", torch.zeros(6))
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def forward(self, pixels: torch.Tensor) -> Tensors:
        x = self.stem_norm(self.stem(pixels)).relu()
        x = self.norm(self.norm(self.wide(x)).sin() + self.stem_norm(x)).relu().mean((2, 3))
        wide = self.up(x + self.untracked(x))
        logits = self.down(self.rows(wide).tanh() + self.rows(wide.sin()))
        centered = logits - self.average + self.calls * 0.01
        if self.training:
            self.average.mul_(0.9).add_(logits.detach().mean(0), alpha=0.1)
            self.calls += 1
        return {"logits": centered}

    @staticmethod
    def inputs() -> Tensors:
        return {"pixels": torch.randn(6, 3, 8, 8)}


class EvaluatedStatistics(Statistics):
    """The same after model.eval()."""

    training_mode: ClassVar[bool] = False
