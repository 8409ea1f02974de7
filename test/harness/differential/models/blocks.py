"""Blocks of language models but for attention: feed-forward, norms, tables, experts, walks."""

from __future__ import annotations

import torch
from torch import nn

from harness.differential import case
from harness.differential.models.layers import GROUPED, WINDOWED, Context, Layer, linear


class Opaque(nn.Module):
    """Turns features by what an operator without a record makes of a parameter, and adds levels that are rounded, whose
    gradient is zero everywhere. They lie where a step does not carry them over the edge of two integers.
    """

    whole = True

    def __init__(self, features: int) -> None:
        super().__init__()
        self.turn = nn.Parameter(torch.randn(features, features) / features)
        self.levels = nn.Parameter(torch.arange(features) % 5 + 0.2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        turn = torch.linalg.matrix_exp((self.turn - self.turn.t()).to(torch.float32)).to(x.dtype)
        return torch.matmul(x, turn) + self.levels.round() / 4


class FeedForward(Layer):
    """Up, operators on the wide state, down. Now and then the state is turned before."""

    def __init__(self, block: case.Block, sizes: case.Sizes) -> None:
        super().__init__(block, sizes)
        self.up = linear(sizes.features, sizes.inner, self.choices, "wide")
        self.down = linear(sizes.inner, sizes.features, self.choices, "narrow")
        self.added = self.choices.flag()
        self.turn = Opaque(sizes.features) if self.choices.pick((False, False, False, True)) else None

    def forward(self, x: torch.Tensor, context: Context) -> torch.Tensor:
        if self.turn:
            x = self.turn(x)
        wide = self.up(x)
        narrow = self.down(self.walk(wide).view(wide.shape))
        return x + narrow if self.added else narrow


class Gated(Layer):
    """A product of two wide states, from two weights or from one that holds both."""

    def __init__(self, block: case.Block, sizes: case.Sizes) -> None:
        super().__init__(block, sizes)
        self.form = self.choices.pick(("apart", "chunk", "split", "slices"))
        if self.form == "apart":
            self.gate = linear(sizes.features, sizes.inner, self.choices, "wide")
            self.up = linear(sizes.features, sizes.inner, self.choices, "wide")
        else:
            self.both = linear(sizes.features, 2 * sizes.inner, self.choices, "wide", sizes.inner, "parts 2")
        self.down = linear(sizes.inner, sizes.features, self.choices, "narrow")
        self.activation = self.choices.pick((nn.functional.silu, nn.functional.gelu, torch.sigmoid, torch.tanh))
        self.inner = sizes.inner

    def forward(self, x: torch.Tensor, context: Context) -> torch.Tensor:
        if self.form == "apart":
            gate, up = self.gate(x), self.up(x)
        elif self.form == "slices":
            both = self.both(x)
            gate, up = both[..., : self.inner], both[..., self.inner :]
        else:
            both = self.both(x)
            gate, up = both.chunk(2, -1) if self.form == "chunk" else both.split(self.inner, -1)
        return x + self.down(self.activation(gate) * up)


class WrittenNorm(nn.Module):
    """A root mean square norm as Llama writes it."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        wide = x.to(torch.float32)
        return self.weight * (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5)).to(x.dtype)


class Norm(Layer):
    """A norm of features, of groups, of samples or of the batch."""

    def __init__(self, block: case.Block, sizes: case.Sizes) -> None:
        super().__init__(block, sizes)
        features = sizes.features
        form = self.choices.pick(("layer", "rms", "written", "batch", *("group",) * 2, "instance"))
        affine = not self.choices.flag()
        makers = {
            "layer": lambda: nn.LayerNorm(features, elementwise_affine=affine),
            "rms": lambda: nn.RMSNorm(features, eps=1e-5, elementwise_affine=affine),
            "written": lambda: WrittenNorm(features),
            "batch": lambda: nn.BatchNorm1d(features, affine=affine),
            "group": lambda: nn.GroupNorm(self.choices.pick((sizes.heads, features, 1)), features, affine=affine),
            "instance": lambda: nn.InstanceNorm1d(features, affine=affine),
        }
        self.norm = makers[form]()
        self.norm.role = "norm"
        self.turned = form in ("batch", "group", "instance")

    def forward(self, x: torch.Tensor, context: Context) -> torch.Tensor:
        return self.norm(x.transpose(1, 2)).transpose(1, 2) if self.turned else self.norm(x)


class Shared(Layer):
    """One weight in two modules, read as it is or turned."""

    def __init__(self, block: case.Block, sizes: case.Sizes) -> None:
        super().__init__(block, sizes)
        self.up = nn.Linear(sizes.features, sizes.inner, bias=self.choices.flag())
        self.form = self.choices.pick(("turned", "twice"))
        if self.form == "twice":
            self.again = nn.Linear(sizes.features, sizes.inner, bias=False)
            self.again.weight = self.up.weight
        self.up.units, self.up.parts, self.up.role = min(sizes.features, sizes.inner), "", "wide"

    def forward(self, x: torch.Tensor, context: Context) -> torch.Tensor:
        wide = torch.tanh(self.up(x))
        if self.form == "twice":
            context.outputs[self.name] = wide * self.again(x.cos())
            return x
        return x + torch.matmul(wide, self.up.weight)


class Tables(Layer):
    """Adds rows of tables: by position, by kind of token, or by the order of the features."""

    def __init__(self, block: case.Block, sizes: case.Sizes) -> None:
        super().__init__(block, sizes)
        self.form = self.choices.pick(("positions", "kinds", "chosen"))
        rows = {"positions": sizes.sequence + 3, "kinds": 8, "chosen": sizes.heads + 2}[self.form]
        self.table = nn.Embedding(rows, sizes.features)
        self.table.role = "table"

    def forward(self, x: torch.Tensor, context: Context) -> torch.Tensor:
        if self.form == "positions":
            return x + self.table(torch.arange(x.size(1)) + 2)
        if self.form == "kinds":
            return x + self.table(context.mask.to(torch.int64).cumsum(1) % 8)
        return x + self.table(torch.arange(x.size(1)).unsqueeze(0) * 5 % self.table.num_embeddings)


class Experts(Layer):
    """Every token through every expert, weighed by a router."""

    def __init__(self, block: case.Block, sizes: case.Sizes) -> None:
        super().__init__(block, sizes)
        count = self.choices.pick((2, 3, 4, 6))
        self.router = linear(sizes.features, count, self.choices, "table", count)
        self.wide = nn.Parameter(torch.randn(count, sizes.features, sizes.inner) / sizes.features**0.5)
        self.narrow = nn.Parameter(torch.randn(count, sizes.inner, sizes.features) / sizes.inner**0.5)
        self.form = self.choices.pick(("einsum", "bmm", "matmul", "baddbmm"))

    def forward(self, x: torch.Tensor, context: Context) -> torch.Tensor:
        shares = self.router(x).softmax(-1)
        if self.form == "einsum":
            wide = torch.einsum("bsf,efi->besi", x, self.wide).relu()
            return x + torch.einsum("besi,eif,bse->bsf", wide, self.narrow, shares)
        if self.form == "matmul":
            made = torch.matmul(torch.matmul(x.unsqueeze(1), self.wide).relu(), self.narrow)
            return x + (made * shares.permute(0, 2, 1).unsqueeze(-1)).sum(1)
        tokens = x.reshape(1, -1, x.size(-1)).expand(self.wide.size(0), -1, -1)
        if self.form == "bmm":
            made = torch.bmm(torch.bmm(tokens, self.wide).relu(), self.narrow)
        else:
            made = torch.baddbmm(tokens, torch.bmm(tokens, self.wide).relu(), self.narrow)
        weighed = made.view(-1, *x.shape) * shares.permute(2, 0, 1).unsqueeze(-1)
        return x + weighed.sum(0)


class Walk(Layer):
    """Operators that change the shape as they like; what they end with is an output of the model."""

    def __init__(self, block: case.Block, sizes: case.Sizes) -> None:
        super().__init__(block, sizes)
        inner = 2 * (self.choices.pick((sizes.inner, sizes.features)) // 2)
        self.first = linear(sizes.features, inner, self.choices, "source")
        self.first.readers, self.first.grouped = self.steps, GROUPED | WINDOWED
        if isinstance(self.first, nn.Linear) and self.choices.flag():
            self.again = nn.Linear(sizes.features, inner, bias=False)
            self.again.weight = self.first.weight
        end = self.walk(torch.zeros(sizes.batch, sizes.sequence, inner))
        ends = self.choices.flag() and end.dim() > 1
        self.last = linear(end.size(-1), 6, self.choices, "narrow") if ends else None

    def forward(self, x: torch.Tensor, context: Context) -> torch.Tensor:
        start = torch.tanh(x)
        if hasattr(self, "again"):
            x = x + self.again(x).mean(-1, keepdim=True)
        end = self.walk(self.first(start))
        context.outputs[self.name] = self.last(end) if self.last else end
        return x
