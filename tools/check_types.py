#!/usr/bin/env python3
"""Checks that a type has one definition: two types of one name in one namespace may be linked into one program.

The compiler sees one file at a time and reports nothing, and the linker keeps one of the two destructors. Sources are
read as text, in LLVM's layout: types and namespaces begin at the start of a line.
Usage: check_types.py [ROOT]. Prints `file:line: error: ...` for each second definition; exit status 1 if there is one.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

# Folders that are linked together, and never with the other side.
SIDES = (("compiler", "dialect", "grammar", "tools/meshplan"), ("runtime", "tools/meshplan_run"))
NAMESPACE = re.compile(r"namespace ([\w:]*) ?\{")
TYPE = re.compile(r"(?:struct|class|union|enum class|enum) (?:LLVM_\w+ )?([\w:]+)[^;]*\{")


def definitions(text: str) -> Iterator[tuple[int, str]]:
    """Line and full name of each type at the start of a line; not those of unnamed namespaces."""
    spaces: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        if opened := NAMESPACE.match(line):
            spaces.append(opened[1])
        elif spaces and re.match(r"\} *(// namespace|// end|// anonymous|$)", line) and "namespace" in line:
            spaces.pop()
        elif "" not in spaces and (found := TYPE.match(line)):
            yield number, "::".join([*spaces, found[1]])


def check(root: Path) -> list[str]:
    errors = []
    for side in SIDES:
        known: dict[str, str] = {}
        for path in sorted(
            path for folder in side for path in (root / folder).rglob("*") if path.suffix in {".h", ".cpp"}
        ):
            for line, name in definitions(path.read_text(errors="replace")):
                location = f"{path.relative_to(root)}:{line}"
                if name in known:
                    errors.append(
                        f"{location}: error: '{name}' is defined at {known[name]} too; help: rename one of them"
                    )
                known.setdefault(name, location)
    return errors


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    errors = check(root)
    print("\n".join(errors), end="\n" if errors else "")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
