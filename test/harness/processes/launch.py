"""Starts the ranks of a schedule for cuda as every launcher does, on a machine without a GPU.

  harness launch --archive F.pt2 --plan P.plan --work FOLDER

What fails is the GPU, and nothing before it: the ranks have found each other by then. Every rank says what is wrong
with their number, their schedules, a rank that is missing, the launcher, and the machine.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from harness import command
from harness.arguments import parser_of
from harness.programs import call, run
from harness.verdicts import Failure, run_checks

NO_GPU = "the schedule is for cuda, and this machine has no CUDA device; help: compile with --device cpu"
NO_MPI = (
    "the ranks of a schedule for cpu are processes of MPI or threads of one process, and torchrun starts no MPI; "
    "help: use mpirun -n 4, or start one process, which runs all ranks"
)
RANKS = 4


class Checker:
    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.work = arguments.work
        self.run_program = str(arguments.meshplan_run)
        self.schedule = self.compile("one", RANKS)

    def compile(self, name: str, tp: int, change: tuple[str, str] = ("", ""), device: str = "cuda") -> str:
        plan, schedule = self.work / f"{name}.plan", self.work / f"{name}.sched"
        text = self.arguments.plan.read_text().replace("model.pt2", str(self.arguments.archive.resolve()))
        plan.write_text(text.replace(*change))
        run([self.arguments.meshplan, "compile", plan, "--device", device, f"-Dtp={tp}", "-o", schedule])
        return str(schedule)

    def bench(self, schedule: str, timeout: int = 60) -> list[str]:
        return [self.run_program, "bench", schedule, "--timeout", str(timeout)]

    def run(self, command: list[str]) -> tuple[subprocess.CompletedProcess[str], list[str]]:
        """The lines of the ranks too."""
        result = call(command, seconds=250, environment={"CUDA_VISIBLE_DEVICES": ""})
        return result, re.findall(r"meshplan-run: error: rank \d+: .*", result.stderr)

    def expect(self, command: list[str], patterns: dict[int, str]) -> None:
        """Each of these ranks prints one line, which matches its pattern, and the run goes wrong."""
        result, lines = self.run(command)
        for rank, pattern in patterns.items():
            own = [line for line in lines if line.startswith(f"meshplan-run: error: rank {rank}: ")]
            if len(own) != 1 or not re.search(pattern, own[0]):
                raise Failure(f"rank {rank}: expected {pattern!r} in\n{result.stderr}")
        if result.returncode == 0 or len(lines) != len(patterns):
            raise Failure(f"status {result.returncode}, {len(patterns)} messages expected in\n{result.stderr}")

    def processes(self, *arguments: str) -> list[str]:
        return [*map(str, command("run_processes", *arguments, "--"))]

    def environment_of_torchrun(self) -> None:
        self.expect([*self.processes(str(RANKS)), *self.bench(self.schedule)], dict.fromkeys(range(RANKS), NO_GPU))

    def environment_of_srun(self) -> None:
        command = [*self.processes(str(RANKS), "--launcher", "slurm"), *self.bench(self.schedule)]
        self.expect(command, dict.fromkeys(range(RANKS), NO_GPU))

    def under_torchrun(self, schedule: str) -> list[str]:
        options = ["--standalone", "--nproc-per-node", str(RANKS), "--no-python"]
        return [str(Path(sys.executable).parent / "torchrun"), *options, *self.bench(schedule)]

    def torchrun(self) -> None:
        """It ends the other ranks when the first has failed; they report before."""
        self.expect(self.under_torchrun(self.schedule), dict.fromkeys(range(RANKS), NO_GPU))

    def torchrun_for_cpu(self) -> None:
        schedule = self.compile("cpu", RANKS, device="cpu")
        self.expect([*self.processes(str(RANKS)), *self.bench(schedule)], dict.fromkeys(range(RANKS), NO_MPI))
        # torchrun may end a rank before it has got so far.
        result, lines = self.run(self.under_torchrun(schedule))
        allowed = {f"meshplan-run: error: rank {rank}: {NO_MPI}" for rank in range(RANKS)}
        if result.returncode == 0 or not lines or len(set(lines)) != len(lines) or not set(lines) <= allowed:
            raise Failure(f"status {result.returncode}\n{result.stderr}")

    def mpirun(self) -> None:
        if not shutil.which("mpirun") or not self.arguments.mpi:
            return
        launched = [*map(str, command("run_mpi", str(RANKS), "--")), *self.bench(self.schedule)]
        self.expect(launched, dict.fromkeys(range(RANKS), NO_GPU))

    def wrong_number_of_processes(self) -> None:
        message = "the schedule is for 4 ranks, but 3 processes were started; help: start one process for each rank"
        self.expect([*self.processes("3"), *self.bench(self.schedule)], dict.fromkeys(range(3), message))

    def different_schedules(self) -> None:
        other = self.compile("other", RANKS, ("colwise tp", "replicate"))
        for rank in range(RANKS):
            shutil.copy(other if rank == 2 else self.schedule, self.work / f"rank{rank}.sched")
        command = [*self.processes(str(RANKS)), *self.bench(str(self.work / "rank{rank}.sched"))]
        self.expect(command, dict.fromkeys(range(RANKS), "rank 2 runs a different program than rank 0: hash "))

    def missing_rank(self) -> None:
        command = [*self.processes(str(RANKS), "--omit", "3"), *self.bench(self.schedule, 15)]
        self.expect(command, dict.fromkeys(range(3), r"time-out after 15 s: .*rank 3 did not arrive"))

    def missing_first_rank(self) -> None:
        command = [*self.processes("2", "--omit", "0"), *self.bench(self.schedule, 2)]
        self.expect(command, {1: r"cannot reach the store at 127.0.0.1:\d+ within 2 s: "})

    def unreadable_schedule(self) -> None:
        """One rank cannot read what the others have, and does not know that it is for cuda."""
        for rank in range(RANKS):
            shutil.copy(self.schedule, self.work / f"read{rank}.sched")
        (self.work / "read1.sched").write_text("no schedule")
        command = [*self.processes(str(RANKS)), *self.bench(str(self.work / "read{rank}.sched"), 10)]
        reason = r"read1\.sched: not a compiled schedule"
        self.expect(command, dict.fromkeys((0, 2, 3), "rank 1 failed: .*" + reason) | {1: reason})


def main(words: Sequence[str]) -> int:
    parser = parser_of(__doc__, "work", "programs")
    parser.add_argument("--archive", type=Path, required=True)
    parser.add_argument("--plan", type=Path, required=True)
    parser.add_argument("--mpi", action="store_true", help="the build has MPI")
    parser.add_argument("--only", nargs="+", help="names of the checks to run")
    arguments = parser.parse_args(words)
    arguments.work.mkdir(parents=True, exist_ok=True)
    checker = Checker(arguments)
    checks = [
        checker.environment_of_torchrun,
        checker.environment_of_srun,
        checker.torchrun,
        checker.torchrun_for_cpu,
        checker.mpirun,
        checker.wrong_number_of_processes,
        checker.different_schedules,
        checker.missing_rank,
        checker.missing_first_rank,
        checker.unreadable_schedule,
    ]
    return run_checks(checks, arguments.only)
