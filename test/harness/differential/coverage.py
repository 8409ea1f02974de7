"""Counts which operators a divided value reached, and what divided it, as the program record-coverage says."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable
from string import ascii_lowercase

from harness.differential.unreached import reason_of

STYLES = ("colwise", "rowwise", "sequence", "parameter", "border", "input")
KINDS = ("uneven", "tied", "parts")
COLUMNS = (*STYLES, *KINDS)
WANTED = ("colwise", "rowwise", "sequence", *KINDS)  # columns in which each operator needs draws
ANY = "any style"
LAYOUTS = ("replicate", "split", "[")
LEAST = 10  # draws of a cell

Cell = tuple[str, ...]  # target of an operator, column


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


Reason = Callable[[str, str], str]  # why few draws of an operator are in a column; empty if enough should be


class Coverage:
    """Draws by operator and column, of which those of `wanted` need some."""

    def __init__(self, targets: Iterable[str], wanted: Iterable[str] = WANTED, reason: Reason = reason_of) -> None:
        self.targets, self.wanted, self.reason = sorted(targets), tuple(wanted), reason
        self.counts: Counter[Cell] = Counter()

    def add(self, cells: set[Cell]) -> None:
        self.counts.update(cells | {(target, ANY) for target, column in cells if column in STYLES})

    def missing(self) -> list[Cell]:
        """Cells with fewer draws than they should have."""
        cells = itertools.product(self.targets, self.wanted)
        return [cell for cell in cells if self.counts[cell] < LEAST and not self.reason(*cell)]

    def table(self) -> str:
        """Counts of draws; a letter stands for the reason why there are few, and is explained below."""
        width = max(map(len, self.targets))
        lines = ["".join([f"{'draws that reach':<{width}}", *(f" {column:>9}" for column in (ANY, *COLUMNS))])]
        letters: dict[str, str] = {}
        for name in self.targets:
            cells = []
            for column in (ANY, *COLUMNS):
                count, reason = self.counts[name, column], self.reason(name, column) if column in self.wanted else ""
                if count < LEAST and reason:
                    cells.append(f"{count or ''}{letters.setdefault(reason, ascii_lowercase[len(letters)])}")
                else:
                    cells.append(str(count))
            lines.append("".join([f"{name:<{width}}", *(f" {cell:>9}" for cell in cells)]))
        return "\n".join(lines + [f"{letter}: {reason}" for reason, letter in letters.items()])

    def summary(self) -> str:
        lines = [
            f"{len(self.targets)} operators with a record; {LEAST} draws or more, or a reason why there are fewer:"
        ]
        for column in self.wanted:
            counts = [self.counts[name, column] for name in self.targets]
            reasons = sum(
                count < LEAST and bool(self.reason(name, column))
                for name, count in zip(self.targets, counts, strict=True)
            )
            reached = sum(count >= LEAST for count in counts)
            lines.append(f"  {column:<9} {reached:>3} operators and {reasons} reasons, {sum(counts)} draws in all")
        return "\n".join(lines)
