"""Measures how much of its communication a training step hides where that is hardest: as much to send as to compute.

Four layouts: DDP with buckets, ZeRO-1, ZeRO-3, and dp = 2 x tp = 3 with sequence parallelism. Of each, computing is
measured with ranks as threads, and the loopback gets the rate at which the bytes of a step take as long. Then ranks
over MPI with the schedules `program` and `list`, PyTorch over Gloo, and computing alone take turns, from the same
weights and on the same batch; losses of all steps must agree. A ratio is the median of the ratios of the turns.

The bound of DDP is that of its own order: forward pass, then the longer of the backward pass and the reductions, then
the update. That of all others is `overlap_bound`, the least time of the operations of the default schedule in any
order. It is also printed for DDP, where it may be above the first one: no reduction can begin before the first gradient
is there. Both take the computing that was measured in the same turn, and all bytes at the rate of the loopback. The
cores that compute also send, so `meshplan-run calibrate` measures over the limited loopback how much longer computing
and sending take beside each other. Schedules and bounds are made with it; the bound without it is printed, too. Targets
apply to an idle machine of 2 cores.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from bench import limited_network, models, overlap_bound, table, train_time, training
from bench.arguments import parser
from bench.overlap_bound import ALONE, BACKWARD, COMPUTE, FORWARD, UPDATE, WIRE, Operation, Slowdowns, Work
from bench.training import BOTH, Contestant, Layout, Result

LAYOUTS = {
    "DDP": Layout("DDP", 2, data="DDP"),
    "ZeRO-1": Layout("ZeRO-1", 2, data="ZeRO-1"),
    "ZeRO-3": Layout("ZeRO-3", 2),
    "sequence": BOTH,
}
UNITS = "unit model.layers.*, model.embed_tokens, [model.norm, lm_head]"
# The statement `data` of a layout that has another one than the plan of the model.
STATEMENTS = {
    "DDP": "data dp { bucket 25 MiB }",
    "ZeRO-1": f"data dp {{ shard optimizer; overlap gradients, parameters; {UNITS} }}",
}
STATEMENT = re.compile(r"data dp \{.*?\n  \}", re.DOTALL)
# Each rank has two samples.
SPLIT = "overlap { split products 2 }"
SOLVERS = ("program", training.SOLVER)
TARGET = 1.10
MIB = 1 << 20
PROBE = 64 * MIB  # bytes that show which rate the loopback attains
CALIBRATIONS = 3  # of which the median counts


@dataclass(frozen=True)
class Computing:
    """Seconds of a step of ranks as threads, without what a rank waits for."""

    forward: float
    backward: float
    update: float

    @property
    def total(self) -> float:
        return self.forward + self.backward + self.update


NOTHING = Computing(0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Measured:
    result: Result
    sent: int = 0  # bytes on the loopback of all steps, from the start of the program to its end
    exposed: float = 0.0  # seconds that the slowest rank waits in the last step
    computing: Computing = NOTHING  # of ranks as threads


@dataclass(frozen=True)
class Bound:
    free: float  # seconds, with a free order
    own: float | None  # of DDP's own order
    alone: float  # the bound if nothing slowed another down
    parts: dict[str, float]

    @property
    def seconds(self) -> float:
        return self.free if self.own is None else self.own


@dataclass(frozen=True)
class Estimate:
    """What the compiler says about a layout on the limited network."""

    reports: dict[str, dict]  # of `meshplan check`, by solver
    operations: list[Operation]  # of the default schedule, with the time that they take alone
    slowdowns: Slowdowns = ALONE


Turn = dict[Contestant, Measured]
Run = Callable[[Contestant], Measured]


def plan_text(text: str, layout: Layout) -> str:
    """The plan of the model with the statement `data` of this layout. With tensor parallelism products may be split."""
    statement = STATEMENTS.get(layout.data)
    text = text if statement is None else STATEMENT.sub(statement, text)
    return text if layout.tensor_parallel == 1 else text.replace("  optimizer ", f"  {SPLIT}\n  optimizer ")


def plan_of(model: models.Model, where: Path, layout: Layout) -> models.Model:
    plan = where / f"overlap-{layout.name}.plan"
    plan.write_text(plan_text(model.plan.read_text(), layout))
    return replace(model, plan=plan)


def sides(layout: Layout) -> tuple[Contestant, ...]:
    return (*(Contestant("mpi", layout, solver) for solver in SOLVERS), Contestant("PyTorch", layout))


def rate_of(size: int, seconds: float) -> str:
    """The rate at which so many bytes take so long, as `tc` writes it."""
    return f"{round(size * 8 / seconds / 1e3)}kbit"


def by_rank(trace: dict) -> dict[int, list[dict]]:
    ranks: dict[int, list[dict]] = defaultdict(list)
    for event in trace["traceEvents"]:
        if event["ph"] == "X":
            ranks[event["pid"]].append(event)
    return ranks


def duration(events: list[dict], category: str) -> float:
    return sum(event["dur"] for event in events if event["cat"] == category) / 1e6


def exposed_seconds(trace: dict) -> float:
    """Of the rank that waits longest."""
    return max(duration(events, "exposed") for events in by_rank(trace).values())


def computing_of(trace: dict, step: float, cores: int) -> Computing:
    """Divides `step`, the seconds of a step of ranks as threads, into what the ranks compute, by a traced step.

    Where each rank has a core, the time that it waits is taken off. Where ranks share cores, another rank computes
    meanwhile, so that all of the step is computing.
    """
    ranks = by_rank(trace)
    parts: dict[str, float] = defaultdict(float)
    for events in ranks.values():
        for event in events:
            if event["cat"] == COMPUTE:
                parts[overlap_bound.computing_part(event)] += event["dur"] / 1e6
    computed = sum(parts.values())
    waited = 0.0 if len(ranks) > cores else sum(duration(events, "exposed") for events in ranks.values())
    scale = step / (computed + waited)
    return Computing(*(parts[part] * scale for part in (FORWARD, BACKWARD, UPDATE)))


def own_bound(computing: Computing, reduction: float, slowdowns: Slowdowns) -> float:
    """Of DDP's own order: the backward pass and the reductions may run at the same time."""
    beside = overlap_bound.least_of_both(Work(computing.backward), Work(reduction), slowdowns)
    return computing.forward + beside + computing.update


def bound_of(layout: Layout, estimated: Estimate, computing: Computing) -> Bound:
    """The bound where the operators of each part of the step take as long together as measured."""
    simulated = overlap_bound.part_seconds(estimated.operations)
    measured = {FORWARD: computing.forward, BACKWARD: computing.backward, UPDATE: computing.update}
    factors = {part: seconds / simulated[part] for part, seconds in measured.items() if simulated.get(part)}
    scaled = [each.scaled(factors) for each in estimated.operations]
    wire = overlap_bound.part_seconds(each for each in scaled if each.machine == WIRE)
    free, alone = (overlap_bound.least_seconds(scaled, each) for each in (estimated.slowdowns, ALONE))
    if layout.data != "DDP":
        return Bound(free, None, alone, wire)
    own, own_alone = (own_bound(computing, wire["gradients"], each) for each in (estimated.slowdowns, ALONE))
    return Bound(free, own, own_alone, wire)


def fitted_cluster(measured: Path, factor: float) -> Path:
    """A cluster file whose computing is faster by this factor. Estimates for it have the ratio of computing and sending
    that the step has, whatever the error of the measured file."""
    cluster = json.loads(measured.read_text())
    fitted = measured.with_name(f"fitted-{measured.name}")
    fitted.write_text(json.dumps(cluster | {"compute": limited_network.faster(cluster["compute"], factor)}, indent=2))
    return fitted


def output_of(model: models.Model, programs: Path, where: Path, layout: Layout, *command: str) -> str:
    """What a command of the compiler about the layout prints."""
    verb, *options = command
    whole = [str(programs / "meshplan"), verb, model.plan.name, *layout.definitions, *options]
    return subprocess.run(whole, cwd=where, check=True, stdout=subprocess.PIPE, text=True).stdout


def measured_overlap(programs: Path, where: Path, ranks: int, network: limited_network.Network) -> dict[str, float]:
    """The `overlap` of a cluster file, measured between processes on the limited network."""
    file = where / "overlap.json"
    calibrate = (str(programs / "meshplan-run"), "calibrate", "--seconds", "5", "-o", str(file))
    found = []
    for _ in range(CALIBRATIONS):
        subprocess.run([*network.prefix(), *training.over_mpi(ranks, True, *calibrate)], cwd=where, check=True)
        found.append(json.loads(file.read_text())["overlap"])
    # What is sent at the same time shares the rate of the loopback.
    return {key: statistics.median(each[key] for each in found) for key in found[0]} | {"concurrent_slowdown": 2}


def estimate(
    model: models.Model, programs: Path, where: Path, layout: Layout, measured: Path, rate: str, overlap: dict
) -> Estimate:
    """Compiles the schedules for the limited network, and reads what the compiler says about them."""
    on = ("--cluster", str(train_time.limited_cluster(measured, rate, overlap)))
    for solver in SOLVERS:
        output = ("-o", layout.schedule(solver))
        train_time.compile_schedule(model, programs, where, layout, *on, "--schedule", solver, *output)
    reports = {
        solver: train_time.checked(model, programs, where, layout, *on, "--schedule", solver)
        for solver in (*SOLVERS, "search")
    }
    # Operations have their time alone in a timeline in which nothing slows another down.
    alone = ("--cluster", str(train_time.limited_cluster(measured, rate, name="alone")))
    timeline = where / "estimated.trace.json"
    output_of(model, programs, where, layout, "simulate", *alone, "-o", str(timeline))
    schedule = output_of(model, programs, where, layout, "compile", *alone, "--emit=schedule")
    byte = layout.ranks / limited_network.bytes_per_second(rate)
    operations = overlap_bound.operations_of(schedule, json.loads(timeline.read_text()), byte)
    return Estimate(reports, operations, Slowdowns(overlap["compute_slowdown"], overlap["communication_slowdown"]))


def run(
    contestant: Contestant,
    programs: Path,
    where: Path,
    steps: int,
    network: limited_network.Network | None = None,
) -> Measured:
    """Without a network the ranks are threads, whose computing counts."""
    file = where / "measured.trace.json"
    options = () if contestant.is_pytorch else ("--trace", str(file))
    before = network.sent() if network else 0
    result = training.run(contestant, programs, where, steps, network.prefix() if network else (), options)
    sent = network.sent() - before if network else 0
    if contestant.is_pytorch:
        return Measured(result, sent)
    trace = json.loads(file.read_text())
    if network is None:
        return Measured(result, computing=computing_of(trace, result.seconds, len(os.sched_getaffinity(0))))
    return Measured(result, sent, exposed_seconds(trace))


def computing_in(turn: Turn, layout: Layout) -> Computing:
    return turn[Contestant("threads", layout)].computing


def search_seconds(estimated: Estimate, turn: Turn, layout: Layout) -> float:
    """The step that `simulate()` gives for the best known order, with the computing of the turn: what is exposed in it
    stays, and what sending takes from computing; what is computed takes as long as measured."""
    alone = overlap_bound.machine_seconds(estimated.operations, COMPUTE)
    return computing_in(turn, layout).total + estimated.reports["search"]["time"]["step_ns"] / 1e9 - alone


def layout_row(
    layout: Layout, turns: list[Turn], bounds: list[Bound], estimated: Estimate, rate: str, attained: float
) -> table.Row:
    """Medians of the turns; `attained` are bytes per second."""
    computing = [computing_in(turn, layout) for turn in turns]
    wire = bounds[0].parts
    best = estimated.reports["search"]["time"]
    return {
        "layout": layout.name,
        "rate": rate,
        "attained of it": attained / limited_network.bytes_per_second(rate),
        "computing s": statistics.median([each.total for each in computing]),
        "forward s": statistics.median([each.forward for each in computing]),
        "backward s": statistics.median([each.backward for each in computing]),
        "update s": statistics.median([each.update for each in computing]),
        "wire s": sum(wire.values()),
        "gradients s": wire.get("gradients", 0.0),
        "parameters s": wire.get("parameters", 0.0),
        "activations s": wire.get("activations", 0.0),
        "computing beside sending": estimated.slowdowns.computing,
        "sending beside computing": estimated.slowdowns.sending,
        "bound s": statistics.median([each.seconds for each in bounds]),
        "bound of": "free order" if bounds[0].own is None else "F + max(B, reduction) + update",
        "free order s": statistics.median([each.free for each in bounds]),
        "bound alone s": statistics.median([each.alone for each in bounds]),
        "simulated free order s": overlap_bound.least_seconds(estimated.operations, estimated.slowdowns),
        "simulated search s": best["step_ns"] / 1e9,
    }


def side_row(
    side: Contestant, turns: list[Turn], bounds: list[Bound], estimated: Estimate, short: int, steps: int
) -> table.Row:
    """`short` are the bytes on the loopback of a run of one measured step instead of `steps`."""
    layout, own = side.layout, not side.is_pytorch
    seconds = [turn[side].result.seconds for turn in turns]
    theirs = [turn[Contestant("PyTorch", layout)].result.seconds for turn in turns]
    sent = statistics.median([turn[side].sent for turn in turns])
    time = estimated.reports[side.solver]["time"]
    return {
        "layout": layout.name,
        "side": side.side,
        "schedule": side.solver if own else "-",
        "step s": statistics.median(seconds),
        "of bound": statistics.median([step / bound.seconds for step, bound in zip(seconds, bounds, strict=True)]),
        "of bound alone": statistics.median([step / bound.alone for step, bound in zip(seconds, bounds, strict=True)]),
        "of free order": statistics.median([step / bound.free for step, bound in zip(seconds, bounds, strict=True)]),
        "of search": statistics.median(
            [step / search_seconds(estimated, turn, layout) for step, turn in zip(seconds, turns, strict=True)]
        ),
        "target": TARGET if own and side.solver == training.SOLVER else "",
        "of PyTorch": statistics.median([step / other for step, other in zip(seconds, theirs, strict=True)]),
        "beyond computing s": statistics.median(
            [step - computing_in(turn, layout).total for step, turn in zip(seconds, turns, strict=True)]
        ),
        "exposed s": statistics.median([turn[side].exposed for turn in turns]) if own else "-",
        "estimated exposed s": time["exposed_ns"] / 1e9 if own else "-",
        "estimated step s": time["step_ns"] / 1e9 if own else "-",
        "sent MiB": (sent - short) / (steps - 1) / MIB,
        "check MiB": train_time.planned_bytes(estimated.reports[side.solver], layout) / MIB if own else "-",
        "peak MiB": max(turn[side].result.peak for turn in turns) / MIB if own else "-",
    }


def take_turns(contestants: tuple[Contestant, ...], rounds: int, run_one: Run) -> list[Turn]:
    turns = []
    for number in range(rounds):
        turn = {contestant: run_one(contestant) for contestant in contestants}
        training.check_losses([(contestant.name, measured.result.losses) for contestant, measured in turn.items()])
        seconds = ", ".join(f"{each.side} {measured.result.seconds:.3f} s" for each, measured in turn.items())
        print(f"{contestants[0].layout.name}, turn {number + 1}: {seconds}", file=sys.stderr, flush=True)
        turns.append(turn)
    return turns


def measure(
    layout: Layout, model: models.Model, where: Path, cluster: Path, arguments: argparse.Namespace
) -> tuple[table.Row, list[table.Row]]:
    """The row of the layout and those of its sides; `cluster` describes this machine with as many ranks."""
    programs, steps = arguments.programs, arguments.steps
    model = plan_of(model, where, layout)
    threads = Contestant("threads", layout)
    on = ("--cluster", str(cluster))
    train_time.compile_schedule(model, programs, where, layout, *on, "-o", layout.schedule())
    alone = run(threads, programs, where, steps).computing
    report = train_time.checked(model, programs, where, layout, *on)
    rate = rate_of(train_time.planned_bytes(report, layout), alone.total)
    as_measured = fitted_cluster(cluster, report["time"]["compute_ns"] / 1e9 / alone.total)
    with limited_network.limited(rate) as network:
        overlap = measured_overlap(programs, where, layout.ranks, network)
        estimated = estimate(model, programs, where, layout, as_measured, rate, overlap)
        attained = network.attained(PROBE)
        short = {side: run(side, programs, where, 1, network).sent for side in sides(layout)}

        def run_one(contestant: Contestant) -> Measured:
            return run(contestant, programs, where, steps, None if contestant == threads else network)

        turns = take_turns((*sides(layout), threads), arguments.rounds, run_one)
    bounds = [bound_of(layout, estimated, computing_in(turn, layout)) for turn in turns]
    rows = [side_row(side, turns, bounds, estimated, short[side], steps) for side in sides(layout)]
    return layout_row(layout, turns, bounds, estimated, rate, attained), rows


def main() -> None:
    arguments_parser = parser(__doc__, rounds=3, steps=3)
    arguments_parser.add_argument(
        "--layouts", nargs="+", choices=list(LAYOUTS), default=list(LAYOUTS), help="all unless given"
    )
    arguments = arguments_parser.parse_args()
    if arguments.steps < 2:
        arguments_parser.error("--steps: at least 2, because bytes of a step are the difference to a run of one")
    model = models.smollm2_8(batch=4, sequence=256)
    where = models.export(model, arguments.folder).resolve()
    layouts = [LAYOUTS[name] for name in arguments.layouts]
    counts = {layout.ranks for layout in layouts}
    clusters = {ranks: train_time.calibrate(arguments.programs, where, ranks) for ranks in counts}
    whole: list[table.Row] = []
    single: list[table.Row] = []
    try:
        for layout in layouts:
            row, rows = measure(layout, model, where, clusters[layout.ranks], arguments)
            whole, single = [*whole, row], [*single, *rows]
            # A run that is stopped keeps what is measured.
            if arguments.json is not None:
                arguments.json.write_text(json.dumps({"layouts": whole, "sides": single}, indent=2) + "\n")
    except limited_network.NotAllowed as missing:
        print(f"skipped: the loopback cannot be limited: {missing}")
        return
    print(f"{table.table(whole)}\n\n{table.table(single)}")


if __name__ == "__main__":
    main()
