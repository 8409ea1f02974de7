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

    slots = SLOTS

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
        rows = tokens.repeat_interleave(self.slots, dim=0).unsqueeze(-1)
        inner = torch.bmm(self.up[experts], rows).relu()
        rows = torch.bmm(self.down[experts], inner).squeeze(-1) * gates.flatten().unsqueeze(-1)
        return rows.view(-1, self.slots, hidden.shape[-1]).sum(1).view(hidden.shape)


class Hidden(Masked):
    """Gates are a softmax over the scores of all experts, of which those of others are hidden; on rows of tokens."""

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        tokens = hidden.flatten(0, 1)
        scores, chosen = self.router(tokens).topk(SLOTS, dim=-1)
        hiding = scores.new_full((len(tokens), len(self.experts)), float("-inf"))
        gates = hiding.scatter(-1, chosen, scores).softmax(-1)
        rows = torch.zeros_like(tokens)
        for number, expert in enumerate(self.experts):
            rows = rows + gates[:, number : number + 1] * expert(tokens)
        return rows.view(hidden.shape)


class HiddenInLoop(Masked):
    """The same gates in a loop over the tokens of each expert, which are taken as rows and added to samples."""

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        scores = self.router(hidden)
        kept, chosen = scores.topk(SLOTS, dim=-1)
        gates = torch.full_like(scores, float("-inf")).scatter(-1, chosen, kept).softmax(-1).flatten(0, 1)
        tokens, result = hidden.flatten(0, 1), torch.zeros_like(hidden)
        for number, expert in enumerate(self.experts):
            mask = (chosen == number).any(-1)
            rows = expert(tokens[mask.view(-1)]) * gates[mask.view(-1), number].unsqueeze(1)
            result = result.index_put((mask,), result[mask] + rows)
        return result


class Renormalised(Stacked):
    """Scores of all experts times a mask, divided by their sum, and products with all experts at once."""

    def __init__(self, width: int, inner: int, count: int) -> None:
        super().__init__(width, inner, count)
        self.shift = nn.Parameter(torch.randn(count, width) / 5)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        scores = self.router(hidden).softmax(-1)
        mask = nn.functional.one_hot(scores.topk(SLOTS, dim=-1)[1], len(self.up)).sum(-2).to(scores.dtype)
        gates = scores * mask
        gates = gates / gates.sum(-1, keepdim=True)
        inner = torch.einsum("btd,efd->btef", hidden, self.up).relu()
        rows = torch.einsum("btef,edf->bted", inner, self.down) + self.shift
        return torch.einsum("bte,bted->btd", gates, rows)


class LoopOverModules(Masked):
    """Each expert of a list computes the tokens that have chosen it, as many as there are."""

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        tokens = hidden.flatten(0, 1)
        gates, chosen = self.router(tokens).softmax(-1).topk(SLOTS, dim=-1)
        masks = nn.functional.one_hot(chosen, len(self.experts)).permute(2, 1, 0)
        result = torch.zeros_like(tokens)
        for number, expert in enumerate(self.experts):
            slot, token = torch.where(masks[number])
            rows = expert(tokens[None, token].reshape(-1, hidden.shape[-1]))
            result.index_add_(0, token, (rows * gates[token, slot, None]).to(hidden.dtype))
        return result.view(hidden.shape)


class LoopOverWeights(Stacked):
    """The same with stacked weights, a bias, and rows that are added where they came from: samples and positions."""

    def __init__(self, width: int, inner: int, count: int) -> None:
        super().__init__(width, inner, count)
        self.bias = nn.Parameter(torch.randn(count, inner) / 5)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        gates, chosen = self.chosen(hidden)
        result = torch.zeros_like(hidden)
        for number in range(len(self.up)):
            sample, position, slot = torch.where(chosen == number)
            inner = (hidden[sample, position] @ self.up[number].T + self.bias[number]).relu()
            rows = gates[sample, position, slot].unsqueeze(-1) * (inner @ self.down[number].T)
            result[sample, position] += rows
        return result


class LoopOverMasks(Stacked):
    """One expert for each token; rows are taken and written by masks."""

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        tokens = hidden.flatten(0, 1)
        gates, chosen = self.router(tokens).softmax(-1).max(-1)
        result = torch.zeros_like(tokens)
        for number in range(len(self.up)):
            mask = chosen == number
            inner = nn.functional.silu(tokens[mask] @ self.up[number].T)
            result[mask] = (inner @ self.down[number].T) * gates[mask].unsqueeze(-1)
        return result.view(hidden.shape)


class OneExpert(Copied):
    """All tokens choose the first two experts, and none the others."""

    def __init__(self, width: int, inner: int, count: int) -> None:
        super().__init__(width, inner, count)
        self.register_buffer("favour", torch.arange(count).lt(SLOTS) * 9.0)

    def chosen(self, hidden: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        scores = self.router(hidden).sigmoid()
        chosen = (scores + self.favour).topk(SLOTS, dim=-1)[1]
        return scores.gather(-1, chosen), chosen


class EmptyLoop(LoopOverModules):
    """The same for a list of experts: some of them compute no rows."""

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        tokens = hidden.flatten(0, 1)
        scores = self.router(tokens).softmax(-1)
        chosen = (scores + torch.arange(len(self.experts)).lt(SLOTS) * 9.0).topk(SLOTS, dim=-1)[1]
        gates = scores.gather(-1, chosen)
        result = torch.zeros_like(tokens)
        for number, expert in enumerate(self.experts):
            token, slot = torch.where(chosen == number)
            result = result.index_add(0, token, expert(tokens[token]) * gates[token, slot, None])
        return result.view(hidden.shape)


class Tied(Copied):
    """Experts in pairs of equal scores, of which an odd number is chosen."""

    slots = 3

    def chosen(self, hidden: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        half = self.router(hidden)[..., : len(self.up) // 2].sigmoid()
        return torch.cat([half, half], -1).topk(self.slots, dim=-1)


class Capacity(nn.Module):
    """Stacked experts, each of which takes so many tokens and drops the others."""

    def __init__(self, width: int, inner: int, count: int, capacity: int) -> None:
        super().__init__()
        self.router = nn.Linear(width, count, bias=False)
        self.up = nn.Parameter(torch.randn(count, width, inner) / 5)
        self.down = nn.Parameter(torch.randn(count, inner, width) / 7)
        self.capacity = capacity

    def computed(self, rows: torch.Tensor) -> torch.Tensor:
        """Rows [experts, places, features]."""
        return torch.bmm(torch.bmm(rows, self.up).relu(), self.down)


class BiasedCapacity(Capacity):
    """Each expert has biases, which places without a token get, too."""

    def __init__(self, width: int, inner: int, count: int, capacity: int) -> None:
        super().__init__(width, inner, count, capacity)
        self.first = nn.Parameter(torch.randn(count, inner) / 5)
        self.last = nn.Parameter(torch.randn(count, 1, width) / 5)

    def computed(self, rows: torch.Tensor) -> torch.Tensor:
        inner = torch.bmm(rows, self.up) + self.first[:, None]
        return torch.baddbmm(self.last, inner.relu(), self.down)


class SwitchCapacity(BiasedCapacity):
    """One expert for each token of the batch, in order of the tokens."""

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        tokens = hidden.flatten(0, 1)
        gates, chosen = self.router(tokens).softmax(-1).max(-1)
        mask = nn.functional.one_hot(chosen, self.up.shape[0])
        places = mask.cumsum(0) * mask - 1
        kept = mask * (places < self.capacity)
        places = (places * kept).sum(-1)
        spread = kept.unsqueeze(-1) * nn.functional.one_hot(places, self.capacity).unsqueeze(1)
        dispatch = spread.to(hidden.dtype)
        combine = gates[:, None, None] * dispatch
        rows = self.computed(torch.einsum("tec,tm->ecm", dispatch, tokens))
        return torch.einsum("tec,ecm->tm", combine, rows).view(hidden.shape)


class GroupedCapacity(BiasedCapacity):
    """Two experts for each token, and places for those of each sample: first choices come first."""

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        count = self.up.shape[0]
        scores = self.router(hidden).softmax(-1)
        gates, chosen = scores.topk(SLOTS, dim=-1)
        gates = gates / gates.sum(-1, keepdim=True)
        dispatch, combine, before = 0, 0, 0
        for slot in range(SLOTS):
            mask = nn.functional.one_hot(chosen[..., slot], count)
            places = mask.cumsum(1) - 1 + before
            before = before + mask.sum(1, keepdim=True)
            mask = mask * (places < self.capacity)
            places = nn.functional.one_hot((places * mask).sum(-1), self.capacity)
            spread = torch.einsum("bse,bsc->bsec", mask.to(hidden.dtype), places.to(hidden.dtype))
            dispatch = dispatch + spread
            combine = combine + gates[..., slot, None, None] * spread
        rows = torch.einsum("bsec,bsm->ebcm", dispatch, hidden)
        inner = torch.einsum("ebcm,emh->ebch", rows, self.up) + self.first[:, None, None]
        rows = torch.einsum("ebch,ehm->ebcm", inner.relu(), self.down) + self.last.unsqueeze(1)
        return torch.einsum("bsec,ebcm->bsm", combine, rows)


class MaskedCapacity(Capacity):
    """The second expert is the best without the first; what is dispatched is what combines (DeepSpeed's gates)."""

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        tokens = hidden.flatten(0, 1)
        count = self.up.shape[0]
        logits = self.router(tokens)
        gates = logits.softmax(-1)
        first = nn.functional.one_hot(gates.argmax(-1), count)
        second = nn.functional.one_hot(logits.masked_fill(first.bool(), float("-inf")).argmax(-1), count)
        places = [first.cumsum(0) - 1, second.cumsum(0) - 1 + first.sum(0, keepdim=True)]
        masks = [mask * (place < self.capacity) for mask, place in zip((first, second), places, strict=True)]
        shares = [torch.einsum("se,se->s", gates, mask.to(gates.dtype)) for mask in masks]
        total = (shares[0] + shares[1]).clamp(min=torch.finfo(gates.dtype).eps)
        combine = 0
        for mask, place, share in zip(masks, places, shares, strict=True):
            hot = nn.functional.one_hot((place * mask).sum(1), self.capacity).to(gates.dtype)
            combine = combine + torch.einsum("se,sc->sec", (share / total).unsqueeze(-1) * mask.to(gates.dtype), hot)
        dispatch = combine.bool().to(hidden.dtype)
        rows = self.computed(torch.einsum("sec,sm->ecm", dispatch, tokens))
        return torch.einsum("sec,ecm->sm", combine, rows).view(hidden.shape)


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


class SparseMixtures(Chain):
    """All experts compute all tokens, times gates that are 0 for most of them."""

    def __init__(self) -> None:
        super().__init__(hidden=Hidden(32, 48, 4), looped=HiddenInLoop(32, 48, 4), renormalised=Renormalised(32, 48, 6))


class EdgeMixtures(Chain):
    """Unusual choices: all tokens choose the same experts, and equal scores."""

    def __init__(self) -> None:
        super().__init__(one=OneExpert(32, 48, 6), empty=EmptyLoop(32, 48, 4), tied=Tied(32, 48, 6))


class FewTokens(EdgeMixtures):
    @staticmethod
    def inputs() -> Tensors:
        return {"ids": torch.randint(40, (2, 1))}


class OneToken(EdgeMixtures):
    @staticmethod
    def inputs() -> Tensors:
        return {"ids": torch.randint(40, (1, 1))}


class LoopMixtures(Chain):
    """Loops over experts, whose numbers of tokens depend on data."""

    def __init__(self) -> None:
        super().__init__(
            listed=LoopOverModules(32, 48, 4), weights=LoopOverWeights(32, 48, 6), masks=LoopOverMasks(32, 48, 4)
        )


class CapacityMixtures(Chain):
    """Experts that take so many tokens and drop others."""

    def __init__(self) -> None:
        super().__init__(
            switch=SwitchCapacity(32, 48, 4, 10),
            grouped=GroupedCapacity(32, 48, 4, 4),
            masked=MaskedCapacity(32, 48, 4, 20),
        )


class AdaptedMixtures(Chain):
    """Additions of low rank to frozen experts, in every form."""

    def __init__(self) -> None:
        super().__init__(
            listed=AdaptedModules(32, 48, 4), weights=AdaptedWeights(32, 48, 4), rows=AdaptedRows(32, 48, 6)
        )
