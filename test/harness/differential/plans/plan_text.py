"""Writes the plan of a case, in one of several forms that mean the same."""

from __future__ import annotations

from collections.abc import Iterable

from harness.differential import case

FLAT, NESTED, BRACES, OVERRIDES = range(4)
STYLED = ("colwise", "rowwise", "sequence", "replicate")


def line(path: str, clauses: Iterable[str]) -> str:
    return f"{path}: {', '.join(clauses)}"


def grouped(entries: list[case.Entry]) -> dict[str, list[case.Entry]]:
    """Entries by the path of the module around them."""
    groups: dict[str, list[case.Entry]] = {}
    for entry in entries:
        groups.setdefault(entry.path.rpartition(".")[0], []).append(entry)
    return groups


def leaf(entry: case.Entry) -> str:
    return entry.path.rpartition(".")[2]


def braced(entries: list[case.Entry]) -> list[str]:
    """One line for all entries that say the same."""
    same: dict[str, list[str]] = {}
    for entry in entries:
        same.setdefault(", ".join(entry.clauses), []).append(leaf(entry))
    return [f"{names[0] if len(names) == 1 else '{' + ', '.join(names) + '}'}: {said}" for said, names in same.items()]


def overridden(entries: list[case.Entry]) -> list[str]:
    """What the first entry says for all of them, and overrides for those that differ."""
    first = entries[0]
    others = [entry for entry in entries if entry.clauses != first.clauses]
    styled = all(len(entry.clauses) == 1 and entry.clauses[0].startswith(STYLED) for entry in entries)
    if not styled or "parts" in first.clauses[0]:
        return [line(leaf(entry), entry.clauses) for entry in entries]
    names = "{" + ", ".join(leaf(entry) for entry in entries) + "}"
    return [line(names, first.clauses), *(f"override {line(leaf(entry), entry.clauses)}" for entry in others)]


def entry_lines(drawn: case.Case) -> list[str]:
    if drawn.form == FLAT:
        return [line(entry.path, entry.clauses) for entry in drawn.entries]
    lines = []
    for around, entries in grouped(drawn.entries).items():
        if drawn.form == BRACES:
            inner = braced(entries)
        elif drawn.form == OVERRIDES:
            inner = overridden(entries)
        else:
            inner = [line(leaf(entry), entry.clauses) for entry in entries]
        lines += [f"{around} {{", *(f"  {item}" for item in inner), "}"] if around else inner
    return lines


def statement_text(statement: case.Statement) -> str:
    return statement.head + (f" {{ {'; '.join(statement.options)} }}" if statement.options else "")


def plan_text(drawn: case.Case, archive: str, uncovered: bool) -> str:
    """`uncovered` if parameters are left to `rest`."""
    statements = [f'model "{archive}"', "mesh " + ", ".join(f"{name} = {size}" for name, size in drawn.axes)]
    statements += [f"input {name}: [{', '.join(dims)}]" for name, dims in drawn.inputs.items()]
    statements += [f"output {name}: [{', '.join(dims)}]" for name, dims in drawn.outputs.items()]
    if drawn.steps:
        statements += [] if any(each.head.startswith("loss ") for each in drawn.statements) else ["loss loss"]
    statements += map(statement_text, drawn.statements)
    statements += entry_lines(drawn)
    if uncovered:
        statements.append("rest: replicate")
    return "plan random {\n" + "".join(f"  {statement}\n" for statement in statements) + "}\n"
