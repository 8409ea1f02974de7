"""Two sides of a measurement that take turns, so that a change of the machine's load affects both."""

from __future__ import annotations

import statistics
from collections.abc import Callable

from bench import table

Seconds = Callable[[], float]


def take(rounds: int, ranks: Seconds, other: Seconds, target: float, name: str = "PyTorch") -> table.Row:
    """The columns that compare them. The ratio is the median over the turns; it should be below `target`."""
    turns = [(ranks(), other()) for _ in range(rounds)]
    ratios = sorted(ours / theirs for ours, theirs in turns)
    return {
        "ranks s": statistics.median(ours for ours, _ in turns),
        f"{name} s": statistics.median(theirs for _, theirs in turns),
        "ratio": statistics.median(ratios),
        "least": ratios[0],
        "most": ratios[-1],
        "target": target,
    }
