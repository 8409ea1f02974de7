"""Arguments that the benchmarks share."""

from __future__ import annotations

import argparse
from pathlib import Path


def parser(description: str | None, **counts: int) -> argparse.ArgumentParser:
    """`counts`: default numbers of repetitions, as `rounds=5`."""
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument(
        "--programs", type=lambda path: Path(path).resolve(), required=True, help="folder of the built programs"
    )
    made.add_argument("--folder", type=Path, required=True, help="where exported models stay")
    made.add_argument("--json", type=Path, metavar="FILE")
    for name, count in counts.items():
        made.add_argument(f"--{name}", type=int, default=count, help="%(default)s unless given")
    return made
