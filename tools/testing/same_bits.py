#!/usr/bin/env python3
"""Runs schedules that model_table.py has left as processes under mpirun, and holds them against the ranks as threads.

  same_bits.py --models DIR --work DIR [--meshplan-run P] [--match REGEX]

DIR are the folders that model_table.py was given. Every schedule whose name the expression matches, and whose outputs
lie beside it, must write the same file again. Prints a line for each; status 1 if one differs or does not run, or none
is there.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import subprocess
import sys
from pathlib import Path

TIMEOUT = 600  # seconds
RUN_MPI = Path(__file__).with_name("run_mpi.py")
STEM = re.compile(r"(?P<model>\w+?)-(?P<mesh>(?:[a-z]+\d+-?)+?)(?:-sequence)?")


def ranks(mesh: str) -> int:
    """Of a mesh as file names have it, such as dp2-tp3."""
    return math.prod(int(size) for size in re.findall(r"\d+", mesh))


def differs(arguments: argparse.Namespace, schedule: Path, model: str, world: int) -> str:
    """What is wrong with the run as processes; empty if its file is that of the threads."""
    base, output = arguments.models / model, schedule.with_suffix(".mpi")
    output.unlink(missing_ok=True)
    files = ["--weights", f"{base}.safetensors", "--inputs", f"{base}.inputs.safetensors", "--outputs", output]
    forward = [arguments.meshplan_run, "forward", schedule, *files, "--backend", "mpi", "--timeout", "120"]
    result = subprocess.run(
        [sys.executable, RUN_MPI, str(world), "--", *forward],
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    if result.returncode != 0:
        return f"status {result.returncode}: {result.stderr.strip()}"
    same = output.read_bytes() == schedule.with_suffix(".safetensors").read_bytes()
    output.unlink()
    return "" if same else "other bits"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--meshplan-run", default="meshplan-run")
    parser.add_argument("--match", default="")
    arguments = parser.parse_args()
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
        problem = differs(arguments, schedule, stem["model"], ranks(stem["mesh"]))
        wrong += bool(problem)
        print(f"{schedule.stem}: {problem or 'same'}", flush=True)
    print(f"{runs} schedules, {wrong} wrong")
    return 0 if runs and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
