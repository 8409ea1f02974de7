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
from bench.training import BOTH, DATA, ONE, Contestant, Layout, Result

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


def compile_schedules(model: models.Model, programs: Path, where: Path) -> None:
    for layout in (ONE, DATA, BOTH):
        command = [str(programs / "meshplan"), "compile", model.plan.name, "-o", layout.schedule]
        subprocess.run([*command, *layout.definitions], cwd=where, check=True)


def planned_bytes(model: models.Model, programs: Path, where: Path, layout: Layout) -> int:
    """Bytes that all ranks send in a step according to `check`, which counts bytes sent and received."""
    command = [str(programs / "meshplan"), "check", model.plan.name, "--json", *layout.definitions]
    report = json.loads(subprocess.run(command, cwd=where, check=True, stdout=subprocess.PIPE).stdout)
    moved = sum(each["bytes"] for group in report["communicators"] for each in group["collectives"])
    return moved * layout.ranks // 2


def take_turns(contestants: tuple[Contestant, ...], rounds: int, run: Run) -> list[Turn]:
    turns = [{contestant: run(contestant) for contestant in contestants} for _ in range(rounds)]
    for turn in turns:
        training.check_losses({contestant: result.losses for contestant, result in turn.items()})
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


def limited_row(turns: list[Turn], contestant: Contestant, wire: float, planned: int, rate: float) -> table.Row:
    """The lower bound for a step is the longer of computing, measured with threads, and sending."""
    computing = seconds(turns, Contestant("threads", contestant.layout))
    step = seconds(turns, contestant)
    return {
        "side": contestant.side,
        "ranks": contestant.layout.name,
        "step s": step,
        "of PyTorch's ranks": ratio(turns, contestant, Contestant("PyTorch", contestant.layout)),
        "wire MiB": wire / MIB,
        "check MiB": planned / MIB,
        "sending s": wire / rate,
        "computing s": computing,
        "of the longer": step / max(wire / rate, computing),
    }


def measure_limited(model: models.Model, programs: Path, where: Path, arguments: argparse.Namespace) -> list[table.Row]:
    racing = tuple(Contestant(side, layout) for layout in (DATA, BOTH) for side in ("PyTorch", "mpi"))
    computing = tuple(Contestant("threads", layout) for layout in (DATA, BOTH))
    with limited_network.limited(arguments.limit) as network:
        wire = {each: step_bytes(each, programs, where, arguments.steps, network) for each in racing}

        def run(contestant: Contestant) -> Result:
            prefix = network.prefix() if contestant in racing else ()
            return training.run(contestant, programs, where, arguments.steps, prefix)

        turns = take_turns((*racing, *computing), arguments.rounds, run)
    rate = limited_network.bytes_per_second(arguments.limit)
    return [
        limited_row(turns, each, wire[each], planned_bytes(model, programs, where, each.layout), rate)
        for each in racing
    ]


def main() -> None:
    arguments_parser = parser(__doc__, rounds=5, steps=3)
    arguments_parser.add_argument("--limit", metavar="RATE", help="of the loopback between processes: 1gbit")
    arguments = arguments_parser.parse_args()
    model = models.smollm2_8(batch=4, sequence=256)
    where = models.export(model, arguments.folder).resolve()
    compile_schedules(model, arguments.programs, where)
    if arguments.limit is None:
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
