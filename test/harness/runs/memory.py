"""Checks that ranks held what the compiler planned.

  harness memory SUMMARY...

SUMMARY is what `meshplan-run train --json` has printed: the largest peak of a rank must be within 5 % of the planned
one. Prints both; status 1 if one is not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.arguments import parser_of
from harness.verdicts import verdict

TOLERANCE = 0.05  # of the planned peak


def fits(held: int, planned: int, scratch: int = 0, tolerance: float = TOLERANCE) -> bool:
    """True for a peak that is near the planned one. It may be larger by `scratch`, what kernels of this processor hold
    and no plan has."""
    return -tolerance * planned <= held - planned <= tolerance * planned + scratch


def largest(memory: dict, name: str) -> int:
    """Bytes of the rank that held most, of what a run reports of its memory."""
    return max(rank[name] for rank in memory["ranks"])


def check_run(memory: dict, label: str, scratch: int, tolerance: float = TOLERANCE) -> bool:
    """True if what ranks metered agrees with the plan, which says the largest of them; parameters are exact."""
    planned = memory["planned"]
    held, peak = largest(memory, "parameters"), largest(memory, "peak")
    right = held == planned["parameters"]
    if not right:
        print(f"{label}: the largest rank holds {held} bytes of parameters, planned {planned['parameters']}")
    if not fits(peak, planned["peak"], scratch, tolerance):
        print(f"{label}: the largest rank has a peak of {peak} bytes, planned {planned['peak']}")
        right = False
    return right


def of_steps(metered: str, scratch: int = 0) -> Iterator[tuple[str, bool]]:
    """What the largest rank held and should have, and whether that fits, of what run-steps prints.

    Of lines `rank 0: peak 1000 planned 990 kept 700 planned 700`, with the same of the host where something lies
    there: `host 50 planned 49 parameters 30 planned 30 states 10 planned 10`. What is held from step to step is
    exact."""
    found: dict[str, tuple[int, int]] = {}
    for what, held, planned in re.findall(r"(\w+) (\d+) planned (\d+)", metered):
        found[what] = max(found.get(what, (0, 0)), (int(held), int(planned)))
    for what, (held, planned) in found.items():
        is_peak = what in ("peak", "host")
        right = fits(held, planned, scratch if what == "peak" else 0) if is_peak else held == planned
        yield f"memory: {what} {held}, planned {planned}", right


def check_steps(metered: str) -> bool:
    right = True
    for said in of_steps(metered):
        right &= verdict(*said)
    return right


def main(words: Sequence[str]) -> int:
    parser = parser_of(__doc__)
    parser.add_argument("summaries", nargs="+", type=Path)
    right = True
    for path in parser.parse_args(words).summaries:
        memory = json.loads(path.read_text())["memory"]
        peak, planned = largest(memory, "peak"), memory["planned"]["peak"]
        said = f"{path.stem}: peak {peak}, planned {planned}, {100 * (peak / planned - 1):+.1f} %"
        right &= verdict(said, fits(peak, planned))
    return 0 if right else 1
