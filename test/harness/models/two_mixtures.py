"""What models of two small mixtures share: their layers, and rows with a copy of the weights of their expert."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

Tensors = dict[str, torch.Tensor]
SLOTS, EXPERTS, WIDTH = 2, 4, 32


def expert_weights(inner: int) -> tuple[nn.Parameter, nn.Parameter]:
    return (
        nn.Parameter(torch.randn(EXPERTS, inner, WIDTH) / 5),
        nn.Parameter(torch.randn(EXPERTS, WIDTH, inner) / 7),
    )


def through_experts(
    hidden: torch.Tensor, gates: torch.Tensor, chosen: torch.Tensor, up: torch.Tensor, down: torch.Tensor
) -> torch.Tensor:
    """Each token through the experts that it has chosen, in order of the tokens."""
    experts = chosen.flatten()
    rows = hidden.flatten(0, 1).repeat_interleave(SLOTS, dim=0).unsqueeze(-1)
    made = torch.bmm(down[experts], torch.bmm(up[experts], rows).relu())
    rows = made.squeeze(-1) * gates.flatten().unsqueeze(-1)
    return rows.view(-1, SLOTS, hidden.shape[-1]).sum(1).view(hidden.shape)


class TwoMixtures(nn.Module):
    """Two layers, each after a norm, and the mean of the losses of all tokens."""

    def __init__(self, mixture: Callable[[], nn.Module]) -> None:
        super().__init__()
        self.embed, self.head = nn.Embedding(40, WIDTH), nn.Linear(WIDTH, 40)
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(2))
        self.mixtures = nn.ModuleList(mixture() for _ in range(2))

    def loss(self, ids: torch.Tensor, labels: torch.Tensor, *given: torch.Tensor) -> Tensors:
        """`given`: what mixtures read beside the tokens."""
        hidden = self.embed(ids)
        for norm, mixture in zip(self.norms, self.mixtures, strict=True):
            hidden = hidden + mixture(norm(hidden), *given)
        return {"loss": nn.functional.cross_entropy(self.head(hidden).flatten(0, 1), labels.flatten())}
