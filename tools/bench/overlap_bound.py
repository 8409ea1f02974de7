"""The least time of a step whose order is free: no schedule of these operations on this machine is faster.

A rank computes one operation after the other, and everything on the wire shares its rate. So a step has two machines,
`compute` and `wire`, and operations that follow from each other. The bound is that of Carlier and Pinson for such
problems ("An algorithm for solving the job-shop problem", 1989): an operation has a head, the least time before it, and
a tail, the least time after it, and each machine alone, where what runs may be interrupted, gives a bound that is found
exactly. The larger one counts. Latencies, the host's time and the memory limit are left out, which only lowers it.

Where ranks are processes, what a rank sends takes time of the core that computes. With `Slowdowns`, how much longer an
operation takes while the other machine works, there is a second bound. In `both` seconds in which both machines work,
each does what takes it `both / slowdown` alone. So a machine that has `alone` seconds of work is busy for
`alone + both * (1 - 1 / slowdown)`. A step takes at least that with the least head and tail of the machine, and at
least what both are busy less what they are at the same time. The bound is the least step of any `both`: with 3 s of
computing that takes 1.5 times as long beside sending, 3 s of sending that is not slowed down, and no heads and tails,
both work for 3 s, the machines are busy for 4 and 3 s, and the step takes 4 s.

Operations are those of a compiled plan: what follows from what is in the text of `meshplan compile --emit=schedule`,
what each one takes in the timeline of `meshplan simulate`.
"""

from __future__ import annotations

import heapq
import re
from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass, replace

COMPUTE, WIRE = "compute", "wire"
MACHINES = (COMPUTE, WIRE)
FORWARD, BACKWARD, UPDATE = "forward", "backward", "update"
OPTIMIZERS = ("meshplan.adam", "meshplan.sgd")
# What the schedule runs on the compute lane, besides waits.
COMPUTED = ("compute", "pack", "unpack", "slice", "copy")


@dataclass(frozen=True)
class Operation:
    machine: str
    seconds: float
    part: str  # forward, backward or update; of a collective what it moves
    after: tuple[int, ...] = ()  # earlier operations that must be over

    def scaled(self, factors: dict[str, float]) -> Operation:
        return replace(self, seconds=self.seconds * factors.get(self.part, 1))


@dataclass(frozen=True)
class Slowdowns:
    """Factors of the time of an operation while the other machine works."""

    computing: float = 1.0
    sending: float = 1.0


ALONE = Slowdowns()


@dataclass(frozen=True)
class Work:
    """Seconds that all operations of a machine take alone, and the least time in which none of them runs, because it is
    before or after all of them."""

    alone: float
    around: float = 0.0


def least_of_both(computing: Work, sending: Work, slowdowns: Slowdowns) -> float:
    """The least step of a machine that computes and one that sends, in any order of operations that may be divided."""
    lost = [1 - 1 / slowdowns.computing, 1 - 1 / slowdowns.sending]  # of a second in which both work
    works = [computing, sending]
    total = computing.alone + sending.alone
    most = min(computing.alone * slowdowns.computing, sending.alone * slowdowns.sending)

    def step(both: float) -> float:
        busy = [work.around + work.alone + both * part for work, part in zip(works, lost, strict=True)]
        return max(*busy, total + both * (sum(lost) - 1))

    # The last term falls with `both` and the others rise, so the least of their maximum is at an end or where two meet.
    meeting = [
        (total - work.around - work.alone) / (1 - sum(lost) + part) for work, part in zip(works, lost, strict=True)
    ]
    return min(step(both) for both in (0.0, most, *meeting) if 0 <= both <= most)


@dataclass(frozen=True)
class Bounded:
    """An operation of one machine with the least time before and after it."""

    head: float
    seconds: float
    tail: float


def one_machine(operations: Iterable[Bounded]) -> float:
    """The least time until all tails are over, where operations may be interrupted: the longest tail goes first."""
    waiting = sorted(operations, key=lambda each: -each.head)
    ready: list[list[float]] = []
    now = over = 0.0
    while waiting or ready:
        if not ready:
            now = max(now, waiting[-1].head)
        while waiting and waiting[-1].head <= now:
            each = waiting.pop()
            heapq.heappush(ready, [-each.tail, each.seconds])
        tail, left = ready[0]
        until = waiting[-1].head if waiting else float("inf")
        ran = min(left, until - now)
        now += ran
        if ran < left:
            ready[0][1] = left - ran
            continue
        heapq.heappop(ready)
        over = max(over, now - tail)
    return over


def members(bits: int) -> list[int]:
    found = []
    while bits:
        lowest = bits & -bits
        found.append(lowest.bit_length() - 1)
        bits ^= lowest
    return found


def heads(operations: list[Operation]) -> list[float]:
    """The least time before each operation: until all that it follows from has run on its machines."""
    before: list[int] = []  # all operations that it follows from, as bits
    found: list[float] = []
    for operation in operations:
        own, least = 0, 0.0
        for index in operation.after:
            own |= before[index] | 1 << index
            least = max(least, found[index] + operations[index].seconds)
        ends = dict.fromkeys(MACHINES, 0.0)
        for index in sorted(members(own), key=found.__getitem__):
            machine = operations[index].machine
            ends[machine] = max(ends[machine], found[index]) + operations[index].seconds
        before.append(own)
        found.append(max(least, *ends.values()))
    return found


def reversed_order(operations: list[Operation]) -> list[Operation]:
    """The same in reversed time: heads of these are tails."""
    last = len(operations) - 1
    following: list[list[int]] = [[] for _ in operations]
    for index, operation in enumerate(operations):
        for earlier in operation.after:
            following[last - earlier].append(last - index)
    return [
        replace(operation, after=tuple(sorted(following[index])))
        for index, operation in enumerate(reversed(operations))
    ]


def without_empty(operations: list[Operation]) -> list[Operation]:
    """The same without operations that take no time, such as views; what follows from them follows from their own."""
    kept: list[Operation] = []
    sources: list[frozenset[int]] = []  # positions in `kept` that stand for the operation
    for operation in operations:
        after = frozenset[int]().union(*(sources[index] for index in operation.after))
        if operation.seconds > 0:
            sources.append(frozenset((len(kept),)))
            kept.append(replace(operation, after=tuple(sorted(after))))
        else:
            sources.append(after)
    return kept


def work_of(operations: list[Bounded]) -> Work:
    if not operations:
        return Work(0.0)
    around = min(each.head for each in operations) + min(each.tail for each in operations)
    return Work(sum(each.seconds for each in operations), around)


def least_seconds(operations: list[Operation], slowdowns: Slowdowns = ALONE) -> float:
    """The bound, in seconds. Operations stand after those that they follow from."""
    operations = without_empty(operations)
    before, after = heads(operations), heads(reversed_order(operations))[::-1]
    machines = {
        machine: [
            Bounded(before[index], operation.seconds, after[index])
            for index, operation in enumerate(operations)
            if operation.machine == machine
        ]
        for machine in MACHINES
    }
    alone = max(one_machine(each) for each in machines.values())
    return max(alone, least_of_both(work_of(machines[COMPUTE]), work_of(machines[WIRE]), slowdowns))


def part_seconds(operations: Iterable[Operation]) -> dict[str, float]:
    sums: dict[str, float] = defaultdict(float)
    for operation in operations:
        sums[operation.part] += operation.seconds
    return dict(sums)


def machine_seconds(operations: Iterable[Operation], machine: str) -> float:
    return sum(operation.seconds for operation in operations if operation.machine == machine)


def computing_part(event: dict) -> str:
    """Of an event of the compute track. What leads to the loss is forward, whatever else reads it."""
    if event["name"].split(" in ")[0] in OPTIMIZERS:
        return UPDATE
    return BACKWARD if event["args"].get("direction") == BACKWARD else FORWARD


RESULT = re.compile(r"\s*(%\d+)(?::\d+)? = sched\.(\w+)\s+(.*)")
VALUE = re.compile(r"%\d+")
TARGET = re.compile(r'"([^"]+)"\(')
COLLECTIVE = re.compile(r"(?:\w+ )*?(\w+) %[^@]*? over @\"?([\w.]+)")
OVERWRITES = re.compile(r" overwrites \[([\d, ]+)\]")


def program_lines(text: str, program: str) -> list[str]:
    lines = text.splitlines()
    begin = next(index for index, line in enumerate(lines) if line.startswith(f"  sched.program @{program} "))
    end = lines.index("  }", begin)
    return lines[begin + 1 : end]


class Durations:
    """The events of a timeline, taken one after the other for each name in the order in which they run."""

    def __init__(self, trace: dict) -> None:
        events = [each for each in trace["traceEvents"] if each["ph"] == "X"]
        self.queues: dict[str, deque[dict]] = defaultdict(deque)
        for event in sorted(events, key=lambda each: (each["ts"], each["dur"])):
            if event["cat"] in ("compute", "communication"):
                self.queues[event["name"].split(" in ")[0]].append(event)

    def take(self, name: str) -> dict:
        if not self.queues[name]:
            raise ValueError(f"the schedule runs '{name}' more often than the timeline")
        return self.queues[name].popleft()

    def check_empty(self) -> None:
        left = sorted(name for name, queue in self.queues.items() if queue)
        if left:
            raise ValueError(f"the timeline runs {left} more often than the schedule")


def operations_of(schedule: str, trace: dict, wire_seconds_of_byte: float, program: str = "step") -> list[Operation]:
    """The operations of a program. `schedule` is the text of a compiled plan, `trace` its estimated timeline, and a
    byte that the rank sends which sends most takes `wire_seconds_of_byte`, with all that others send meanwhile."""
    durations = Durations(trace)
    found: list[Operation] = []
    made: dict[str, tuple[int, ...]] = {}  # operations that a value follows from
    readers: dict[str, list[int]] = defaultdict(list)
    for line in program_lines(schedule, program):
        match = RESULT.match(line)
        if match is None:
            continue
        result, kind, rest = match.groups()
        values = VALUE.findall(rest)
        after = {index for value in values for index in made.get(value, ())}
        if kind == "start":
            made[result] = (len(found),)
            found.append(collective(rest, durations, wire_seconds_of_byte, tuple(sorted(after))))
        elif kind in COMPUTED:
            target = TARGET.match(rest) if kind == "compute" else None
            event = durations.take(target[1] if target else kind)
            # What overwrites a value runs after all that read it before.
            after |= {reader for value in overwritten(rest, values) for reader in readers[value]}
            made[result] = (len(found),)
            found.append(Operation(COMPUTE, event["dur"] / 1e6, computing_part(event), tuple(sorted(after))))
        else:
            made[result] = tuple(sorted(after))
            continue
        for value in values:
            readers[value].append(len(found) - 1)
    durations.check_empty()
    return found


def overwritten(rest: str, values: list[str]) -> list[str]:
    match = OVERWRITES.search(rest)
    return [values[int(index)] for index in match[1].split(",")] if match else []


def collective(rest: str, durations: Durations, seconds_of_byte: float, after: tuple[int, ...]) -> Operation:
    match = COLLECTIVE.match(rest)
    if match is None:
        raise ValueError(f"this is not a collective: {rest}")
    event = durations.take(f"{match[1]} over {match[2]}")
    return Operation(WIRE, event["args"].get("bytes", 0) * seconds_of_byte, event["args"]["purpose"], after)
