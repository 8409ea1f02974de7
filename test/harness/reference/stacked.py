"""Names of parameters that a plan stacks: `expert` makes one of those of a list of modules."""

from __future__ import annotations

import re
from collections.abc import Iterable

from harness.tensors import Tensors


def numbered_names(names: Iterable[str]) -> dict[str, dict[str, dict[int, str]]]:
    """By the name without a number, and what is before it: the name with each number."""
    numbered: dict[str, dict[str, dict[int, str]]] = {}
    for name in names:
        for number in re.finditer(r"\.(\d+)(?=\.)", name):
            before = name[: number.start()]
            lists = numbered.setdefault(before + name[number.end() :], {})
            lists.setdefault(before, {})[int(number[1])] = name
    return numbered


def element_names(name: str, names: Iterable[str]) -> list[str]:
    """The names of the elements of a stacked tensor, by which it is known; none for other tensors."""
    lists = numbered_names(names).get(name, {})
    # Names of equal modules in another list may lack a number that the experts have.
    return next((list(each.values()) for each in lists.values() if sorted(each) == list(range(len(each)))), [])


def unstacked(tensors: Tensors, names: Iterable[str]) -> Tensors:
    """The elements of stacked tensors under the names of their modules, which are among `names`."""
    known = set(names)
    numbered = numbered_names(known)
    result = {}
    for name, tensor in tensors.items():
        lists = {} if name in known else numbered.get(name, {})
        parts = next((each for each in lists.values() if sorted(each) == list(range(len(tensor)))), {})
        result |= {part: tensor[index] for index, part in parts.items()} if parts else {name: tensor}
    return result
