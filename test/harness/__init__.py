"""What the tests of meshplan are made of: see README.md in this folder."""

from __future__ import annotations

import sys
from pathlib import Path

HARNESS = Path(__file__).resolve().parent
ROOT = HARNESS.parents[1]  # of the source tree


def command(name: str, *words: str | Path) -> list[str | Path]:
    """Starts a command of this package as a process of its own."""
    return [sys.executable, HARNESS, name, *words]
