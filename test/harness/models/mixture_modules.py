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


RANK = 8


class LowRank(nn.Module):
    """A frozen linear layer, and an addition of low rank to its weight."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.base = nn.Linear(inputs, outputs).requires_grad_(False)
        self.first = nn.Linear(inputs, RANK, bias=False)
        self.second = nn.Linear(RANK, outputs, bias=False)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        return self.base(rows) + self.second(self.first(rows)) * 2.0


class AdaptedModules(Masked):
    """Each expert of a list has additions of its own. Router and experts are frozen."""

    def __init__(self, width: int, inner: int, count: int) -> None:
        super().__init__(width, inner, count)
        self.router.requires_grad_(False)
        self.experts = nn.ModuleList(
            nn.Sequential(LowRank(width, inner), nn.GELU(), LowRank(inner, width)) for _ in range(count)
        )


def low_rank(count: int, outputs: int, inputs: int) -> tuple[nn.Parameter, nn.Parameter]:
    return (
        nn.Parameter(torch.randn(count, RANK, inputs) / 5),
        nn.Parameter(torch.randn(count, outputs, RANK) / 5),
    )


class Adapted(Stacked):
    """Additions of low rank to stacked weights, which are frozen."""

    def __init__(self, width: int, inner: int, count: int) -> None:
        super().__init__(width, inner, count)
        for weight in (self.up, self.down):
            weight.requires_grad_(False)
        self.up_first, self.up_second = low_rank(count, inner, width)
        self.down_first, self.down_second = low_rank(count, width, inner)


class AdaptedWeights(Adapted):
    """They are added to the weights before these are copied for each row."""

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        tokens = hidden.flatten(0, 1)
        gates, chosen = self.chosen(tokens)
        experts = chosen.flatten()
        up = self.up + torch.einsum("eor,eri->eoi", self.up_second, self.up_first) * 2.0
        down = self.down + torch.bmm(self.down_second, self.down_first)
        rows = tokens.repeat_interleave(SLOTS, dim=0).unsqueeze(-1)
        inner = torch.bmm(up[experts], rows).relu()
        rows = torch.bmm(down[experts], inner).squeeze(-1) * gates.flatten().unsqueeze(-1)
        return rows.view(-1, SLOTS, hidden.shape[-1]).sum(1).view(hidden.shape)


class AdaptedRows(Adapted):
    """Rows are multiplied by the weights and by the additions. The router is frozen, too."""

    def __init__(self, width: int, inner: int, count: int) -> None:
        super().__init__(width, inner, count)
        self.router.requires_grad_(False)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        tokens = hidden.flatten(0, 1)
        gates, chosen = self.chosen(tokens)
        experts = chosen.flatten()
        order = experts.argsort(stable=True)
        ends = torch.bincount(experts, minlength=len(self.up)).cumsum(0).to(torch.int32)

        def product(rows: torch.Tensor, *weights: torch.Tensor) -> torch.Tensor:
            for weight in weights:
                rows = nn.functional.grouped_mm(rows, weight.to(rows.dtype).mT, offs=ends)
            return rows

        rows = tokens.to(torch.bfloat16)[order // SLOTS]
        inner = nn.functional.silu(product(rows, self.up) + product(rows, self.up_first, self.up_second))
        rows = product(inner, self.down) + 0.5 * product(inner, self.down_first, self.down_second)
        rows = rows * gates.flatten()[order, None]
        return torch.zeros_like(tokens).index_add(0, order // SLOTS, rows).view(hidden.shape)


class Chain(nn.Module):
    """Mixtures one after the other, each after a norm."""

    def __init__(self, **mixtures: nn.Module) -> None:
        super().__init__()
        self.embed = nn.Embedding(40, 32)
        self.norms = nn.ModuleList(nn.LayerNorm(32) for _ in mixtures)
        self.names = list(mixtures)
        for name, mixture in mixtures.items():
            self.add_module(name, mixture)

    def forward(self, ids: torch.Tensor) -> Tensors:
        hidden = self.embed(ids)
        for norm, name in zip(self.norms, self.names, strict=True):
            hidden = hidden + self.get_submodule(name)(norm(hidden))
        return {"hidden": hidden}

    @staticmethod
    def inputs() -> Tensors:
        return {"ids": torch.randint(40, (6, 8))}


class Mixtures(Chain):
    """One of each."""

    def __init__(self) -> None:
        super().__init__(masked=Masked(32, 48, 4), copied=Copied(32, 48, 4), sorted=Sorted(32, 48, 6))


class AdaptedMixtures(Chain):
    """Additions of low rank to frozen experts, in every form."""

    def __init__(self) -> None:
        super().__init__(
            listed=AdaptedModules(32, 48, 4), weights=AdaptedWeights(32, 48, 4), rows=AdaptedRows(32, 48, 6)
        )
