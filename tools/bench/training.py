"""The contestants of a comparison of training steps, and how each is started."""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from bench import models

HARNESS = models.ROOT / "test" / "harness"
TORCHRUN = Path(sys.executable).with_name("torchrun")
LOSS_TOLERANCE = 1e-5  # float32, sums in another order
# Between processes of one machine MPI would otherwise use shared memory instead of the loopback.
OVER_TCP = ("--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lo")


SOLVER = "list"  # the default of the compiler


@dataclass(frozen=True)
class Layout:
    name: str
    ranks: int
    tensor_parallel: int = 1
    data: str = "ZeRO-3"  # how ranks with different samples share parameters, gradients and optimizer

    def schedule(self, solver: str = SOLVER) -> str:
        return f"{self.ranks}-ranks-{self.data}-{solver}.sched"

    @property
    def definitions(self) -> list[str]:
        # A plan without tensor parallelism need not have the axis.
        split = [] if self.tensor_parallel == 1 else [f"-Dtp={self.tensor_parallel}"]
        return [f"-Dworld={self.ranks}", *split]


ONE = Layout("one", 1)
DATA = Layout("dp = 2", 2)
BOTH = Layout("dp = 2, tp = 3", 6, 3)


@dataclass(frozen=True)
class Result:
    seconds: float  # median of a step
    losses: list[float]  # of every step
    peak: int = 0  # bytes of the rank of meshplan-run that holds most


def over_mpi(ranks: int, limited: bool, *command: str) -> list[str]:
    """The command as ranks under mpirun; on a limited network they use TCP, not shared memory."""
    over = [f"--mpirun={argument}" for argument in OVER_TCP] if limited else []
    return [sys.executable, str(HARNESS), "run_mpi", str(ranks), *over, "--", *command]


@dataclass(frozen=True)
class Contestant:
    side: str  # PyTorch, or a backend of meshplan-run
    layout: Layout
    solver: str = SOLVER  # that orders the schedule of meshplan-run

    @property
    def name(self) -> str:
        return f"{self.side} on ranks {self.layout.name}"

    @property
    def is_pytorch(self) -> bool:
        return self.side == "PyTorch"

    def command(self, programs: Path, steps: int, limited: bool) -> list[str]:
        ranks = str(self.layout.ranks)
        if self.is_pytorch:
            step = ["-m", "bench.torch_step", "--inputs", "inputs.safetensors", "--steps", str(steps)]
            step += ["--tensor-parallel", str(self.layout.tensor_parallel), "--data", self.layout.data]
            if self.layout == ONE:
                return [sys.executable, *step]
            return [str(TORCHRUN), "--standalone", "--local-addr", "localhost", "--nproc-per-node", ranks, *step]
        bench = [
            str(programs / "meshplan-run"),
            "bench",
            self.layout.schedule(self.solver),
            "--program",
            "step",
            "--json",
        ]
        bench += ["--weights", "weights.safetensors", "--inputs", "inputs.safetensors", "--steps", str(steps)]
        if self.side == "threads":
            return bench
        return over_mpi(self.layout.ranks, limited, *bench)


def result_of(report: dict) -> Result:
    """The result of what either side prints."""
    seconds = report["step_seconds"]["median"] if "step_seconds" in report else statistics.median(report["seconds"])
    ranks = report.get("memory", {}).get("ranks", [])
    return Result(seconds, report["losses"], max((rank["peak"] for rank in ranks), default=0))


def run(
    contestant: Contestant,
    programs: Path,
    where: Path,
    steps: int,
    prefix: tuple[str, ...] = (),
    options: tuple[str, ...] = (),
) -> Result:
    """Runs a first step that is not measured, then `steps`. `prefix` is the beginning of the command, `options` are
    added to its end."""
    return run_command([*prefix, *contestant.command(programs, steps, limited=bool(prefix)), *options], where)


def run_command(command: list[str], where: Path) -> Result:
    # Gloo would otherwise look up the address of the machine's name.
    environment = os.environ | {"GLOO_SOCKET_IFNAME": "lo"}
    done = subprocess.run(command, cwd=where, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: status {done.returncode}\n{done.stderr}")
    return result_of(json.loads(done.stdout))


def check_losses(losses: list[tuple[str, list[float]]], tolerance: float = LOSS_TOLERANCE) -> None:
    """Checks that all contestants, each with its name, train the same model on the same batch."""
    (first, expected), *others = losses
    for name, found in others:
        pairs = zip(found, expected, strict=True)
        if not all(math.isclose(a, b, rel_tol=tolerance) for a, b in pairs):
            raise RuntimeError(f"{name} has the losses {found}, {first} has {expected}")
