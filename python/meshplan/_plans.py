"""What Python asks of the compiler."""

from __future__ import annotations

import json
import os
import subprocess
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from meshplan._programs import program

File = str | os.PathLike[str]
Variables = Mapping[str, object]


class PlanError(Exception):
    """A plan, or the model that it names, is wrong. The text is what the compiler prints.

    `errors` and `warnings` are those messages as dicts with the keys file, line, column, message, notes and help; of
    `compile` they are empty.
    """

    def __init__(
        self, text: str, errors: Sequence[dict[str, Any]] = (), warnings: Sequence[dict[str, Any]] = ()
    ) -> None:
        super().__init__(text)
        self.errors, self.warnings = list(errors), list(warnings)

    def __reduce__(self) -> tuple[Any, ...]:
        # Exceptions are made anew from `args`, which is the text alone, where a worker process sends them.
        return type(self), (str(self), self.errors, self.warnings)


class PlanWarning(UserWarning):
    """What the compiler prints of a plan that it compiles."""


def run(command: str, plan: File, variables: Variables | None, options: list[str]) -> subprocess.CompletedProcess[str]:
    if not isinstance(variables, Mapping | None):
        raise TypeError(f"variables are a dict such as {{'world': 8}}, not {variables!r}")
    definitions = [word for name, value in (variables or {}).items() for word in ("-D", f"{name}={value}")]
    line = [program("meshplan"), command, *definitions, *options, "--", os.fspath(plan)]
    return subprocess.run(line, capture_output=True, text=True)


def failure(result: subprocess.CompletedProcess[str], report: Mapping[str, Any]) -> PlanError:
    text = result.stderr.strip() or f"meshplan ended with status {result.returncode}"
    return PlanError(text, report.get("errors", []), report.get("warnings", []))


def check(
    plan: File, variables: Variables | None = None, *, device: str = "cpu", strict: bool = False
) -> dict[str, Any]:
    """The report of `meshplan check --json`: coverage, layouts, memory, communication and time of a rank.

    `variables` are values of axes, of `let` and of `world`, as `-D` gives them; `device` is cpu or cuda. With `strict`,
    what no statement asks for is an error. Raises PlanError when the plan is wrong.
    """
    result = run("check", plan, variables, ["--json", "--device", device, *(["--strict"] if strict else [])])
    try:
        report: dict[str, Any] = json.loads(result.stdout)
    except json.JSONDecodeError:
        report = {}
    if result.returncode != 0:
        raise failure(result, report)
    return report


def compile(
    plan: File,
    variables: Variables | None = None,
    *,
    output: File | None = None,
    device: str = "cpu",
    strict: bool = False,
    reference: bool = False,
) -> Path:
    """Writes the schedule that meshplan-run takes, and returns its path; without `output` the plan's, with .sched.

    `reference=True` keeps the model as it was exported beside it, which `meshplan-run verify` needs. Raises PlanError
    when the plan is wrong; what the compiler warns of is a PlanWarning.
    """
    path = Path(plan).with_suffix(".sched") if output is None else Path(output)
    flags = [flag for flag, given in (("--strict", strict), ("--reference", reference)) if given]
    result = run("compile", plan, variables, ["--device", device, *flags, "-o", str(path)])
    if result.returncode != 0:
        raise failure(result, {})
    if said := result.stderr.strip():
        warnings.warn(said, PlanWarning, stacklevel=2)
    return path
