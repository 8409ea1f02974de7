"""The Python interface of the compiler."""

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

    `errors` and `warnings` are the compiler's messages as dicts with the keys file, line, column, message, notes and
    help; they are empty for `compile`.
    """

    def __init__(
        self, text: str, errors: Sequence[dict[str, Any]] = (), warnings: Sequence[dict[str, Any]] = ()
    ) -> None:
        super().__init__(text)
        self.errors, self.warnings = list(errors), list(warnings)

    def __reduce__(self) -> tuple[Any, ...]:
        # pickle, which sends exceptions from worker processes, recreates them from `args`, which is only the text.
        return type(self), (str(self), self.errors, self.warnings)


class PlanWarning(UserWarning):
    """A warning of the compiler about a plan that it compiles."""


def run(command: str, files: Sequence[File | str], options: Sequence[str]) -> subprocess.CompletedProcess[str]:
    line = [program("meshplan"), command, *options, "--", *(os.fspath(each) for each in files)]
    return subprocess.run(line, capture_output=True, text=True)


def compile_options(variables: Variables | None, device: str, strict: bool, cluster: File | None = None) -> list[str]:
    if not isinstance(variables, Mapping | None):
        raise TypeError(f"variables are a dict such as {{'world': 8}}, not {variables!r}")
    definitions = [word for name, value in (variables or {}).items() for word in ("-D", f"{name}={value}")]
    machines = [] if cluster is None else ["--cluster", os.fspath(cluster)]
    return [*definitions, "--device", device, *(["--strict"] if strict else []), *machines]


def failure(result: subprocess.CompletedProcess[str], report: Mapping[str, Any]) -> PlanError:
    text = result.stderr.strip() or f"meshplan ended with status {result.returncode}"
    return PlanError(text, report.get("errors", []), report.get("warnings", []))


def report_of(command: str, files: Sequence[File | str], options: Sequence[str]) -> dict[str, Any]:
    result = run(command, files, [*options, "--json"])
    try:
        report: dict[str, Any] = json.loads(result.stdout)
    except json.JSONDecodeError:
        report = {}
    if result.returncode != 0:
        raise failure(result, report)
    return report


def written(result: subprocess.CompletedProcess[str], path: Path) -> Path:
    if result.returncode != 0:
        raise failure(result, {})
    if said := result.stderr.strip():
        warnings.warn(said, PlanWarning, stacklevel=3)
    return path


def init(
    model: File,
    mesh: Mapping[str, int] | str | None = None,
    *,
    output: File | None = None,
    source: tuple[str, File] | str | None = None,
    ranks: int | None = None,
    loss: bool | str = False,
    train: bool = False,
    sequence: bool = False,
    force: bool = False,
) -> Path:
    """Drafts a plan for an archive, and returns its path; without `output` the archive's, with .plan.

    `mesh` has axes and their sizes, outermost first, such as {"dp": 2, "tp": 4} or "dp=2,tp=4". `source` is a foreign
    plan to follow: "hf", ("hf", FILE), ("automodel", FILE) or ("megatron", FLAGS). `loss` is True or the name of an
    output; `train` drafts loss, optimizer and data block; with `sequence` norms split the sequence; `force` overwrites
    an existing plan. Raises PlanError if no plan can be drafted; warnings about the draft are PlanWarnings.
    """
    path = Path(model).with_suffix(".plan") if output is None else Path(output)
    options = ["-o", str(path)]
    if mesh:
        axes = mesh if isinstance(mesh, str) else ",".join(f"{name}={size}" for name, size in mesh.items())
        options += ["--mesh", axes]
    if source is not None:
        options += ["--from", *([source] if isinstance(source, str) else map(os.fspath, source))]
    if ranks is not None:
        options += ["--ranks", str(ranks)]
    if loss:
        options.append("--loss" if loss is True else f"--loss={loss}")
    options += [flag for flag, given in (("--train", train), ("--sequence", sequence), ("--force", force)) if given]
    return written(run("init", [model], options), path)


def check(
    plan: File,
    variables: Variables | None = None,
    *,
    device: str = "cpu",
    strict: bool = False,
    cluster: File | None = None,
) -> dict[str, Any]:
    """The report of `meshplan check --json`: coverage, layouts, memory, communication and time of a rank.

    `variables` are values of axes, of `let` and of `world`, as for `-D`; `device` is cpu or cuda. With `strict`,
    reshards that no statement implies are errors. `cluster` is what times are estimated for: a cluster file, or the
    name of a preset. Raises PlanError if the plan is wrong.
    """
    return report_of("check", [plan], compile_options(variables, device, strict, cluster))


def diff(
    plan: File,
    other: File,
    variables: Variables | None = None,
    *,
    device: str = "cpu",
    strict: bool = False,
    cluster: File | None = None,
) -> dict[str, Any]:
    """The differences between two plans of a model: the report of `meshplan diff --json`. Arguments as for check."""
    return report_of("diff", [plan, other], compile_options(variables, device, strict, cluster))


def explain(
    plan: File, path: str, variables: Variables | None = None, *, device: str = "cpu", strict: bool = False
) -> dict[str, Any]:
    """Why a parameter or an activation has its layout, and which collectives that causes: `meshplan explain --json`.

    `path` names a parameter, a module, an input or an output; PATH:input[0] is what a module reads.
    """
    return report_of("explain", [plan, path], compile_options(variables, device, strict))


def compile(
    plan: File,
    variables: Variables | None = None,
    *,
    output: File | None = None,
    device: str = "cpu",
    strict: bool = False,
    reference: bool = False,
    cluster: File | None = None,
) -> Path:
    """Writes the schedule for meshplan-run, and returns its path; without `output` the plan's, with .sched.

    `reference=True` includes the exported model for one rank, which `meshplan-run verify` needs. Raises PlanError
    if the plan is wrong; warnings of the compiler are PlanWarnings.
    """
    path = Path(plan).with_suffix(".sched") if output is None else Path(output)
    options = [*compile_options(variables, device, strict, cluster), "-o", str(path)]
    options += ["--reference"] if reference else []
    return written(run("compile", [plan], options), path)
