"""Attention in the forms in which models write it."""

from __future__ import annotations

import functools

import torch
from torch import nn

from harness.differential import case
from harness.differential.models.layers import Context, Layer, linear

LOWEST = torch.finfo(torch.float32).min


def rotated(x: torch.Tensor) -> torch.Tensor:
    """Rotary positions on [batch, heads, sequence, features]."""
    half = x.size(-1) // 2
    rates = 1.0 / 100.0 ** (torch.arange(0, half, dtype=torch.float32) / half)
    angles = torch.arange(x.size(2)).to(torch.float32).unsqueeze(1) * rates
    angles = torch.cat([angles, angles], -1)
    turned = torch.cat([-x[..., half:], x[..., :half]], -1)
    return x * angles.cos().to(x.dtype) + turned * angles.sin().to(x.dtype)


class Attention(Layer):
    def __init__(self, block: case.Block, sizes: case.Sizes) -> None:
        super().__init__(block, sizes)
        pick, flag = self.choices.pick, self.choices.flag
        self.heads = sizes.heads
        self.groups = sizes.heads // self.choices.divisor(sizes.heads)
        self.size = sizes.head // 2 * 2
        self.layout = pick(("apart", "apart", "parts", "interleaved"))
        self.form = pick(("sdpa", "written", "gqa", "einsum", "batched"))
        self.masking = pick(("none", "causal", "positions", "added", "window", "padding", "both"))
        self.turns, self.cap, self.slopes = flag(), pick((0.0, 0.0, 2.0)), pick((False, False, True))
        self.scale = pick((self.size**-0.5, 0.37))
        self.repeats = pick(("interleave", "expand"))
        self.cutting = pick(("split", "slices", "view", "counted"))
        self.make_weights(sizes.features)
        self.out = linear(self.heads * self.size, sizes.features, self.choices, "narrow", self.heads)
        self.norm = nn.LayerNorm(self.size) if flag() else None
        if self.norm:
            self.norm.sequence = 2
        self.added = flag()
        # Where one score dominates, that of the others is a small difference.
        self.scale *= pick((1, 1, 1, 8))

    def make_weights(self, features: int) -> None:
        ties = self.choices.flag()
        if ties and self.layout == "apart":
            self.groups = self.heads
        heads, groups, size = self.heads, self.groups, self.size
        if self.layout == "apart":
            self.query = linear(features, heads * size, self.choices, "wide", heads)
            # One head for all is not to be cut.
            role, units = ("wide", heads) if groups > 1 else ("table", 1)
            self.key = linear(features, groups * size, self.choices, role, units)
            self.value = linear(features, groups * size, self.choices, role, units)
            if ties and type(self.query) is type(self.key):
                self.key.weight, self.key.bias = self.query.weight, None  # one statement places both
            return
        if self.layout == "interleaved":  # as GPT-NeoX: each head has its own three
            self.groups = heads
            self.fused = linear(features, 3 * heads * size, self.choices, "wide", heads)
            return
        parts = "parts 3" if heads == groups else f"parts (heads {heads}, kv {groups}, kv {groups})"
        self.fused = linear(features, (heads + 2 * groups) * size, self.choices, "wide", heads, parts)

    def heads_of(self, x: torch.Tensor, count: int) -> torch.Tensor:
        return x.view(x.size(0), x.size(1), count, self.size).transpose(1, 2)

    def projections(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Query, key and value as [batch, heads, sequence, features]."""
        heads, groups, size = self.heads, self.groups, self.size
        if self.layout == "apart":
            query, key, value = self.query(x), self.key(x), self.value(x)
        elif self.layout == "interleaved":
            fused = self.fused(x).view(x.size(0), x.size(1), heads, 3 * size).transpose(1, 2)
            query, key, value = fused.chunk(3, -1)
            return query, key, value
        elif heads == groups and self.cutting == "view":
            fused = self.fused(x).view(x.size(0), x.size(1), 3, heads, size).permute(2, 0, 3, 1, 4)
            return fused[0], fused[1], fused[2]
        else:
            sizes = [heads * size, groups * size, groups * size]
            fused = self.fused(x)
            if self.cutting == "counted":  # as Falcon: heads in one dim
                counted = fused.view(x.size(0), x.size(1), heads + 2 * groups, size).transpose(1, 2)
                return counted[:, :heads], counted[:, heads : heads + groups], counted[:, heads + groups :]
            if self.cutting == "slices":
                ends = (sizes[0], sizes[0] + sizes[1])
                query, key, value = fused[..., : ends[0]], fused[..., ends[0] : ends[1]], fused[..., ends[1] :]
            else:
                query, key, value = fused.split(sizes, -1)
        return self.heads_of(query, heads), self.heads_of(key, groups), self.heads_of(value, groups)

    def repeated(self, x: torch.Tensor) -> torch.Tensor:
        """Key or value for each query head."""
        times = self.heads // self.groups
        if times == 1:
            return x
        if self.repeats == "interleave":
            return x.repeat_interleave(times, 1)
        batch, groups, sequence, size = x.shape
        return x[:, :, None].expand(batch, groups, times, sequence, size).reshape(batch, self.heads, sequence, size)

    def mask(self, sequence: int, context: Context) -> torch.Tensor | None:
        """True where a query reads a key."""
        positions = torch.arange(sequence)
        seen = positions <= positions.unsqueeze(1)
        if self.masking == "window":
            return seen & (positions.unsqueeze(1) - positions < 3)
        if self.masking == "padding":
            return context.mask[:, None, None, :]
        if self.masking == "both":
            return context.mask[:, None, None, :] & seen
        return seen if self.masking in ("causal", "positions", "added") else None

    def forward(self, x: torch.Tensor, context: Context) -> torch.Tensor:
        query, key, value = self.projections(x)
        if self.norm is not None:
            query, key = self.norm(query), self.norm(key)
        if self.turns:
            query, key = rotated(query), rotated(key)
        mixed = self.attend(query, key, value, self.mask(x.size(1), context), context.dropout)
        result = self.out(mixed.transpose(1, 2).reshape(x.size(0), x.size(1), self.heads * self.size))
        return x + result if self.added else result

    def attend(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        mask: torch.Tensor | None,
        dropout: float,
    ) -> torch.Tensor:
        attention = functools.partial(nn.functional.scaled_dot_product_attention, dropout_p=dropout, scale=self.scale)
        if self.form == "gqa" and self.heads != self.groups:
            return attention(query, key, value, mask, enable_gqa=True)
        key, value = self.repeated(key), self.repeated(value)
        if self.form in ("sdpa", "gqa"):
            if self.masking == "causal":
                return attention(query, key, value, is_causal=True)
            if self.masking == "added" and mask is not None:
                mask = torch.zeros(mask.shape, dtype=query.dtype).masked_fill(~mask, float("-inf"))
            return attention(query, key, value, mask)
        return self.written(query, key, value, mask)

    def written(
        self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor | None
    ) -> torch.Tensor:
        scores = self.scores(query, key)
        if self.cap:
            scores = torch.tanh(scores / self.cap) * self.cap
        if self.slopes:
            slopes = 2.0 ** -(torch.arange(self.heads) + 1.0)
            scores = scores + (slopes.view(-1, 1, 1) * torch.arange(key.size(2))).to(scores.dtype)
        if mask is not None and self.masking == "added":
            scores = scores + torch.where(mask, 0.0, LOWEST).to(scores.dtype)
        elif mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        shares = scores.softmax(-1)
        if self.form == "einsum":
            return torch.einsum("bhqk,bhkd->bhqd", shares, value)
        if self.form == "batched":
            flat = torch.bmm(shares.flatten(0, 1), value.reshape(-1, *value.shape[2:]))
            return flat.view(query.shape)
        return torch.matmul(shares, value)

    def scores(self, query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
        if self.form == "einsum":
            return torch.einsum("bhqd,bhkd->bhqk", query, key) * self.scale
        if self.form == "batched":
            flat = query.reshape(-1, *query.shape[2:])
            base = flat.new_zeros(1, 1, 1).expand(flat.size(0), flat.size(1), key.size(2))
            keys = key.reshape(-1, *key.shape[2:]).transpose(1, 2)
            scores = torch.baddbmm(base, flat, keys, beta=0.0, alpha=self.scale)
            return scores.view(*query.shape[:3], key.size(2))
        return torch.matmul(query, key.transpose(2, 3)) * self.scale
