"""A module that calls many operators, each on a parameter of its own, and what such modules read."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import torch
from torch import nn

Tensors = dict[str, torch.Tensor]
Operator = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]

aten = torch.ops.aten
functional = nn.functional

SAMPLES, ROWS, WIDTH = 6, 8, 24


def positive(x: torch.Tensor) -> torch.Tensor:
    return x.abs() + 0.5


def chance(x: torch.Tensor) -> torch.Tensor:
    return x.sigmoid() * 0.8 + 0.1


def images(x: torch.Tensor) -> torch.Tensor:
    """[samples, 6, rows, 4]"""
    return x.view(SAMPLES, ROWS, 6, 4).transpose(1, 2)


def volumes(x: torch.Tensor) -> torch.Tensor:
    """[samples, 6, rows, 2, 2]"""
    return x.view(SAMPLES, ROWS, 6, 2, 2).transpose(1, 2)


def lines(x: torch.Tensor) -> torch.Tensor:
    """[samples, features, rows]"""
    return x.transpose(1, 2)


def indices(count: int, *shape: int) -> torch.Tensor:
    """Numbers below `count`, some of them more than once, others never."""
    return (torch.arange(torch.Size(shape).numel()) * 5 % 7 % count).view(shape)


def applied(names: str, prepare: Callable[[torch.Tensor], torch.Tensor] = lambda x: x) -> dict[str, Operator]:
    """Operators of one tensor by their names."""

    def call(name: str) -> Operator:
        operator = getattr(aten, name).default
        return lambda x, y: operator(prepare(x))

    return {name: call(name) for name in names.split()}


class EachOperator(nn.Module):
    """Calls each operator on [samples, rows, features] of two products, of which a plan may divide the first."""

    operators: ClassVar[dict[str, Operator]]

    def __init__(self) -> None:
        super().__init__()
        self.front, self.other = nn.Linear(16, WIDTH), nn.Linear(16, WIDTH)
        self.back = nn.Linear(WIDTH, 12)
        self.scales = nn.ParameterDict({f"of_{name}": torch.rand(WIDTH) + 0.5 for name in self.operators})

    def forward(self, hidden: torch.Tensor) -> Tensors:
        first, second = self.front(hidden), self.other(hidden)
        results = {name: call(first * self.scales[f"of_{name}"], second) for name, call in self.operators.items()}
        # Gradients of what a divided product reads are partial.
        return {name: self.back(x) if x.shape[-1] == WIDTH else x for name, x in results.items()}

    @staticmethod
    def inputs() -> Tensors:
        return {"hidden": torch.randn(SAMPLES, ROWS, 16)}
