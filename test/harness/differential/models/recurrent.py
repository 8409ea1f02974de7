"""Recurrent layers and cells."""

from __future__ import annotations

import torch
from torch import nn

from harness.differential import case
from harness.differential.models.layers import Context, Layer


class Recurrent(Layer):
    """A recurrent layer over the sequence, or a cell at each of its first positions."""

    def __init__(self, block: case.Block, sizes: case.Sizes) -> None:
        super().__init__(block, sizes)
        pick, features = self.choices.pick, sizes.features
        kind = pick(("lstm", "gru", "tanh", "relu"))
        bias = self.choices.flag()
        self.cells = self.choices.flag()
        nonlinearity = {"nonlinearity": kind} if kind in ("tanh", "relu") else {}
        if self.cells:
            make = {"lstm": nn.LSTMCell, "gru": nn.GRUCell}.get(kind, nn.RNNCell)
            self.layer = make(features, features, bias=bias, **nonlinearity)
        else:
            make = {"lstm": nn.LSTM, "gru": nn.GRU}.get(kind, nn.RNN)
            self.front = self.choices.flag()
            options = {"num_layers": pick((1, 2)), "bidirectional": self.choices.flag(), "bias": bias}
            self.layer = make(features, features, batch_first=self.front, **options, **nonlinearity)
        # Gates of all kinds lie in one weight: it is whole.
        self.layer.role, self.layer.whole = "norm", True

    def step(self, x: torch.Tensor) -> torch.Tensor:
        state = None
        for position in range(min(2, x.size(1))):
            state = self.layer(x[:, position], state)
        return state[0] if isinstance(state, tuple) else state

    def forward(self, x: torch.Tensor, context: Context) -> torch.Tensor:
        if self.cells:
            return x + self.step(x).unsqueeze(1)
        made = self.layer(x)[0] if self.front else self.layer(x.transpose(0, 1))[0].transpose(0, 1)
        return x + (made if made.size(-1) == x.size(-1) else made.unflatten(-1, (2, -1)).sum(-2))
