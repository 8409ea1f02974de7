"""Which operators a divided value reached, and by which style: read from the IR after `partition`.

A value is divided over an axis because a parameter, an input or a statement at a border is, from which the division
came through the operators. So the origins of a value's axis are those of the same axis of the operands, and what a
collective that divides says of its cause.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

STYLES = ("colwise", "rowwise", "sequence", "parameter", "border", "input")
KINDS = ("uneven", "tied", "parts")


@dataclass
class Reached:
    """For each target of an operator, the styles and kinds of division that reached it."""

    cells: set[tuple[str, str]] = field(default_factory=set)
    refusable: str = ""


CALL = re.compile(r'^\s*(%\d+)(?::\d+)? = plan\.(?:call "([^"]+)"|(\w+))[ (](.*)$')
AXIS = re.compile(r'"(\w+)"')


def reached(text: str) -> Reached:
    raise NotImplementedError
