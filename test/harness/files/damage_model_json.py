"""Damages each kind of entry in the JSON of an exported model, and checks what the compiler makes of it.

    harness damage_model_json MESHPLAN PLAN MODEL.pt2 [--most N]

PLAN names its model `damaged.pt2`. Every member of model.json and of the tables of weights and constants is deleted,
written twice, given another kind and values out of range, one at a time; entries that differ only in an index or in a
name of the model count as one. For each, `meshplan check` must end with status 0 or 1 after at most 5 seconds of
computing, and status 1 must come with an error. --most N takes a sample of N, the same in each run.
"""

from __future__ import annotations

import copy
import json
import os
import random
import resource
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.arguments import parser_of
from harness.files.damage_archive import copy_archive

Json = dict[str, Any] | list[Any] | str | float | bool | None

LIMIT_SECONDS = 5
# Members whose keys are names of the model.
TABLES = {"tensor_values", "sym_int_values", "sym_bool_values", "range_constraints", "config"}
VALUES: list[Json] = [None, True, -1, 3, 2**31, 2**62, 2**64, 1.5, "", "x", "Infinity", [], [[]], {}, {"as_int": -1}]
UNIONS: list[tuple[str, Json]] = [
    ("as_none", []),
    ("as_int", 1),
    ("as_int", -(2**63)),
    ("as_ints", [1 << 40, 1 << 40]),
    ("as_float", 0.5),
    ("as_bool", True),
    ("as_string", "x"),
    ("as_tensors", []),
    ("as_sym_int", {"as_name": "nothing"}),
    ("as_expr", {"expr_str": "Mul(Integer(2), Symbol('s9'))", "hint": None}),
]


@dataclass(frozen=True)
class Damage:
    member: str
    path: tuple[str | int, ...]
    what: str
    value: Json = None

    def apply(self, document: Json) -> None:
        *way, key = self.path
        for step in way:
            document = document[step]
        if self.what == "delete":
            del document[key]
        elif self.what == "twice":
            document.insert(key, copy.deepcopy(document[key]))
        else:
            document[key] = self.value

    def __str__(self) -> str:
        return f"{self.member}: {'.'.join(map(str, self.path))}: {self.what} {json.dumps(self.value)}"


def meaning_of(element: Json, in_node: bool) -> str:
    """Distinguishes the elements of an array that differ in meaning: arguments by operator and name, unions by kind."""
    if not isinstance(element, dict):
        return ""
    if in_node:
        return str(element.get("target", element.get("name", "")))
    return next(iter(element)) if len(element) == 1 else ""


def kind_of_place(node: Json, path: tuple[str | int, ...]) -> Iterator[tuple[str, tuple[str | int, ...], Json]]:
    """(kind, path, value) of each node below `node`."""
    stack: list[tuple[str, tuple[str | int, ...], Json]] = [("", path, node)]
    while stack:
        kind, path, node = stack.pop()
        if path:
            yield kind, path, node
        if isinstance(node, dict):
            is_table = bool(path) and path[-1] in TABLES
            for key, value in node.items():
                stack.append((f"{kind}.{'*' if is_table else key}", (*path, key), value))
        elif isinstance(node, list):
            for index, value in enumerate(node):
                own = meaning_of(value, "nodes" in path)
                stack.append((f"{kind}[{own}]", (*path, index), value))


def damages(member: str, document: Json) -> Iterator[Damage]:
    seen: set[str] = set()
    for kind, path, node in kind_of_place(document, ()):
        if kind in seen:
            continue
        seen.add(kind)
        yield Damage(member, path, "delete")
        if isinstance(path[-1], int):
            yield Damage(member, path, "twice")
        for value in VALUES:
            yield Damage(member, path, "set", value)
        if isinstance(node, dict) and len(node) == 1 and next(iter(node)).startswith("as_"):
            for name, value in UNIONS:
                yield Damage(member, path, "set", {name: value})


def problem_with(command: list[str], folder: Path) -> str | None:
    """What is wrong with a run of the compiler, or None."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_SECONDS, LIMIT_SECONDS))

    try:
        # The time by the clock depends on what else the machine does.
        run = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=60, preexec_fn=limit
        )
    except subprocess.TimeoutExpired:
        return "does not end"
    if run.returncode not in (0, 1):
        last = run.stderr.strip().splitlines()[-1:] or [""]
        return f"ends with status {run.returncode}: {last[0]}"
    if run.returncode == 1 and "error: " not in run.stderr:
        return "fails without an error"
    return None


def main(words: Sequence[str]) -> int:
    parser = parser_of(__doc__)
    parser.add_argument("meshplan", type=Path)
    parser.add_argument("plan", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("--most", type=int)
    arguments = parser.parse_args(words)

    with zipfile.ZipFile(arguments.model) as archive:
        documents = {name: archive.read(name) for name in archive.namelist() if name.endswith(".json")}
    cases = [damage for name, text in documents.items() for damage in damages(name, json.loads(text))]
    if arguments.most is not None and arguments.most < len(cases):
        cases = random.Random(0).sample(cases, arguments.most)

    def check(damage: Damage) -> str | None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "case.plan").write_bytes(arguments.plan.read_bytes())
            document = json.loads(documents[damage.member])
            damage.apply(document)
            text = json.dumps(document).encode()
            copy_archive(
                arguments.model, folder / "damaged.pt2", lambda name, old: text if name == damage.member else old
            )
            problem = problem_with([str(arguments.meshplan.resolve()), "check", "case.plan"], folder)
        return f"{damage}: {problem}" if problem else None

    wrong = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for problem in pool.map(check, cases):
            if problem:
                wrong += 1
                print(problem, flush=True)
    print(f"{len(cases)} damaged archives, {wrong} with a wrong end")
    return 1 if wrong else 0
