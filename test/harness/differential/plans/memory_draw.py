"""Draws where a training keeps what lies from step to step: in one buffer, or on the host."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable

from harness.differential import case
from harness.differential.case import Statement
from harness.differential.plans.statements import Groups, find, items_of, keeps_states, named, option, untrained

WORDS = ("contiguous", "register", "offload")
REFUSED = 0.01  # share of the plans that are drawn without regard to what is refused


def converts(drawn: case.Case) -> bool:
    """True if parameters may be stored in another dtype than that in which they are gathered."""
    precision, own = find(drawn.statements, "precision"), "bf16" if drawn.half else "f32"
    return any(option(precision, name) not in ("", own) for name in ("storage", "gather"))


def optimizer_keeps(drawn: case.Case, data: Statement, groups: Groups) -> bool:
    """True if the optimizer keeps something for a parameter of this block."""
    optimizer, precision = find(drawn.statements, "optimizer"), find(drawn.statements, "precision")
    if optimizer is None or not (keeps_states(optimizer) or option(precision, "master")):
        return False
    on = data.head.partition(" on ")[2]
    frozen = untrained(drawn.statements, groups)
    return any(names not in frozen for names in (named(groups, items_of(on)) if on else groups))


def contiguous_kinds(drawn: case.Case, data: Statement) -> list[str]:
    """Of these, coalesced tensors are in one buffer."""
    shards, bucket = option(data, "shard"), option(data, "bucket")
    if bucket == "none" or not (shards or bucket):
        return []
    # Elsewhere parameters are gathered after the optimizer, as they are stored.
    in_step = "parameters" in shards or "parameters" in option(data, "overlap")
    return (["parameters"] if shards and not (in_step and converts(drawn)) else []) + ["gradients"]


def offloaded_kinds(drawn: case.Case, data: Statement, groups: Groups) -> list[str]:
    kinds = ["parameters"] if "parameters" in option(data, "shard") else []
    return kinds + (["optimizer"] if optimizer_keeps(drawn, data, groups) else [])


def without_memory(drawn: case.Case) -> case.Case | None:
    """The same training in which nothing says where things lie; None if nothing does."""

    def keeps(statement: Statement, text: str) -> bool:
        return not statement.head.startswith("data ") or text.split()[0] not in WORDS

    plain = [Statement(each.head, [text for text in each.options if keeps(each, text)]) for each in drawn.statements]
    return None if plain == drawn.statements else dataclasses.replace(drawn, statements=plain)


def add_memory(drawn: case.Case, groups: Groups, generator: random.Random) -> None:
    """Options of the data block, if there is one. All other statements stand already."""
    data = find(drawn.statements, "data")
    if data is None:
        return

    def some(kinds: list[str]) -> str:
        return ", ".join(generator.sample(kinds, generator.randint(1, len(kinds))))

    def contiguous(kinds: list[str]) -> list[str]:
        return [f"contiguous {some(kinds)}", *(["register buffers"] if generator.random() < 0.3 else [])]

    def offload(kinds: list[str]) -> list[str]:
        return [f"offload {some(kinds)}"]

    # Now and then what is refused: buffers of what is moved alone, and what the host has no room for.
    if generator.random() < REFUSED:
        data.options += generator.choice((contiguous(["parameters"]), offload(["parameters", "optimizer"])))
        return
    ways: tuple[tuple[Callable[[list[str]], list[str]], list[str]], ...] = (
        (contiguous, contiguous_kinds(drawn, data)),
        (offload, offloaded_kinds(drawn, data, groups)),
    )
    way, kinds = generator.choice(ways)
    if kinds and generator.random() < 0.6:
        data.options += way(kinds)
