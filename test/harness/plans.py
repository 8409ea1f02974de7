"""Texts of plans, and runs of one model under several plans and meshes."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from harness import command
from harness.programs import Command, report, run


class Files(NamedTuple):
    """What is exported of a model."""

    archive: Path
    weights: Path
    inputs: Path

    def options(self, outputs: Path | str) -> list[str | Path]:
        """Of `meshplan-run forward`."""
        return ["--weights", self.weights, "--inputs", self.inputs, "--outputs", outputs]


def files_of(folder: Path, model: str) -> Files:
    return Files(*(folder / f"{model}{ending}" for ending in (".pt2", ".safetensors", ".inputs.safetensors")))


def made_files(arguments: argparse.Namespace, model: str | None = None) -> Files:
    """Those of the model of a command line, made where they are not there."""
    name = model or arguments.model
    run(command("make_models", arguments.models, name))
    return files_of(arguments.models, name)


@dataclass(frozen=True)
class Run:
    """One plan on one mesh, and the file that its outputs go to."""

    plan: Path
    mesh: str
    output: Path

    @property
    def schedule(self) -> Path:
        return self.output.with_suffix(".sched")

    @property
    def definitions(self) -> list[str]:
        """Options of the compiler that say the mesh."""
        return [f"-D{axis}" for axis in self.mesh.split(",")]


def sizes_of(mesh: str) -> dict[str, int]:
    """`dp=2,tp=3` by axis."""
    return {axis: int(size) for axis, size in (word.split("=") for word in mesh.split(","))}


def runs_of(arguments: argparse.Namespace, change: Callable[[str], str] = lambda text: text) -> Iterator[Run]:
    """Each plan, with its text changed, on each mesh. The plan may say "model.pt2" for the archive."""
    archive = files_of(arguments.models, arguments.model).archive
    arguments.work.mkdir(parents=True, exist_ok=True)
    for plan in arguments.plan:
        copy = arguments.work / plan.name
        copy.write_text(change(plan.read_text().replace("model.pt2", str(archive.resolve()))))
        for mesh in arguments.mesh:
            name = f"{plan.stem}-{mesh.replace('=', '').replace(',', '-')}.safetensors"
            yield Run(copy, mesh, arguments.work / name)


def with_statements(text: str, statements: Sequence[str]) -> str:
    """The text of a plan with more statements, after its own: lines that messages name stay where they are."""
    end = text.rindex("}")
    return text[:end] + "".join(f"  {statement}\n" for statement in statements) + text[end:]


def autocast_statement(compute: str | None) -> list[str]:
    """The plan's own autocast in a dtype of PyTorch's name."""
    words = {"bfloat16": "bf16", "float16": "f16"}
    return [f"precision {{ compute {words[compute]} }}"] if compute else []


def activations_statement(dtype: str | None) -> list[str]:
    """In which dtype of the language partial sums of activations are sent."""
    return [f"precision {{ activations {dtype} }}"] if dtype else []


def that_trains(text: str, loss: str, has_more: bool, statements: Sequence[str]) -> str:
    """The text of a plan that trains: `loss` and `optimizer` are added where they are missing, and `rest` where the
    model `has_more` parameters than the plan may know of."""
    added = list(statements)
    if not re.search(r"^  loss ", text, re.MULTILINE):
        added.append(f"loss {loss}")
    if not re.search(r"^  optimizer ", text, re.MULTILINE):
        added.append("optimizer sgd { lr 0.1 }")
    if has_more and not re.search(r"^  rest:", text, re.MULTILINE):
        added.append("rest: replicate")
    return with_statements(text, added)


def numbers_of(options: Iterable[str]) -> dict[str, float]:
    """Numbers of an optimizer: `lr 0.1`, `betas (0.9, 0.95)`, `nesterov`. Groups are left out."""
    numbers: dict[str, float] = {}
    for words in (re.sub(r"[(),]", " ", text).split() for text in options):
        if words[0] == "betas":
            numbers["beta1"], numbers["beta2"] = float(words[1]), float(words[2])
        elif words[0] != "group":
            numbers[words[0]] = float(words[1]) if len(words) > 1 else 1.0
    return numbers


def cluster_option(arguments: argparse.Namespace) -> list[str | Path]:
    """The machines that schedules are made for, where --cluster says it."""
    cluster = getattr(arguments, "cluster", None)
    return ["--cluster", cluster] if cluster else []


def check_report(arguments: argparse.Namespace, run: Run, options: Sequence[str] = ()) -> dict:
    """What `check` reports about the run."""
    cluster = cluster_option(arguments)
    return report([arguments.meshplan, "check", run.plan, *run.definitions, *cluster, *options, "--json"])


def compile_command(arguments: argparse.Namespace, run: Run, options: Sequence[str] = ()) -> list[str | Path]:
    """Makes the run's schedule, for the CPU where there is no --device."""
    machine = ["--device", getattr(arguments, "device", "cpu"), *cluster_option(arguments)]
    return [arguments.meshplan, "compile", run.plan, *run.definitions, *machine, *options, "-o", run.schedule]


def compile_run(arguments: argparse.Namespace, each: Run, options: Sequence[str] = ()) -> None:
    run(compile_command(arguments, each, options))


def seed_setting(seed: int | None) -> list[str]:
    """Of `meshplan-run` and `run-steps`."""
    return [] if seed is None else ["--set", f"seed={seed}"]


def execute(
    arguments: argparse.Namespace,
    each: Run,
    program: str = "forward",
    options: Sequence[str] = (),
    settings: Command = (),
) -> dict:
    """Compiles a plan with these options and runs one program of it under these settings; what the run reports."""
    compile_run(arguments, each, options)
    files = files_of(arguments.models, arguments.model).options(each.output)
    forward = [arguments.meshplan_run, "forward", each.schedule, *files, "--program", program, "--json"]
    return report([*forward, "--timeout", "120", *settings])
