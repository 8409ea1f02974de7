"""Measures a training step of a mixture whose ranks exchange the tokens of their experts, against PyTorch's.

Two ranks with different samples and different experts (`expert dp`). Computing is measured with ranks as threads, and
the loopback gets the rate at which the rows that ranks exchange take the part `EXCHANGED` of a step that does one after
the other. Then ranks over MPI, with the schedules of `SOLVERS`, without halves of the batch and with them, and PyTorch
over Gloo take turns, from the same weights and on the same batch; losses of all steps must agree. A ratio is the median
of the ratios of the turns; the best schedule without halves is that of the least median.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from bench import limited_network, models, overlap_time, table, train_time, training
from bench.arguments import parser
from bench.training import Layout, Result

LAYOUT = Layout("expert dp", 2, data="DDP")
SOLVERS = (training.SOLVER, "search")
HALVES = "overlap { halves }"
EXCHANGED = 0.35
TARGET, HALVES_TARGET = 1.0, 0.85  # of PyTorch's step, and of the best schedule without halves
# Sums in another order may turn the choice of a token between two experts with nearly equal scores.
LOSS_TOLERANCE = 1e-4
MIB = 1 << 20


@dataclass(frozen=True)
class Side:
    name: str
    command: tuple[str, ...]  # of a rank, without the number of steps
    is_pytorch: bool = False
    has_halves: bool = False

    def started(self, steps: int, limited: bool) -> list[str]:
        command = [*self.command, "--steps", str(steps)]
        if self.is_pytorch:
            ranks = ("--nproc-per-node", str(LAYOUT.ranks))
            return [str(training.TORCHRUN), "--standalone", "--local-addr", "localhost", *ranks, *command]
        # Without a limit the ranks are threads.
        return training.over_mpi(LAYOUT.ranks, limited, *command) if limited else command


PYTORCH = Side("PyTorch", ("-m", "bench.torch_experts", "--inputs", "inputs.safetensors"), is_pytorch=True)


def side_of(programs: Path, name: str, schedule: str, has_halves: bool = False) -> Side:
    bench = (str(programs / "meshplan-run"), "bench", schedule, "--program", "step", "--json")
    weights = ("--weights", "weights.safetensors", "--inputs", "inputs.safetensors")
    return Side(name, (*bench, *weights), has_halves=has_halves)


def in_halves(model: models.Model, where: Path) -> models.Model:
    """The same model with a plan that allows halves."""
    plan = where / "mixture_halves.plan"
    plan.write_text(model.plan.read_text().replace("  data ", f"  {HALVES}\n  data ", 1))
    return replace(model, plan=plan)


@dataclass(frozen=True)
class Measured:
    result: Result
    exposed: float = 0.0  # seconds that the slowest rank waits in the last step


Turn = dict[Side, Measured]


def run(side: Side, where: Path, steps: int, network: limited_network.Network | None = None) -> Measured:
    """Without a network the ranks are threads."""
    trace = where / "experts.trace.json"
    options = () if side.is_pytorch else ("--trace", str(trace))
    command = [*(network.prefix() if network else ()), *side.started(steps, network is not None), *options]
    result = training.run_command(command, where)
    return Measured(result, 0.0 if side.is_pytorch else overlap_time.exposed_seconds(json.loads(trace.read_text())))


def take_turns(sides: tuple[Side, ...], rounds: int, run_one: Callable[[Side], Measured]) -> list[Turn]:
    turns = []
    for number in range(rounds):
        turn = {side: run_one(side) for side in sides}
        training.check_losses([(side.name, each.result.losses) for side, each in turn.items()], LOSS_TOLERANCE)
        seconds = ", ".join(f"{side.name} {measured.result.seconds:.3f} s" for side, measured in turn.items())
        print(f"turn {number + 1}: {seconds}", file=sys.stderr, flush=True)
        turns.append(turn)
    return turns


def exchanged_bytes(report: dict) -> int:
    """Bytes that all ranks exchange in a step, of the report of `check`, which counts bytes sent and received."""
    moved = (each for group in report["communicators"] for each in group["collectives"])
    return sum(each["bytes"] for each in moved if each["kind"] == "all_to_all") * LAYOUT.ranks // 2


def median_ratio(turns: list[Turn], side: Side, other: Side) -> float:
    return statistics.median([turn[side].result.seconds / turn[other].result.seconds for turn in turns])


def row(side: Side, turns: list[Turn], exchange: float) -> table.Row:
    """`exchange`: seconds that the rows of a step take at the rate of the loopback."""

    def seconds(side: Side) -> float:
        return statistics.median([turn[side].result.seconds for turn in turns])

    best = min((each for each in turns[0] if not each.is_pytorch and not each.has_halves), key=seconds)
    return {
        "side": side.name,
        "step s": seconds(side),
        "of PyTorch": median_ratio(turns, side, PYTORCH),
        "target": "" if side.is_pytorch else str(TARGET),
        "of the best without halves": median_ratio(turns, side, best),
        "its target": str(HALVES_TARGET) if side.has_halves else "",
        "exchange s": exchange,
        "exchange of step": exchange / seconds(side),
        "exposed s": "-" if side.is_pytorch else statistics.median([turn[side].exposed for turn in turns]),
        "peak MiB": "-" if side.is_pytorch else max(turn[side].result.peak for turn in turns) / MIB,
    }


def main() -> None:
    arguments = parser(__doc__, rounds=3, steps=3).parse_args()
    model = models.mixture(batch=4, sequence=512)
    where = models.export(model, arguments.folder).resolve()
    programs = arguments.programs
    cluster = train_time.calibrate(programs, where, LAYOUT.ranks)
    on = ("--cluster", str(cluster))
    train_time.compile_schedule(model, programs, where, LAYOUT, *on, "-o", "threads.sched")
    computing = run(side_of(programs, "threads", "threads.sched"), where, arguments.steps).result.seconds
    exchanged = exchanged_bytes(train_time.checked(model, programs, where, LAYOUT, *on))
    rate = overlap_time.rate_of(exchanged, computing * EXCHANGED / (1 - EXCHANGED))
    exchange = exchanged / limited_network.bytes_per_second(rate)
    try:
        with limited_network.limited(rate) as network:
            overlap = overlap_time.measured_overlap(programs, where, LAYOUT.ranks, network)
            limited = ("--cluster", str(train_time.limited_cluster(cluster, rate, overlap)))
            sides = []
            for form in (model, in_halves(model, where)):
                for solver in SOLVERS:
                    schedule = f"{form.plan.stem}-{solver}.sched"
                    options = (*limited, "--schedule", solver, "-o", schedule)
                    train_time.compile_schedule(form, programs, where, LAYOUT, *options)
                    name = f"mpi {solver}" + (" halves" if form != model else "")
                    sides.append(side_of(programs, name, schedule, has_halves=form != model))
            turns = take_turns(
                (*sides, PYTORCH), arguments.rounds, lambda side: run(side, where, arguments.steps, network)
            )
    except limited_network.NotAllowed as missing:
        print(f"skipped: the loopback cannot be limited: {missing}")
        return
    print(f"computing {computing:.3f} s, loopback of {rate}")
    table.report([row(side, turns, exchange) for side in (*sides, PYTORCH)], arguments.json)


if __name__ == "__main__":
    main()
