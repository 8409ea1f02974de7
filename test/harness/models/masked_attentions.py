"""A module of attentions that put the lowest number in place of the scores that they hide."""

from __future__ import annotations

import math

import torch
from torch import nn

Tensors = dict[str, torch.Tensor]
LOWEST = torch.finfo(torch.float32).min
HEADS = 4


class Attention(nn.Module):
    """Attention written out; `form` says how its scores are made and hidden."""

    def __init__(self, form: str, width: int, sequence: int) -> None:
        super().__init__()
        self.form = form
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        if form == "biased":
            self.bias = nn.Parameter(torch.randn(HEADS, sequence, sequence))
            self.places = nn.Parameter(torch.randn(HEADS, width // HEADS, sequence))

    def hide(self, scores: torch.Tensor, query: torch.Tensor, seen: torch.Tensor) -> torch.Tensor:
        both = seen[:, None, :, None] * seen[:, None, None, :]
        if self.form == "biased":  # DeBERTa
            return (scores + self.bias + torch.matmul(query, self.places)).masked_fill(both == 0, LOWEST)
        if self.form == "kept":
            return torch.where(both > 0, scores, LOWEST)
        if self.form == "hidden_keys":
            return scores.masked_fill(seen[:, None, None, :] == 0, LOWEST)
        later = torch.ones(seen.shape[1], seen.shape[1], dtype=torch.bool).triu(1)
        scores = scores.masked_fill(later, LOWEST)
        # A query before the first key that is seen has shares of those that it hides itself.
        return scores if self.form == "causal" else scores + (1 - seen[:, None, None, :]).to(scores.dtype) * LOWEST

    def forward(self, hidden: torch.Tensor, seen: torch.Tensor) -> torch.Tensor:
        batch, sequence, width = hidden.shape
        query, key, value = (
            part(hidden).view(batch, sequence, HEADS, -1).transpose(1, 2) for part in (self.query, self.key, self.value)
        )
        key = key.transpose(2, 3)
        if self.form == "kept":
            merged = torch.bmm(query.flatten(0, 1), key.flatten(0, 1))
            scores = merged.view(batch, HEADS, sequence, sequence)
        else:
            scores = query @ key
        shares = self.hide(scores / math.sqrt(width // HEADS), query, seen).softmax(-1)
        if self.form == "kept":
            mixed = torch.bmm(shares.flatten(0, 1), value.flatten(0, 1)).view(batch, HEADS, sequence, -1)
        else:
            mixed = shares @ value
        return self.out(mixed.transpose(1, 2).reshape(batch, sequence, width))


class MaskedAttentions(nn.Module):
    """Rows and samples of padding, whose outputs are read like the others."""

    def __init__(self) -> None:
        super().__init__()
        forms = ("biased", "kept", "hidden_keys", "causal", "padded")
        self.attention = nn.ModuleDict({form: Attention(form, 24, 6) for form in forms})

    def forward(self, hidden: torch.Tensor, seen: torch.Tensor) -> Tensors:
        for attention in self.attention.values():
            hidden = hidden + attention(hidden, seen)
        return {"hidden": hidden}

    @staticmethod
    def inputs() -> Tensors:
        seen = torch.ones(4, 6, dtype=torch.long)
        seen[0, 4:] = 0
        seen[1, :2] = 0
        seen[2] = 0
        return {"hidden": torch.randn(4, 6, 24), "seen": seen}
