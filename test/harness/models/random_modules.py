"""Modules that draw random numbers, in training mode."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import nn

Tensors = dict[str, torch.Tensor]
functional = nn.functional


class Dropouts(nn.Module):
    """Every kind of dropout, on what a plan divides by features, by samples and not at all, and plain numbers."""

    training_mode: ClassVar[bool] = True
    decomposed: ClassVar[bool] = False

    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(24, 36), nn.Linear(36, 24)
        self.drop, self.drop_most = nn.Dropout(0.1), nn.Dropout(0.9)
        self.query, self.key, self.value = nn.Linear(24, 24), nn.Linear(24, 12), nn.Linear(24, 12)
        self.out = nn.Linear(24, 24)
        self.attention = nn.MultiheadAttention(24, 4, dropout=0.3, batch_first=True)
        self.channels, self.alpha = nn.Dropout1d(0.4), nn.AlphaDropout(0.2)
        self.feature_alpha = nn.FeatureAlphaDropout(0.2)
        self.norm = nn.LayerNorm(24)

    def forward(self, hidden: torch.Tensor) -> Tensors:
        hidden = hidden + self.drop(self.down(self.drop(self.up(hidden).relu())))
        hidden = self.norm(hidden + self.attend(hidden))
        mixed, shares = self.attention(hidden, hidden, hidden)
        wide = self.up(hidden + mixed)
        turned = self.channels(wide.transpose(1, 2)).transpose(1, 2)
        return {
            "hidden": self.down(turned + self.alpha(wide) + self.feature_alpha(wide)),
            "shares": shares,
            "kept": self.drop_most(hidden) + functional.dropout(hidden, 1.0),
            "numbers": self.numbers(wide),
        }

    def attend(self, hidden: torch.Tensor) -> torch.Tensor:
        batch, sequence, _ = hidden.shape
        query, key, value = (
            part(hidden).view(batch, sequence, -1, 6).transpose(1, 2) for part in (self.query, self.key, self.value)
        )
        mixed = functional.scaled_dot_product_attention(
            query, key, value, dropout_p=0.25, is_causal=True, enable_gqa=True
        )
        return self.out(mixed.transpose(1, 2).reshape(batch, sequence, 24))

    def numbers(self, wide: torch.Tensor) -> torch.Tensor:
        noise = torch.rand_like(wide) + torch.rand(wide.shape[1:])
        return wide * noise + torch.bernoulli(wide.sigmoid())

    @staticmethod
    def inputs() -> Tensors:
        return {"hidden": torch.randn(4, 10, 24)}


class Noise(nn.Module):
    """A tensor with numbers of every distribution, whose parameters are numbers and tensors."""

    def forward(self, wide: torch.Tensor) -> torch.Tensor:
        def empty() -> torch.Tensor:
            return torch.empty_like(wide)

        even = empty().uniform_(-2.0, 3.0) + empty().exponential_(2.0)
        tailed = empty().log_normal_(0.1, 0.2) + empty().cauchy_(0.1, 0.2).tanh() + empty().geometric_(0.3)
        counted = torch.randint(5, wide.shape[1:]) + torch.randint_like(wide, 2, 9)
        return wide * even + tailed + counted + torch.normal(1.0, wide.abs()) + torch.normal(wide, wide.abs())


class Distributions(nn.Module):
    """Numbers of every distribution, on what is divided by features and by samples: a variational bottleneck, a choice
    by Gumbel's noise, a router with noise."""

    training_mode: ClassVar[bool] = True

    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(24, 36), nn.Linear(36, 24)
        self.mean, self.spread = nn.Linear(24, 12), nn.Linear(24, 12)
        self.router, self.noise = nn.Linear(24, 6), Noise()
        # Numbers are drawn around them alone: their gradients are zeros.
        self.chance, self.chances = nn.Parameter(torch.rand(24)), nn.Parameter(torch.rand(24))
        self.center, self.width = nn.Parameter(torch.randn(24)), nn.Parameter(torch.rand(24) + 0.5)

    def around(self) -> torch.Tensor:
        chosen = torch.bernoulli(self.chance) + torch.empty_like(self.chances).bernoulli_(self.chances)
        return chosen + torch.normal(self.center, 0.5) + torch.normal(0.0, self.width)

    def forward(self, hidden: torch.Tensor) -> Tensors:
        wide = self.up(hidden * self.around())
        wide = wide + torch.randn_like(wide) * 0.1 + torch.normal(wide, 0.5) * 0.1
        mean, spread = self.mean(hidden), self.spread(hidden).exp()
        latent = torch.distributions.Normal(mean, spread, validate_args=False).rsample()
        logits = self.router(hidden)
        choice = functional.gumbel_softmax(logits, 0.7, hard=True)
        noisy = logits + torch.normal(0.0, 0.3, (6,)) + torch.randn(logits.shape[1:]) * functional.softplus(logits)
        return {
            "hidden": self.down(wide),
            "latent": latent,
            "choice": choice * logits + noisy.softmax(-1),
            "numbers": self.noise(wide),
        }

    @staticmethod
    def inputs() -> Tensors:
        return {"hidden": torch.randn(4, 10, 24)}


class DecomposedDropouts(Dropouts):
    """The same after run_decompositions({}), which makes other operators of most."""

    decomposed = True


class StochasticDepth(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * x.new_empty(x.shape[0], 1, 1).bernoulli_(0.7).div_(0.7) if self.training else x


class WrittenDropouts(nn.Module):
    """Modules of dropouts that decompositions write out, also of the probabilities of attention."""

    training_mode: ClassVar[bool] = True

    def __init__(self) -> None:
        super().__init__()
        self.up, self.down, self.query = nn.Linear(24, 36), nn.Linear(36, 24), nn.Linear(24, 24)
        self.inplace, self.channels = nn.Dropout(0.3, inplace=True), nn.Dropout1d(0.4)
        self.planes, self.volumes = nn.Dropout2d(0.2, inplace=True), nn.Dropout3d(0.5)
        self.alpha, self.feature_alpha = nn.AlphaDropout(0.2, inplace=True), nn.FeatureAlphaDropout(0.2)
        self.depth = StochasticDepth()

    def forward(self, hidden: torch.Tensor) -> Tensors:
        wide = self.inplace(self.up(hidden).relu())
        wide = wide + self.channels(wide.transpose(1, 2)).transpose(1, 2)
        wide = wide + self.planes(wide[..., None] * torch.arange(1.0, 3.0)).sum(-1)
        wide = wide + self.volumes(wide[..., None, None].sin()).sum((-1, -2))
        hidden = hidden + self.depth(self.down(self.alpha(wide) + self.feature_alpha(wide)))
        query = self.query(hidden).unflatten(-1, (4, 6)).transpose(1, 2)
        shares = self.inplace((query @ query.transpose(-1, -2)).softmax(-1))
        return {"hidden": hidden, "mixed": (shares @ query).transpose(1, 2).flatten(2)}

    @staticmethod
    def inputs() -> Tensors:
        return {"hidden": torch.randn(4, 10, 24)}


class EvaluatedDropouts(WrittenDropouts):
    """The same after model.eval()."""

    training_mode = False
