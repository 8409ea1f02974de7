"""Counts which operators a divided value reached, and what divided it, as the program record-coverage says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from unreached import UNREACHED

STYLES = ("colwise", "rowwise", "sequence", "parameter", "border", "input")
KINDS = ("uneven", "tied", "parts")
COLUMNS = (*STYLES, *KINDS)
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

    def add(self, cells: Iterable[Cell]) -> None:
        self.counts.update(cells)

    def wanted(self) -> list[Cell]:
        """All cells but those that cannot be reached."""
        cells = [(target, column) for target in self.targets for column in COLUMNS]
        return [cell for cell in cells if not is_unreached(cell)]

    def missing(self) -> list[Cell]:
        return [cell for cell in self.wanted() if self.counts[cell] < LEAST]

    def table(self) -> str:
        width = max(map(len, self.targets))
        lines = ["".join([f"{'draws that reach':<{width}}", *(f" {column:>9}" for column in COLUMNS)])]
        for target in self.targets:
            cells = [(target, column) for column in COLUMNS]
            shown = ["-" if is_unreached(cell) and not self.counts[cell] else str(self.counts[cell]) for cell in cells]
            lines.append("".join([f"{target:<{width}}", *(f" {text:>9}" for text in shown)]))
        return "\n".join(lines)

    def summary(self) -> str:
        wanted, missing = self.wanted(), self.missing()
        lines = [f"{len(wanted) - len(missing)} of {len(wanted)} cells have at least {LEAST} draws"]
        for column in COLUMNS:
            counts = sorted(self.counts[cell] for cell in wanted if cell[1] == column)
            short = sum(cell[1] == column for cell in missing)
            if counts:
                lines.append(
                    f"  {column:<9} {len(counts):>3} operators, least {counts[0]}, median {counts[len(counts) // 2]}, "
                    f"{short} with fewer than {LEAST}"
                )
        return "\n".join(lines)


def is_unreached(cell: Cell) -> bool:
    target, column = cell
    return target in UNREACHED or column in UNREACHED.get(f"{target} but", ()) or cell in UNREACHED
