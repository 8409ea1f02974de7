"""Runs schedules that another check has left again, and holds them against what they wrote the first time.

  harness same_bits --models DIR --work DIR [--meshplan-run P] [--match REGEX]
  harness same_bits --models DIR --work DIR --training MODEL [--seed N] [--steps-program P] [--match REGEX]

Without --training DIR are the folders that survey/model_table.py was given: the ranks, which were threads, are
processes under mpirun. With it they are those of trainings/training.py: the same training of MODEL, on the batches that
lie there. Every schedule whose name the expression matches, and whose outputs lie beside it, must write the same file
again. Prints a line for each; status 1 if one differs or does not run, or none is there.
"""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Sequence
from pathlib import Path

from harness import command
from harness.arguments import parser_of
from harness.plans import files_of
from harness.programs import ONE_THREAD, call
from harness.trainings.steps import steps_command

STEM = re.compile(r"(?P<model>\w+?)-(?P<mesh>(?:[a-z]+\d+-?)+?)(?:-sequence)?")


def ranks(mesh: str) -> int:
    """Of a mesh as file names have it, such as dp2-tp3."""
    return math.prod(int(size) for size in re.findall(r"\d+", mesh))


def forward_command(arguments: argparse.Namespace, schedule: Path, model: str, world: int, output: Path) -> list:
    files = files_of(arguments.models, model).options(output)
    forward = [arguments.meshplan_run, "forward", schedule, *files, "--backend", "mpi", "--timeout", "120"]
    return command("run_mpi", str(world), "--", *forward)


def training_command(arguments: argparse.Namespace, schedule: Path, output: Path) -> list:
    arguments.model = arguments.training
    return steps_command(arguments, schedule, output, sorted(schedule.parent.glob("batch*.safetensors")))


def differs(command: list, schedule: Path, output: Path) -> str:
    """What is wrong with the second run; empty if its file is that of the first."""
    output.unlink(missing_ok=True)
    result = call(command, environment=ONE_THREAD)
    if result.returncode != 0:
        return f"status {result.returncode}: {result.stderr.strip()}"
    same = output.read_bytes() == schedule.with_suffix(".safetensors").read_bytes()
    output.unlink()
    return "" if same else "other bits"


def main(words: Sequence[str]) -> int:
    parser = parser_of(__doc__, "folders", "programs")
    parser.add_argument("--training", metavar="MODEL")
    parser.add_argument("--seed", type=int, help="that the training was given")
    parser.add_argument("--match", default="")
    arguments = parser.parse_args(words)
    runs = wrong = 0
    for schedule in sorted(arguments.work.glob("*.sched")):
        stem = STEM.fullmatch(schedule.stem)
        if (
            not stem
            or not re.search(arguments.match, schedule.stem)
            or not schedule.with_suffix(".safetensors").exists()
        ):
            continue
        runs += 1
        output = schedule.with_suffix(".again")
        if arguments.training:
            command = training_command(arguments, schedule, output)
        else:
            command = forward_command(arguments, schedule, stem["model"], ranks(stem["mesh"]), output)
        problem = differs(command, schedule, output)
        wrong += bool(problem)
        print(f"{schedule.stem}: {problem or 'same'}", flush=True)
    print(f"{runs} schedules, {wrong} wrong")
    return 0 if runs and not wrong else 1
