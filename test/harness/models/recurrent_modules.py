"""Modules with operators of whose gradients LibTorch makes several at once, and with tables that samples read."""

from __future__ import annotations

import torch
from torch import nn

Tensors = dict[str, torch.Tensor]
SAMPLES, LENGTH, WORDS, WIDTH = 12, 16, 20, 32


class Recurrent(nn.Module):
    """Recurrent layers, and parameters of which each sample reads elements of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(WORDS, WIDTH)
        self.gru = nn.GRU(WIDTH, WIDTH, num_layers=2, bidirectional=True, batch_first=True)
        self.lstm = nn.LSTM(2 * WIDTH, WIDTH)
        self.columns = nn.Parameter(torch.randn(LENGTH, WORDS))
        self.pairs = nn.Parameter(torch.randn(WORDS, WORDS))
        self.rows = nn.Parameter(torch.randn(6, WORDS))

    def forward(self, ids: torch.Tensor) -> Tensors:
        hidden, state = self.gru(self.embed(ids))
        hidden, _ = self.lstm(hidden.transpose(0, 1))
        read = self.columns.gather(1, ids.t()) + self.pairs[ids, ids.flip(1)].t()
        return {
            "hidden": (hidden * read.unsqueeze(-1)).transpose(0, 1),
            "state": state.transpose(0, 1),
            "rows": self.rows.index_select(1, ids[:, 0]).t(),
        }

    @staticmethod
    def inputs() -> Tensors:
        return {"ids": torch.randint(WORDS, (SAMPLES, LENGTH))}


class Transposed(nn.Module):
    """Transposed convolutions with and without groups, and pools that return the indices of their maxima."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3, padding=1)
        self.up = nn.ConvTranspose2d(16, 32, 3, stride=2)
        self.grouped = nn.ConvTranspose2d(32, 16, 2, groups=2)
        self.line = nn.ConvTranspose1d(16, 16, 2, stride=2)

    def forward(self, pixels: torch.Tensor) -> Tensors:
        images = self.grouped(self.up(self.stem(pixels)).tanh())
        images, _ = nn.functional.max_pool2d(images, 2, return_indices=True)
        images = nn.functional.adaptive_max_pool2d(images, (3, 2))
        return {"lines": self.line(images.flatten(2))}

    @staticmethod
    def inputs() -> Tensors:
        return {"pixels": torch.randn(SAMPLES, 3, 12, 12)}
