"""Mixtures of experts: each token goes through those that a router chooses for it."""

from __future__ import annotations

import torch
from torch import nn

from harness.differential import case
from harness.differential.models.layers import Context, Layer, linear

INNER = (16, 24)
APART = 4.0  # how far the scores of a token lie apart where rounding must not choose


class Weights(nn.Module):
    """Those of all experts, [experts, outputs, inputs]; with `halves` the first one makes a gate for each inner
    feature, too."""

    role = "experts"

    def __init__(self, count: int, features: int, inner: int, halves: bool, bias: bool) -> None:
        super().__init__()
        self.halves, wide = halves, inner * (2 if halves else 1)
        self.up = nn.Parameter(torch.randn(count, wide, features) / features**0.5)
        self.down = nn.Parameter(torch.randn(count, features, inner) / inner**0.5)
        self.shift = nn.Parameter(torch.randn(count, features) / 4) if bias else None

    def layouts(self) -> dict[str, dict[str, str]]:
        """How a plan may divide them: along which dim each, with parts where it has several. `outside`: the features of
        tokens, which the first weight contracts and the last one makes.
        """
        whole = {} if self.shift is None else {"shift": ""}
        features = {"up": "1 parts 2" if self.halves else "1", "down": "2"} | whole
        return {
            "experts": {"up": "0", "down": "0"} | dict.fromkeys(whole, "0"),
            "features": features,
            "first": features | {"down": ""},
            "last": features | {"up": ""},
            "outside": {"up": "2", "down": "1"} | whole,
        }


class Mixture(Layer):
    """In the forms in which models are written: rows in order of their experts under a grouped product or with copies
    of their weights, rows in order of the tokens, all tokens through all experts with gates that are mostly 0, one-hot
    products with a capacity, and loops over the tokens of each expert.
    """

    def __init__(self, block: case.Block, sizes: case.Sizes) -> None:
        super().__init__(block, sizes)
        choices, features, inner = self.choices, sizes.features, self.choices.pick(INNER)
        self.count = choices.pick((2, 3, 4, 6, 8))
        self.slots = min(choices.pick((1, 2, 2, 3)), self.count)
        self.router = linear(features, self.count, choices, "table", self.count)
        self.scores = choices.pick(("softmax", "sigmoid", "chosen"))  # the last: a softmax of those that are chosen
        self.sums_to_one, self.apart = choices.flag(), choices.flag()
        self.form = choices.pick(
            ("sorted", "sorted", "added", "copied", "masks", "einsum", "capacity", "loop", "positions")
        )
        bias = choices.flag() and self.form != "masks"
        self.weights = Weights(self.count, features, inner, choices.flag(), bias)
        self.activation = choices.pick((nn.functional.silu, nn.functional.gelu, torch.tanh))
        self.flat = choices.flag()  # rows before the router, as most models have them
        self.router.takes_rows = self.flat
        self.sparse = choices.pick(("one_hot", "scatter", "hidden", "masked", "summed", "compared"))
        self.together = choices.pick(("each", "first", "last", "product"))  # how results of modules are weighed
        self.taking = choices.pick(("where", "columns", "list", "positive", "slots"))  # how loops take tokens
        self.copying = choices.pick(("repeated", "numbered", "slotted"))  # how rows get copies of weights
        self.counting = choices.pick(("sorted", "chosen", "one_hot", "scattered", "binned"))  # rows of each expert
        self.wide = choices.flag()  # rows are taken and added by a number for each element, as by gather
        self.back = choices.pick(("inverse", "put", "einsum", "product"))  # from the order of experts
        self.onto = choices.flag()  # rows are added to other results of the tokens, not to zeros
        self.spelled = choices.flag()  # gates of one expert by the slots, or of all by a product with one-hot vectors

    def gates(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Of each token and slot, and the numbers of the experts."""
        scores = self.router(x)
        if self.apart or x.dtype == torch.bfloat16:
            # What rounding changes is far less than what lies between two scores.
            tokens = torch.arange(x[..., 0].numel()).view(x.shape[:-1])
            ranks = (tokens.unsqueeze(-1) * 5 + torch.arange(self.count) * 3) * 7 % 11
            scores = torch.tanh(scores) + (ranks + torch.arange(self.count) / self.count * 0.5).to(scores.dtype) * APART
        scores = scores.float()
        if self.scores == "chosen":
            gates, chosen = scores.topk(self.slots, dim=-1)
            gates = gates.softmax(-1)
        elif self.scores == "softmax":
            gates, chosen = (scores / APART).softmax(-1).topk(self.slots, dim=-1)
        else:
            gates, chosen = (scores / 8 - 2).sigmoid().topk(self.slots, dim=-1)
        if self.sums_to_one:
            gates = gates / gates.sum(-1, keepdim=True)
        return gates.to(x.dtype), chosen

    def inner(self, wide: torch.Tensor) -> torch.Tensor:
        if not self.weights.halves:
            return self.activation(wide)
        gate, up = wide.chunk(2, -1)
        return self.activation(gate) * up

    def of_rows(self, rows: torch.Tensor, experts: torch.Tensor) -> torch.Tensor:
        """Each row through its expert, whose weights are copied."""
        wide = torch.bmm(self.weights.up[experts], rows.unsqueeze(-1)).squeeze(-1)
        made = torch.bmm(self.weights.down[experts], self.inner(wide).unsqueeze(-1)).squeeze(-1)
        return made if self.weights.shift is None else made + self.weights.shift[experts]

    def of_slots(self, x: torch.Tensor, gates: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
        """Each token through its experts, with a copy of their weights for each slot."""
        weights = self.weights
        inner = self.inner(torch.einsum("ti,tkoi->tko", x, weights.up[chosen]))
        made = torch.einsum("tkoi,tki->tko", weights.down[chosen], inner)
        made = made if weights.shift is None else made + weights.shift[chosen]
        if self.together in ("each", "first"):
            return (made * gates.unsqueeze(-1)).sum(1)
        return torch.einsum("tko,tk->to", made, gates)

    def counts(self, experts: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
        """How many rows each expert has."""
        if self.counting == "one_hot":
            return nn.functional.one_hot(chosen, self.count).sum(tuple(range(chosen.dim())))
        if self.counting == "scattered":
            zeros = chosen.new_zeros(*chosen.shape[:-1], self.count)
            return zeros.scatter(-1, chosen, 1).flatten(0, -2).sum(0)
        if self.counting == "binned":
            return torch.histc(chosen.view(-1).float(), bins=self.count, min=0, max=self.count)
        return torch.bincount(experts if self.counting == "sorted" else chosen.view(-1), minlength=self.count)

    def of_groups(self, rows: torch.Tensor, experts: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
        """The same for rows in order of their experts, by a product that PyTorch exports for bf16 alone."""
        weights = self.weights
        if rows.dtype != torch.bfloat16 or rows.size(-1) % 8:
            return self.of_rows(rows, experts)
        ends = self.counts(experts, chosen).cumsum(0).to(torch.int32)
        wide = nn.functional.grouped_mm(rows, weights.up.mT, offs=ends)
        made = nn.functional.grouped_mm(self.inner(wide), weights.down.mT, offs=ends)
        return made if weights.shift is None else made + weights.shift[experts]

    def forward(self, x: torch.Tensor, context: Context) -> torch.Tensor:
        tokens = x.reshape(-1, x.size(-1))
        gates, chosen = self.gates(tokens if self.flat else x)
        own = gates.view(*x.shape[:2], -1), chosen.view(*x.shape[:2], -1)
        if self.form == "masks" and self.spelled and self.sparse == "scatter":
            return x + self.by_slots(x, *own)
        if self.form in ("masks", "einsum"):
            weights = self.of_all(x, *own)
            return x + (self.masked(x, weights) if self.form == "masks" else self.stacked(x, weights))
        if self.form in ("capacity", "positions"):
            return x + (self.taken if self.form == "capacity" else self.at_positions)(x, *own)
        if self.form == "loop":
            return x + self.at_tokens(tokens, gates.flatten(0, -2), chosen.flatten(0, -2)).view(x.shape)
        if self.form == "copied" and self.copying == "slotted":
            return x + self.of_slots(tokens, gates.flatten(0, -2), chosen.flatten(0, -2)).view(x.shape)
        gates, experts = gates.reshape(-1, 1), chosen.reshape(-1)
        if self.form == "copied":
            numbers = torch.arange(experts.numel()) // self.slots
            copies = tokens.repeat_interleave(self.slots, dim=0) if self.copying == "repeated" else tokens[numbers]
            rows = self.of_rows(copies, experts) * gates
            return x + rows.view(-1, self.slots, x.size(-1)).sum(1).view(x.shape)
        order = experts.argsort(stable=True)
        numbers = order // self.slots
        wide = numbers.unsqueeze(-1).expand(-1, x.size(-1))
        copies = tokens.gather(0, wide) if self.wide else tokens[numbers]
        rows = self.of_groups(copies, experts[order], chosen)
        if self.form == "added":
            rows, base = rows * gates[order], torch.tanh(tokens) if self.onto else torch.zeros_like(tokens)
            added = base.scatter_add(0, wide, rows) if self.wide else base.index_add(0, numbers, rows)
            return x + added.view(x.shape)
        return x + self.of_order(rows, order, gates).view(x.shape)

    def of_order(self, rows: torch.Tensor, order: torch.Tensor, gates: torch.Tensor) -> torch.Tensor:
        """The sum of the rows of each token, which are in the order of experts."""
        by_slots = self.back in ("einsum", "product")
        rows = rows if by_slots else rows * gates[order]
        if self.back == "put" or self.wide:
            rows = torch.empty_like(rows).index_put((order,), rows)
        else:
            positions = torch.empty_like(order).index_put((order,), torch.arange(order.numel()))
            rows = rows[positions]
        rows = rows.view(-1, self.slots, rows.size(-1))
        if not by_slots:
            return rows.sum(1)
        gates = gates.view(-1, self.slots)
        if self.back == "einsum":
            return torch.einsum("tki,tk->ti", rows, gates)
        return torch.bmm(gates.unsqueeze(1), rows).squeeze(1)

    def of_all(self, x: torch.Tensor, gates: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
        """The gates of all experts, 0 for those that are not chosen."""
        zeros = gates.new_zeros(*x.shape[:2], self.count)
        if self.sparse == "one_hot" and self.spelled:
            return torch.einsum("btke,btk->bte", nn.functional.one_hot(chosen, self.count).to(x.dtype), gates)
        if self.sparse == "one_hot":
            return (nn.functional.one_hot(chosen, self.count).to(x.dtype) * gates.unsqueeze(-1)).sum(-2)
        if self.sparse == "scatter":
            return zeros.scatter(-1, chosen, gates)
        if self.sparse == "hidden":
            return gates.new_full(zeros.shape, float("-inf")).scatter(-1, chosen, gates).softmax(-1)
        scores = self.router(x.reshape(-1, x.size(-1)) if self.flat else x).view(zeros.shape) / APART
        if self.sparse == "summed":
            return (zeros.new_full(zeros.shape, float("-inf")).scatter(-1, chosen, 0.0) + scores).softmax(-1)
        mask = zeros.scatter(-1, chosen, 1.0)
        if self.sparse == "compared":
            mask = (chosen.unsqueeze(-1) == torch.arange(self.count)).any(-2)
        kept = scores.sigmoid() * mask
        return kept / kept.sum(-1, keepdim=True)

    def by_slots(self, x: torch.Tensor, gates: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
        """Each expert by itself, weighed for each slot."""
        result = torch.zeros_like(x)
        for number in range(self.count):
            for slot in range(self.slots):
                mask = (chosen[..., slot] == number).to(x.dtype).unsqueeze(-1)
                result = result + mask * gates[..., slot : slot + 1] * self.of_expert(number, x)
        return result

    def masked(self, x: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        """Each expert by itself."""
        up, down = self.weights.up, self.weights.down
        made = [
            nn.functional.linear(self.inner(nn.functional.linear(x, up[number])), down[number])
            for number in range(self.count)
        ]
        if self.together == "first":
            return (torch.stack(made) * weights.movedim(-1, 0).unsqueeze(-1)).sum(0)
        if self.together == "last":
            return (torch.stack(made, -2) * weights.unsqueeze(-1)).sum(-2)
        if self.together == "product":
            return torch.matmul(weights.unsqueeze(-2), torch.stack(made, -2)).squeeze(-2)
        return sum(each * weights[..., number, None] for number, each in enumerate(made))

    def stacked(self, x: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        """All experts in one product."""
        inner = self.inner(torch.einsum("btd,efd->btef", x, self.weights.up))
        made = torch.einsum("btef,edf->bted", inner, self.weights.down)
        made = made if self.weights.shift is None else made + self.weights.shift
        return torch.einsum("bte,bted->btd", weights, made)

    def of_expert(self, number: int, rows: torch.Tensor) -> torch.Tensor:
        inner = self.inner(nn.functional.linear(rows, self.weights.up[number]))
        shift = None if self.weights.shift is None else self.weights.shift[number]
        return nn.functional.linear(inner, self.weights.down[number], shift)

    def at_tokens(self, x: torch.Tensor, gates: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
        """Each expert computes the tokens that have chosen it."""
        result = torch.zeros_like(x)
        if self.taking == "slots":
            for slot in range(self.slots):
                for number in range(self.count):
                    token = torch.where(chosen[:, slot] == number)[0]
                    result = result.index_add(0, token, self.of_expert(number, x[token]) * gates[token, slot, None])
            return result
        spread = torch.zeros(len(x), self.count, dtype=gates.dtype).scatter(-1, chosen, gates)
        for number in range(self.count):
            mask = chosen == number
            if self.taking == "positive":
                token = torch.where(spread[:, number] > 0)[0]
                gate = spread[:, number][token]
            elif self.taking == "list":
                token = mask.any(-1).nonzero().squeeze(-1)
                gate = (gates * mask).sum(-1)[token]
            else:
                token, slot = mask.nonzero().unbind(1) if self.taking == "columns" else torch.where(mask)
                gate = gates[token, slot]
            rows = self.of_expert(number, x[token]) * gate.unsqueeze(-1)
            if self.wide:
                result = result.scatter_add(0, token.unsqueeze(-1).expand(-1, x.size(-1)), rows)
            else:
                result = result.index_add(0, token, rows)
        return result

    def at_positions(self, x: torch.Tensor, gates: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
        """The same by samples and positions."""
        result = torch.zeros_like(x)
        for number in range(self.count):
            mask = chosen == number
            if self.taking == "slots":
                for slot in range(self.slots):
                    at = torch.where(mask[..., slot])
                    rows = self.of_expert(number, x[at]) * gates[..., slot][at].unsqueeze(-1)
                    result = result.index_put(at, rows, accumulate=True)
                continue
            columns = mask.nonzero().unbind(1) if self.taking == "columns" else torch.where(mask)
            sample, position, slot = columns
            rows = self.of_expert(number, x[sample, position]) * gates[sample, position, slot].unsqueeze(-1)
            result = result.index_put((sample, position), rows, accumulate=True)
        return result

    def taken(self, x: torch.Tensor, gates: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
        """Each expert takes the first tokens of a sample, at most half of all pairs."""
        weights, capacity = self.weights, max(x.size(1) * self.slots // 2, 1)
        dispatch, combine, before = 0, 0, 0
        for slot in range(self.slots):
            mask = nn.functional.one_hot(chosen[..., slot], self.count)
            position = mask.cumsum(1) - 1 + before
            before = before + mask.sum(1, keepdim=True)
            mask = mask * (position < capacity)
            hot = nn.functional.one_hot((position * mask).sum(-1), capacity)
            spread = torch.einsum("bse,bsc->bsec", mask.to(x.dtype), hot.to(x.dtype))
            dispatch, combine = dispatch + spread, combine + gates[..., slot, None, None] * spread
        rows = torch.einsum("bsec,bsm->ebcm", dispatch, x)
        made = torch.einsum(
            "ebch,emh->ebcm", self.inner(torch.einsum("ebcm,ehm->ebch", rows, weights.up)), weights.down
        )
        if weights.shift is not None:
            made = made + weights.shift[:, None, None]
        return torch.einsum("bsec,ebcm->bsm", combine, made)
