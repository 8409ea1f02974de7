"""Makes a failing case smaller for as long as it fails in the same way."""

from __future__ import annotations

import copy
import dataclasses
import re
import time
from collections.abc import Callable, Iterator

from harness.differential.case import Block, Case, Statement
from harness.differential.plans.statements import items_of

# What names modules, the modules, and what follows them.
NAMING = re.compile(r"(data .* on |train only |freeze |unused |recompute |unit |keep |group )(.*?)( \{.*\}| keep .*)?")
SMALLER = {
    "batch": (2, 3, 4),
    "sequence": (4, 6),
    "heads": (2, 3, 4),
    "head": (4,),
    "inner": (12, 16),
    "vocabulary": (24,),
}


def changed(case: Case, change: Callable[[Case], None]) -> Case:
    other = copy.deepcopy(case)
    change(other)
    return other


def without_block(case: Case, name: str) -> Case:
    def change(other: Case) -> None:
        other.blocks = [block for block in other.blocks if block.name != name]
        path = f"blocks.{name}"
        other.entries = [entry for entry in other.entries if f"{entry.path}.".find(f"{path}.") != 0]
        less = (without_path(statement, path) for statement in other.statements)
        other.statements = [statement for statement in less if statement is not None]

    return changed(case, change)


def smaller_models(case: Case) -> Iterator[Case]:
    for block in case.blocks:
        yield without_block(case, block.name)
    if case.head.kind != "none":

        def without_head(other: Case) -> None:
            other.head.kind = "none"
            other.entries = [entry for entry in other.entries if not entry.path.startswith("head")]

        yield changed(case, without_head)
    for index, block in enumerate(case.blocks):
        for position in range(len(block.steps)):
            yield changed(case, lambda other, index=index, position=position: other.blocks[index].steps.pop(position))


def plainer_numbers(case: Case) -> Iterator[Case]:
    """Decisions replaced by the first option: all of a list, then one by one."""

    def lists(case: Case) -> list[list[int]]:
        blocks: list[Block] = [case.stem, case.head, *case.blocks]
        return [numbers for block in blocks for numbers in (block.numbers, *(step.numbers for step in block.steps))]

    for index, numbers in enumerate(lists(case)):
        if any(numbers):
            yield changed(case, lambda other, index=index: lists(other)[index].__setitem__(slice(None), [0]))
    for index, numbers in enumerate(lists(case)):
        for position, number in enumerate(numbers):
            if number:
                yield changed(
                    case, lambda other, index=index, position=position: lists(other)[index].__setitem__(position, 0)
                )


def without_path(statement: Statement, path: str) -> Statement | None:
    """The statement without the modules at or below this path; None if it names no others."""

    def less(text: str) -> str:
        """`unit P, [Q, R]` without P; empty if nothing is left."""
        found = NAMING.fullmatch(text)
        if found is None:
            return text
        before, items, behind = found.groups(default="")
        kept = [item for item in items_of(items) if not is_inside(item)]
        return before + ", ".join(kept) + behind if kept else ""

    def is_inside(item: str) -> bool:
        return any(f"{each.strip()}.".startswith(f"{path}.") for each in item.strip("[]").split(","))

    head, options = less(statement.head), list(map(less, statement.options))
    return Statement(head, [option for option in options if option]) if head else None


def smaller_trainings(case: Case) -> Iterator[Case]:
    """With fewer statements of training, and fewer options in them."""
    for index, statement in enumerate(case.statements):
        yield changed(case, lambda other, index=index: other.statements.pop(index))
        for position in range(len(statement.options) if len(statement.options) > 1 else 0):
            yield changed(
                case, lambda other, index=index, position=position: other.statements[index].options.pop(position)
            )
    if case.steps > 1:
        yield dataclasses.replace(case, steps=1)


def smaller_sizes(case: Case) -> Iterator[Case]:
    for name, sizes in SMALLER.items():
        for size in sizes:
            if size < getattr(case.sizes, name):
                yield dataclasses.replace(case, sizes=dataclasses.replace(case.sizes, **{name: size}))
    for index, (name, size) in enumerate(case.axes):
        for smaller in {1, 2, size - 1}:
            if 0 < smaller < size:
                axes = [*case.axes[:index], (name, smaller), *case.axes[index + 1 :]]
                yield dataclasses.replace(case, axes=axes)


def smaller_plans(case: Case) -> Iterator[Case]:
    for index, entry in enumerate(case.entries):
        yield changed(case, lambda other, index=index: other.entries.pop(index))
        for position in range(len(entry.clauses) if len(entry.clauses) > 1 else 0):
            yield changed(
                case, lambda other, index=index, position=position: other.entries[index].clauses.pop(position)
            )
    for field in ("outputs", "inputs"):
        for name, dims in getattr(case, field).items():
            yield changed(case, lambda other, field=field, name=name: getattr(other, field).pop(name))
            for position, dim in enumerate(dims):
                if " over " in dim:
                    plain = dim.partition(" over ")[0]
                    yield changed(
                        case,
                        lambda other, field=field, name=name, position=position, plain=plain: getattr(other, field)[
                            name
                        ].__setitem__(position, plain),
                    )
    for field in ("half", "decompose", "form", "dropout", "random_seed"):
        if getattr(case, field):
            yield dataclasses.replace(case, **{field: type(getattr(case, field))()})


def smaller(case: Case) -> Iterator[Case]:
    for candidates in (smaller_models, smaller_trainings, smaller_plans, smaller_sizes, plainer_numbers):
        yield from candidates(case)


def shrink(case: Case, fails: Callable[[Case], bool], seconds: float) -> Case:
    """The smallest case found in this time that still fails."""
    end = time.monotonic() + seconds
    found = True
    while found:
        found = False
        for candidate in smaller(case):
            if time.monotonic() > end:
                return case
            if fails(candidate):
                case, found = candidate, True
                break
    return case
