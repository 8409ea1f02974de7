"""Checks that a run held what the compiler planned.

  harness memory SUMMARY...

SUMMARY is what `meshplan-run train --json` has printed: the largest peak of a rank must be within 5 % of the planned
one. Prints both; status 1 if one is not.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

TOLERANCE = 0.05  # of the planned peak


def fits(name: str, summary: dict) -> bool:
    memory = summary["memory"]
    held, planned = max(rank["peak"] for rank in memory["ranks"]), memory["planned"]["peak"]
    right = abs(held - planned) <= TOLERANCE * planned
    print(f"{name}: peak {held}, planned {planned}, {100 * (held / planned - 1):+.1f} %: {'ok' if right else 'WRONG'}")
    return right


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("summaries", nargs="+", type=Path)
    arguments = parser.parse_args(words)
    right = [fits(path.stem, json.loads(path.read_text())) for path in arguments.summaries]
    return 0 if all(right) else 1
