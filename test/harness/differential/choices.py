"""Numbers that are read as decisions.

A case holds numbers, not decisions: each is read as one of the options of its reader, so that any list of
numbers is a case, and where it ends or has a 0 the first option is taken. Options are listed with the plainest first;
a case shrinks by numbers that become 0.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

import torch

Option = TypeVar("Option")

LARGEST = 1 << 16


def drawn_numbers(generator: random.Random, count: int) -> list[int]:
    return [generator.randrange(LARGEST) for _ in range(count)]


class Choices:
    """Reads a list of numbers, one for each decision."""

    def __init__(self, numbers: Sequence[int], distinct: bool = False) -> None:
        """`distinct`: elements of which one device would choose others than another are not equal."""
        self.numbers, self.distinct = numbers, distinct
        self.position = 0

    def number(self) -> int:
        self.position += 1
        return self.numbers[self.position - 1] if self.position <= len(self.numbers) else 0

    def pick(self, options: Sequence[Option]) -> Option:
        return options[self.number() % len(options)]

    def flag(self) -> bool:
        return self.pick((False, True))

    def dim(self, tensor: torch.Tensor) -> int:
        """A dim of the tensor, counted from the front or from the end; the last one is the plainest."""
        rank = max(tensor.dim(), 1)
        return self.pick([dim for pair in zip(range(-1, -rank - 1, -1), range(rank), strict=True) for dim in pair])

    def divisor(self, size: int) -> int:
        return self.pick([divisor for divisor in range(1, size + 1) if size % divisor == 0])
