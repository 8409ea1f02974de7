"""Runs schedules that another check has left once more, and holds them against what they wrote the first time.

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
import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from harness import command

TIMEOUT = 600  # seconds
STEM = re.compile(r"(?P<model>\w+?)-(?P<mesh>(?:[a-z]+\d+-?)+?)(?:-sequence)?")


def ranks(mesh: str) -> int:
    """Of a mesh as file names have it, such as dp2-tp3."""
    return math.prod(int(size) for size in re.findall(r"\d+", mesh))


def forward_command(arguments: argparse.Namespace, schedule: Path, model: str, world: int, output: Path) -> list:
    base = arguments.models / model
    files = ["--weights", f"{base}.safetensors", "--inputs", f"{base}.inputs.safetensors", "--outputs", output]
    forward = [arguments.meshplan_run, "forward", schedule, *files, "--backend", "mpi", "--timeout", "120"]
    return command("run_mpi", str(world), "--", *forward)


def training_command(arguments: argparse.Namespace, schedule: Path, output: Path) -> list:
    settings = [] if arguments.seed is None else ["--set", f"seed={arguments.seed}"]
    batches = sorted(schedule.parent.glob("batch*.safetensors"))
    weights = f"{arguments.models / arguments.training}.safetensors"
    return [arguments.steps_program, *settings, schedule, weights, output, *batches]


def differs(command: list, schedule: Path, output: Path) -> str:
    """What is wrong with the second run; empty if its file is that of the first."""
    output.unlink(missing_ok=True)
    result = subprocess.run(
        command, capture_output=True, text=True, timeout=TIMEOUT, env=os.environ | {"OMP_NUM_THREADS": "1"}
    )
    if result.returncode != 0:
        return f"status {result.returncode}: {result.stderr.strip()}"
    same = output.read_bytes() == schedule.with_suffix(".safetensors").read_bytes()
    output.unlink()
    return "" if same else "other bits"


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--meshplan-run", default="meshplan-run")
    parser.add_argument("--training", metavar="MODEL")
    parser.add_argument("--seed", type=int, help="that the training was given")
    parser.add_argument("--steps-program", default="run-steps")
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
