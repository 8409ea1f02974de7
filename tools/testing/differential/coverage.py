"""Counts which operators a divided value reached, and what divided it, as the program record-coverage says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from unreached import UNREACHED

STYLES = ("colwise", "rowwise", "sequence", "parameter", "border", "input")
KINDS = ("uneven", "tied", "parts")
COLUMNS = (*STYLES, *KINDS)
ANY = "any style"
LAYOUTS = ("replicate", "split", "[")
LEAST = 10  # draws of a cell

Cell = tuple[str, str]  # target of an operator, column


def column_of(text: str) -> str:
    """The column of a statement of the plan: `colwise tp`, `input 1 replicate`, `weight: split 0 over tp`."""
    word, _, rest = text.partition(" ")
    if word in ("input", "output"):
        return "border" if word == "output" or rest.lstrip("0123456789 ").startswith(LAYOUTS) else "input"
    if word.endswith(":"):
        return "parameter"
    return word if word in COLUMNS else ""


def read_cells(text: str) -> set[Cell]:
    lines = (line.partition("\t") for line in text.splitlines())
    return {(target, column) for target, _, said in lines if (column := column_of(said))}


class Coverage:
    def __init__(self, targets: Iterable[str]) -> None:
        self.targets = sorted(targets)
        self.counts: Counter[Cell] = Counter()

    def add(self, cells: set[Cell]) -> None:
        self.counts.update(cells | {(target, ANY) for target, column in cells if column in STYLES})

    def missing(self) -> list[str]:
        """Operators that fewer draws reach than should, by any style."""
        return [name for name in self.targets if name not in UNREACHED and self.counts[name, ANY] < LEAST]

    def table(self) -> str:
        width = max(map(len, self.targets))
        lines = ["".join([f"{'draws that reach':<{width}}", *(f" {column:>9}" for column in (ANY, *COLUMNS))])]
        for name in self.targets:
            counts = [self.counts[name, column] for column in (ANY, *COLUMNS)]
            if name in UNREACHED and not any(counts):
                lines.append(f"{name:<{width}} {UNREACHED[name]}")
            else:
                lines.append("".join([f"{name:<{width}}", *(f" {count:>9}" for count in counts)]))
        return "\n".join(lines)

    def summary(self) -> str:
        reached = [name for name in self.targets if name not in UNREACHED]
        lines = [
            f"{len(self.targets)} operators, {len(reached)} that divided values can reach; at least {LEAST} draws of"
        ]
        for column in (ANY, *COLUMNS):
            counts = [self.counts[name, column] for name in reached]
            lines.append(
                f"  {column:<9} {sum(count >= LEAST for count in counts):>3} operators, {sum(counts)} draws in all"
            )
        return "\n".join(lines)
