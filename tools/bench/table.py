"""Figures as a table for people and as JSON for programs."""

from __future__ import annotations

import json
from pathlib import Path

Row = dict[str, object]


def cell(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def table(rows: list[Row]) -> str:
    """Columns in the order of the first row's keys: text aligned left, numbers right."""
    titles = list(rows[0])
    cells = [titles, *([cell(row[title]) for title in titles] for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(titles))]
    numeric = [not isinstance(rows[0][title], str) for title in titles]

    def aligned(line: list[str]) -> str:
        padded = (
            text.rjust(width) if right else text.ljust(width)
            for text, width, right in zip(line, widths, numeric, strict=True)
        )
        return "  ".join(padded).rstrip()

    return "\n".join(aligned(line) for line in cells)


def report(rows: list[Row], json_path: Path | None) -> None:
    """Prints the table; writes the rows, whole numbers unrounded, to `json_path` if there is one."""
    print(table(rows))
    if json_path is not None:
        json_path.write_text(json.dumps(rows, indent=2) + "\n")
