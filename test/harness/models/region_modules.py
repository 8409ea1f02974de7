"""Modules with complex numbers inside, and with parts in which autocast is off."""

from __future__ import annotations

import torch
from torch import nn

Tensors = dict[str, torch.Tensor]


def rotations(positions: int, pairs: int) -> torch.Tensor:
    angles = torch.outer(torch.arange(positions).float(), 0.3 ** torch.arange(pairs).float())
    return torch.polar(torch.ones_like(angles), angles)


def rotated(x: torch.Tensor, by: torch.Tensor) -> torch.Tensor:
    pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * by).flatten(-2).type_as(x)


class RotaryAttention(nn.Module):
    """Heads of 8 features, rotated as pairs, as in the first Llama."""

    def __init__(self) -> None:
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj = nn.Linear(48, 48), nn.Linear(48, 48), nn.Linear(48, 48)
        self.o_proj = nn.Linear(48, 48)

    def forward(self, x: torch.Tensor, by: torch.Tensor) -> torch.Tensor:
        q, k, v = (each(x).unflatten(-1, (-1, 8)) for each in (self.q_proj, self.k_proj, self.v_proj))
        q, k = rotated(q, by[:, None]), rotated(k, by[:, None])
        out = nn.functional.scaled_dot_product_attention(*(each.transpose(1, 2) for each in (q, k, v)), is_causal=True)
        return self.o_proj(out.transpose(1, 2).flatten(2))


class Complex(nn.Module):
    """Complex tensors from tables, angles and pairs of features, and what is done with them."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(40, 48)
        self.first, self.second = RotaryAttention(), RotaryAttention()
        self.register_buffer("table", rotations(16, 4), persistent=False)
        self.register_buffer("saved", rotations(16, 4))
        self.constant = rotations(10, 12)
        self.up, self.down = nn.Linear(48, 96), nn.Linear(48, 24)
        self.shift = nn.Parameter(torch.randn(24))

    def forward(self, ids: torch.Tensor) -> Tensors:
        hidden = self.embed(ids)
        length = ids.shape[1]
        hidden = hidden + self.first(hidden, self.table[:length])
        hidden = hidden + self.second(hidden, self.saved[:length] * self.table.conj()[:length])
        pairs = torch.view_as_complex(self.up(hidden).tanh().view(*ids.shape, 48, 2))
        left, right = pairs.chunk(2, -1)
        turned = left * torch.exp(1j * self.shift) + (right - 1) / (left + 2j) - right.conj() * 0.5
        scores = torch.einsum("bsf,btf->bst", turned, turned.conj()).real
        turned = torch.cat(
            [turned[..., :12] * self.constant, torch.complex(hidden[..., :12].tanh(), self.shift[:12].sin())], -1
        )
        return {
            "attended": self.down(torch.view_as_real(turned).flatten(2)),
            "modulus": turned.abs() + turned.angle().sin() + (turned**2).imag + torch.reciprocal(right + 3).real,
            "scores": scores + (1 - turned).sum(-1).real[:, None] + turned.matmul(turned.mT).imag,
        }

    @staticmethod
    def inputs() -> Tensors:
        return {"ids": torch.randint(40, (4, 10))}


class Regions(nn.Module):
    """A router and products that a plan's autocast may not touch, within others."""

    # Decompositions forget regions without autocast.
    decomposed = False

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(40, 48)
        self.mix = nn.Linear(48, 48)
        self.router, self.up, self.down = nn.Linear(48, 24), nn.Linear(48, 96), nn.Linear(96, 48)

    def forward(self, ids: torch.Tensor) -> Tensors:
        hidden = self.embed(ids)
        hidden = hidden + self.mix(hidden)
        up = self.up(hidden).tanh()
        with torch.autocast("cpu", enabled=False):
            logits = self.router(hidden.float())
            with torch.no_grad():
                same = (up * up).square()
            inner = up.relu().softmax(-1) + same.mean(1, keepdim=True)
        return {"logits": logits, "hidden": self.down(up * logits.softmax(-1).amax(-1, keepdim=True)), "inner": inner}

    @staticmethod
    def inputs() -> Tensors:
        return {"ids": torch.randint(40, (4, 10))}
