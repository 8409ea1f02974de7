"""Names of parameters that a plan stacks: `expert` makes one of those of a list of modules."""

from __future__ import annotations

import re
from collections.abc import Iterable

from harness.tensors import Tensors


def unstacked(tensors: Tensors, names: Iterable[str]) -> Tensors:
    """The elements of stacked tensors under the names of their modules, which are among `names`."""
    known = set(names)
    # By the name without a number, and what is before it: the name with each number.
    numbered: dict[str, dict[str, dict[int, str]]] = {}
    for name in known:
        for number in re.finditer(r"\.(\d+)(?=\.)", name):
            before = name[: number.start()]
            lists = numbered.setdefault(before + name[number.end() :], {})
            lists.setdefault(before, {})[int(number[1])] = name
    result = {}
    for name, tensor in tensors.items():
        lists = {} if name in known else numbered.get(name, {})
        parts = next((each for each in lists.values() if sorted(each) == list(range(len(tensor)))), {})
        result |= {part: tensor[index] for index, part in parts.items()} if parts else {name: tensor}
    return result
