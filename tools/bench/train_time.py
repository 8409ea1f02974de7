"""Measures a training step of ranks against PyTorch's: one process, FSDP2, and FSDP2 with tensor parallelism.

All take turns of a few steps each, from the same weights and on the same batch, so that a change of the machine's load
affects all; a ratio is the median of the ratios of the turns. Losses of all steps must agree. With `--limit RATE`
processes communicate over a loopback of that rate, where the bytes of a step are counted. Targets apply to an idle
machine of 2 cores.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
from collections.abc import Callable
from pathlib import Path

from bench import limited_network, models, table, training
from bench.arguments import parser
from bench.training import BOTH, DATA, ONE, SOLVER, Contestant, Layout, Result

PYTORCH = Contestant("PyTorch", ONE)
DIVIDED = tuple(Contestant("PyTorch", layout) for layout in (DATA, BOTH))
ALL = (
    PYTORCH,
    Contestant("threads", ONE),
    *(Contestant(side, layout) for layout in (DATA, BOTH) for side in ("PyTorch", "threads", "mpi")),
)
MIB = 1 << 20

Turn = dict[Contestant, Result]
Run = Callable[[Contestant], Result]


SOLVERS = ("program", SOLVER)


def compile_schedule(model: models.Model, programs: Path, where: Path, layout: Layout, *options: str) -> None:
    command = [str(programs / "meshplan"), "compile", model.plan.name, *layout.definitions, *options]
    subprocess.run(command, cwd=where, check=True)


def checked(model: models.Model, programs: Path, where: Path, layout: Layout, *options: str) -> dict:
    """The report of `meshplan check`."""
    command = [str(programs / "meshplan"), "check", model.plan.name, "--json", *layout.definitions, *options]
    return json.loads(subprocess.run(command, cwd=where, check=True, stdout=subprocess.PIPE).stdout)


def planned_bytes(report: dict, layout: Layout) -> int:
    """Bytes that all ranks send in a step according to `check`, which counts bytes sent and received."""
    moved = sum(each["bytes"] for group in report["communicators"] for each in group["collectives"])
    return moved * layout.ranks // 2


def calibrate(programs: Path, where: Path, ranks: int) -> Path:
    """A cluster file of this machine with as many ranks."""
    measured = where / f"measured-{ranks}.json"
    command = [str(programs / "meshplan-run"), "calibrate", "-n", str(ranks), "-o", str(measured)]
    subprocess.run(command, check=True)
    return measured


def limited_cluster(measured: Path, rate: str, overlap: dict = limited_network.ALONE, name: str = "limited") -> Path:
    """A cluster file: the computing of `measured`, and a network of this rate."""
    limited = measured.with_name(measured.name.replace("measured", name))
    limited.write_text(
        json.dumps(limited_network.cluster_of(json.loads(measured.read_text()), rate, overlap), indent=2)
    )
    return limited


def take_turns(contestants: tuple[Contestant, ...], rounds: int, run: Run) -> list[Turn]:
    turns = [{contestant: run(contestant) for contestant in contestants} for _ in range(rounds)]
    for turn in turns:
        training.check_losses([(contestant.name, result.losses) for contestant, result in turn.items()])
    return turns


def seconds(turns: list[Turn], contestant: Contestant) -> float:
    return statistics.median(turn[contestant].seconds for turn in turns)


def ratio(turns: list[Turn], contestant: Contestant, other: Contestant) -> float:
    return statistics.median(turn[contestant].seconds / turn[other].seconds for turn in turns)


def target(contestant: Contestant) -> str:
    """The target in words: a factor of one process, or of PyTorch's ranks."""
    if contestant.is_pytorch:
        return ""
    if contestant.side == "mpi":
        return "below 1 of PyTorch's ranks"
    return "1 of one process" if contestant.layout == ONE else "1.10 of one process"


def row(turns: list[Turn], contestant: Contestant) -> table.Row:
    return {
        "side": contestant.side,
        "ranks": contestant.layout.name,
        "step s": seconds(turns, contestant),
        "of one process": ratio(turns, contestant, PYTORCH),
        "of PyTorch's ranks": ratio(turns, contestant, Contestant("PyTorch", contestant.layout)),
        "target": target(contestant),
    }


def measure(programs: Path, where: Path, arguments: argparse.Namespace) -> list[table.Row]:
    turns = take_turns(ALL, arguments.rounds, lambda each: training.run(each, programs, where, arguments.steps))
    return [row(turns, contestant) for contestant in ALL]


def step_bytes(
    contestant: Contestant, programs: Path, where: Path, steps: int, network: limited_network.Network
) -> float:
    """Bytes sent in a step: the difference between a long and a short run, divided by the difference in steps."""
    sent = []
    for count in (1, 1 + steps):
        before = network.sent()
        training.run(contestant, programs, where, count, network.prefix())
        sent.append(network.sent() - before)
    return (sent[1] - sent[0]) / steps


def limited_row(turns: list[Turn], contestant: Contestant, wire: float, report: dict, rate: float) -> table.Row:
    """The lower bound for a step is the longer of computing, measured with threads, and sending.

    `report` is that of `meshplan check --schedule search` for the limited network: its step is the estimate for the
    best order that is known, and the last columns are its parts.
    """
    computing = seconds(turns, Contestant("threads", contestant.layout))
    step = seconds(turns, contestant)
    return {
        "side": contestant.side,
        "schedule": "-" if contestant.is_pytorch else contestant.solver,
        "ranks": contestant.layout.name,
        "step s": step,
        "of PyTorch's ranks": ratio(turns, contestant, Contestant("PyTorch", contestant.layout)),
        "wire MiB": wire / MIB,
        "check MiB": planned_bytes(report, contestant.layout) / MIB,
        "peak MiB": max(turn[contestant].peak for turn in turns) / MIB,
        "sending s": wire / rate,
        "computing s": computing,
        "of the longer": step / max(wire / rate, computing),
        "target": "" if contestant.is_pytorch else "1.05",
        "simulated s": report["time"]["step_ns"] / 1e9,
        "its computing s": report["time"]["compute_ns"] / 1e9,
        "its sending s": report["time"]["communication_ns"] / 1e9,
        "its exposed s": report["time"]["exposed_ns"] / 1e9,
    }


def measure_limited(model: models.Model, programs: Path, where: Path, arguments: argparse.Namespace) -> list[table.Row]:
    racing = tuple(
        each
        for layout in (DATA, BOTH)
        for each in (
            Contestant("PyTorch", layout),
            *(Contestant("mpi", layout, solver) for solver in SOLVERS),
        )
    )
    computing = tuple(Contestant("threads", layout) for layout in (DATA, BOTH))
    reports = {}
    for layout in (DATA, BOTH):
        cluster = ["--cluster", str(limited_cluster(calibrate(programs, where, layout.ranks), arguments.limit))]
        for solver in SOLVERS:
            compile_schedule(
                model, programs, where, layout, *cluster, "--schedule", solver, "-o", layout.schedule(solver)
            )
        reports[layout] = checked(model, programs, where, layout, *cluster, "--schedule", "search")
    with limited_network.limited(arguments.limit) as network:
        wire = {each: step_bytes(each, programs, where, arguments.steps, network) for each in racing}

        def run(contestant: Contestant) -> Result:
            prefix = network.prefix() if contestant in racing else ()
            return training.run(contestant, programs, where, arguments.steps, prefix)

        turns = take_turns((*racing, *computing), arguments.rounds, run)
    rate = limited_network.bytes_per_second(arguments.limit)
    return [limited_row(turns, each, wire[each], reports[each.layout], rate) for each in racing]


def main() -> None:
    arguments_parser = parser(__doc__, rounds=5, steps=3)
    arguments_parser.add_argument("--limit", metavar="RATE", help="of the loopback between processes: 1gbit")
    arguments = arguments_parser.parse_args()
    model = models.smollm2_8(batch=4, sequence=256)
    where = models.export(model, arguments.folder).resolve()
    if arguments.limit is None:
        for layout in (ONE, DATA, BOTH):
            compile_schedule(model, arguments.programs, where, layout, "-o", layout.schedule())
        rows = measure(arguments.programs, where, arguments)
    else:
        try:
            rows = measure_limited(model, arguments.programs, where, arguments)
        except limited_network.NotAllowed as missing:
            print(f"skipped: the loopback cannot be limited: {missing}")
            return
    table.report(rows, arguments.json)


if __name__ == "__main__":
    main()
