"""Measures `meshplan compile`: wall time, processor time and peak memory of the process, beside the targets.

The targets apply to a release build on an idle machine of 2 cores; missing one is not an error.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

# This process does not import torch and so stays small: the system counts its size into the peak of its children.
from bench import models, table
from bench.arguments import parser


@dataclass(frozen=True)
class Case:
    model: models.Model
    world: int
    seconds: float  # target of the wall time
    mebibytes: int | None  # target of the peak memory


@dataclass(frozen=True)
class Cost:
    wall: float  # seconds
    processor: float  # seconds
    peak: float  # MiB


LLAMA = models.llama70b(batch=2048, sequence=4096)
LLAMA_STEP = models.llama70b_step(batch=2048, sequence=4096)
CASES = (
    Case(models.smollm2(batch=4, sequence=96), 6, 1.0, None),
    Case(LLAMA, 8, 5.0, 1024),
    Case(LLAMA, 16384, 5.0, 1024),
    Case(LLAMA_STEP, 8, 8.0, None),
    Case(LLAMA_STEP, 16384, 8.0, None),
)


def cost_of(command: list[str], folder: Path) -> Cost:
    begin = time.monotonic()
    process = subprocess.Popen(command, cwd=folder)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.monotonic() - begin
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, command)
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def measure(case: Case, programs: Path, folder: Path, runs: int) -> table.Row:
    where = models.export(case.model, folder)
    command = [str(programs / "meshplan"), "compile", case.model.plan.name, "-D", f"world={case.world}"]
    costs = [cost_of([*command, "-o", "bench.sched"], where) for _ in range(runs)]
    return {
        "model": case.model.name,
        "ranks": case.world,
        "median s": statistics.median(cost.wall for cost in costs),
        "least s": min(cost.wall for cost in costs),
        "cpu s": min(cost.processor for cost in costs),
        "target s": case.seconds,
        "peak MiB": max(cost.peak for cost in costs),
        "target MiB": case.mebibytes or "-",
        "schedule KiB": (where / "bench.sched").stat().st_size // 1024,
    }


def main() -> None:
    arguments = parser(__doc__, runs=5).parse_args()
    rows = [measure(case, arguments.programs, arguments.folder, arguments.runs) for case in CASES]
    table.report(rows, arguments.json)


if __name__ == "__main__":
    main()
