"""Runs of one model under several plans and meshes, to be compared with PyTorch."""

from __future__ import annotations

import argparse
import json
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness import command


@dataclass(frozen=True)
class Run:
    """One plan on one mesh, and the file that its outputs go to."""

    plan: Path
    mesh: str
    output: Path

    @property
    def schedule(self) -> Path:
        return self.output.with_suffix(".sched")


def argument_parser(description: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("model")
    parser.add_argument("--models", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--plan", type=Path, nargs="+", required=True)
    parser.add_argument("--mesh", nargs="+", required=True)
    parser.add_argument("--meshplan", default="meshplan")
    parser.add_argument("--meshplan-run", default="meshplan-run")
    return parser


def add_device(parser: argparse.ArgumentParser) -> None:
    """The option by which compile_command compiles for GPUs."""
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="for which plans are compiled")


def make_model(arguments: argparse.Namespace) -> Path:
    """The archive of the model, made where it is not there."""
    subprocess.run(command("make_models", arguments.models, arguments.model), check=True)
    return arguments.models / f"{arguments.model}.pt2"


def runs_of(arguments: argparse.Namespace, change: Callable[[str], str] = lambda text: text) -> Iterator[Run]:
    """Each plan, with its text changed, on each mesh. The plan may say "model.pt2" for the archive."""
    archive = arguments.models / f"{arguments.model}.pt2"
    arguments.work.mkdir(parents=True, exist_ok=True)
    for plan in arguments.plan:
        copy = arguments.work / plan.name
        copy.write_text(change(plan.read_text().replace("model.pt2", str(archive.resolve()))))
        for mesh in arguments.mesh:
            name = f"{plan.stem}-{mesh.replace('=', '').replace(',', '-')}.safetensors"
            yield Run(copy, mesh, arguments.work / name)


def with_statements(text: str, statements: Sequence[str]) -> str:
    """The text of a plan with more statements, behind its own: lines that messages name stay where they are."""
    end = text.rindex("}")
    return text[:end] + "".join(f"  {statement}\n" for statement in statements) + text[end:]


def autocast_statement(compute: str | None) -> list[str]:
    """The plan's own autocast in a dtype of PyTorch's name."""
    words = {"bfloat16": "bf16", "float16": "f16"}
    return [f"precision {{ compute {words[compute]} }}"] if compute else []


def activations_statement(dtype: str | None) -> list[str]:
    """In which dtype of the language partial sums of activations are sent."""
    return [f"precision {{ activations {dtype} }}"] if dtype else []


def report_of(arguments: argparse.Namespace, run: Run) -> Path:
    """What `check` says of the run, in a file."""
    path = run.output.with_suffix(".json")
    definitions = [f"-D{axis}" for axis in run.mesh.split(",")]
    with path.open("w") as file:
        subprocess.run([arguments.meshplan, "check", run.plan, *definitions, "--json"], check=True, stdout=file)
    return path


def compile_command(arguments: argparse.Namespace, run: Run, options: Sequence[str] = ()) -> list[str | Path]:
    """Makes the run's schedule, for the CPU where there is no --device."""
    definitions = [f"-D{axis}" for axis in run.mesh.split(",")]
    device = ["--device", getattr(arguments, "device", "cpu")]
    return [arguments.meshplan, "compile", run.plan, *definitions, *device, *options, "-o", run.schedule]


def execute(
    arguments: argparse.Namespace,
    run: Run,
    program: str = "forward",
    options: Sequence[str] = (),
    settings: Sequence[str] = (),
) -> dict:
    """Compiles a plan with these options and runs one program of it under these settings, and returns what the run
    reports.
    """
    base = arguments.models / arguments.model
    subprocess.run(compile_command(arguments, run, options), check=True)
    files = ["--weights", f"{base}.safetensors", "--inputs", f"{base}.inputs.safetensors", "--outputs", run.output]
    command = [arguments.meshplan_run, "forward", run.schedule, *files, "--program", program, "--json"]
    command += ["--timeout", "120", *settings]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
