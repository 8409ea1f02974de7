"""Names of parameters that a plan stacks: `expert` makes one of those of a list of modules."""

from __future__ import annotations

import re
from collections.abc import Iterable

from harness.tensors import Tensors


class Stacks:
    """What stacks of parameters with these names are called, and their elements."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = set(names)
        # By the name of a stack, and the list that it may be of: the parameter of each module.
        self.lists: dict[str, dict[str, dict[int, str]]] = {}
        for name in self.names:
            for number in re.finditer(r"\.(\d+)(?=\.)", name):
                of = name[: number.start()]
                self.lists.setdefault(of + name[number.end() :], {}).setdefault(of, {})[int(number[1])] = name

    def elements(self, name: str) -> list[str]:
        """The names of the elements of a stack, in order; of any other tensor its own name."""
        lists = {} if name in self.names else self.lists.get(name, {})
        # Of lists in one another the outer one is stacked.
        whole = [lists[of] for of in sorted(lists) if sorted(lists[of]) == list(range(len(lists[of])))]
        return [whole[0][index] for index in range(len(whole[0]))] if whole else [name]

    def unstacked(self, tensors: Tensors) -> Tensors:
        """The elements of stacks under the names of their modules, and all other tensors."""
        result = {}
        for name, tensor in tensors.items():
            parts = self.elements(name)
            result |= {name: tensor} if parts == [name] else dict(zip(parts, tensor, strict=True))
        return result
