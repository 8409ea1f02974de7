"""Mixtures of experts as people write them by hand."""

from __future__ import annotations

import torch
from torch import nn

Tensors = dict[str, torch.Tensor]
SLOTS = 2


class Masked(nn.Module):
    """A list of experts, each of which computes all tokens: a mask removes those that have not chosen it."""

    def __init__(self, width: int, inner: int, count: int) -> None:
        super().__init__()
        self.router = nn.Linear(width, count, bias=False)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(width, inner), nn.GELU(), nn.Linear(inner, width)) for _ in range(count)
        )

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        gates, chosen = self.router(hidden).topk(SLOTS, dim=-1)
        masks = nn.functional.one_hot(chosen, len(self.experts)).to(hidden.dtype)
        weights = (masks * gates.softmax(-1).unsqueeze(-1)).sum(-2)
        return sum(expert(hidden) * weights[..., number, None] for number, expert in enumerate(self.experts))


class Stacked(nn.Module):
    """Weights of all experts in two parameters, and a router of scores between 0 and 1."""

    def __init__(self, width: int, inner: int, count: int) -> None:
        super().__init__()
        self.router = nn.Linear(width, count, bias=False)
        self.up = nn.Parameter(torch.randn(count, inner, width) / 5)
        self.down = nn.Parameter(torch.randn(count, width, inner) / 7)

    def chosen(self, hidden: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """For each token, as a row: its gates, and the numbers of its experts."""
        gates, chosen = self.router(hidden).sigmoid().topk(SLOTS, dim=-1)
        return gates / gates.sum(-1, keepdim=True), chosen


class Sorted(Stacked):
    """Rows of 16 bits in order of their experts, added to those of the tokens in the dtype of the gates."""

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        tokens = hidden.flatten(0, 1)
        gates, chosen = self.chosen(tokens)
        experts = chosen.flatten()
        order = experts.argsort(stable=True)
        ends = torch.bincount(experts, minlength=len(self.up)).cumsum(0).to(torch.int32)
        up, down = (weight.to(torch.bfloat16).mT for weight in (self.up, self.down))
        rows = tokens.to(torch.bfloat16)[order // SLOTS]
        inner = nn.functional.gelu(nn.functional.grouped_mm(rows, up, offs=ends))
        rows = nn.functional.grouped_mm(inner, down, offs=ends) * gates.flatten()[order, None]
        return torch.zeros_like(tokens).index_add(0, order // SLOTS, rows).view(hidden.shape)


class Copied(Stacked):
    """A copy of the weights of its expert for each row."""

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        tokens = hidden.flatten(0, 1)
        gates, chosen = self.chosen(tokens)
        experts = chosen.flatten()
        rows = tokens.repeat_interleave(SLOTS, dim=0).unsqueeze(-1)
        inner = torch.bmm(self.up[experts], rows).relu()
        rows = torch.bmm(self.down[experts], inner).squeeze(-1) * gates.flatten().unsqueeze(-1)
        return rows.view(-1, SLOTS, hidden.shape[-1]).sum(1).view(hidden.shape)


class Mixtures(nn.Module):
    """One of each, after a norm."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(40, 32)
        self.norms = nn.ModuleList(nn.LayerNorm(32) for _ in range(3))
        self.masked, self.copied, self.sorted = Masked(32, 48, 4), Copied(32, 48, 4), Sorted(32, 48, 6)

    def forward(self, ids: torch.Tensor) -> Tensors:
        hidden = self.embed(ids)
        for norm, mixture in zip(self.norms, (self.masked, self.copied, self.sorted), strict=True):
            hidden = hidden + mixture(norm(hidden))
        return {"hidden": hidden}

    @staticmethod
    def inputs() -> Tensors:
        return {"ids": torch.randint(40, (6, 8))}
