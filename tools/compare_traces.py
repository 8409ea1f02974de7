#!/usr/bin/env python3
"""Compares the estimated timeline of a step with the measured one, operation by operation.

tools/compare_traces.py ESTIMATED.json MEASURED.json [--rank N] [--largest N]

ESTIMATED is a file of `meshplan simulate -o`, MEASURED one of `meshplan-run --trace`; docs/traces.md has their form.
Operations are matched by lane, name and occurrence: the third event of a name on a lane is compared with the third of
the other file. Any two files of this form can be compared, such as the timelines of two clusters.
"""

import argparse
import json
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

FORM = "1"
EXPOSED = "exposed"


class TraceError(Exception):
    """A file that is not a trace of this form; the message names it."""


@dataclass(frozen=True)
class Key:
    """What two events of two traces have in common."""

    lane: str
    name: str
    occurrence: int


@dataclass
class Event:
    begin: float  # microseconds
    length: float
    category: str

    @property
    def end(self) -> float:
        return self.begin + self.length


@dataclass
class Timeline:
    """The events of one rank."""

    times: str  # "estimated" or "measured"
    events: dict[Key, Event] = field(default_factory=dict)
    programs: set[str] = field(default_factory=set)

    def step(self) -> float:
        if not self.events:
            return 0
        return max(event.end for event in self.events.values()) - min(event.begin for event in self.events.values())

    def exposed(self) -> float:
        return sum(event.length for event in self.events.values() if event.category == EXPOSED)

    def lanes(self) -> dict[str, float]:
        """Busy time of each lane. The time in which the compute lane waits is not busy."""
        busy: dict[str, float] = defaultdict(float)
        for key, event in self.events.items():
            if event.category != EXPOSED:
                busy[key.lane] += event.length
        return dict(busy)


def read_timeline(path: Path, rank: int) -> Timeline:
    """The events of `rank`."""
    try:
        trace = json.loads(path.read_text())
    except OSError as error:
        raise TraceError(f"{path}: error: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise TraceError(f"{path}: error: this is not JSON: {error}") from None
    header = trace.get("otherData", {}) if isinstance(trace, dict) else {}
    if not isinstance(header, dict) or header.get("form") != FORM:
        raise TraceError(
            f"{path}: error: this is not a trace of form {FORM}; "
            "help: 'meshplan simulate PLAN -o FILE' and 'meshplan-run --trace FILE' write them"
        )
    try:
        return timeline_of(trace["traceEvents"], rank, header["times"])
    except (KeyError, TypeError) as error:
        raise TraceError(f"{path}: error: an event is incomplete: {error}") from None
    except LookupError as error:
        raise TraceError(f"{path}: error: {error}") from None


def timeline_of(events: list[dict], rank: int, times: str) -> Timeline:
    lanes = {event["tid"]: event["args"]["name"] for event in events if is_lane(event) and event["pid"] == rank}
    if not lanes:
        ranks = sorted({event["pid"] for event in events})
        raise LookupError(f"there is no rank {rank}; help: it has the ranks {', '.join(map(str, ranks))}")
    timeline = Timeline(times)
    seen: dict[tuple[str, str], int] = defaultdict(int)
    own = [event for event in events if event["ph"] == "X" and event["pid"] == rank]
    # Events of one lane run one after the other, so the order in time is that of the program.
    for event in sorted(own, key=lambda event: event["ts"]):
        lane, name = lanes[event["tid"]], event["name"]
        key = Key(lane, name, seen[lane, name])
        seen[lane, name] += 1
        timeline.events[key] = Event(event["ts"], event["dur"], event["cat"])
        if program := event["args"].get("program"):
            timeline.programs.add(program)
    return timeline


def is_lane(event: dict) -> bool:
    return event["ph"] == "M" and event["name"] == "thread_name"


@dataclass
class Difference:
    key: Key
    estimated: float
    measured: float

    @property
    def amount(self) -> float:
        return self.measured - self.estimated


def differences(estimated: Timeline, measured: Timeline) -> list[Difference]:
    """Of the operations that both have, the largest first; waits are compared in total only."""
    both = [
        Difference(key, event.length, measured.events[key].length)
        for key, event in estimated.events.items()
        if key in measured.events and event.category != EXPOSED
    ]
    return sorted(both, key=lambda each: -abs(each.amount))


def by_operation(single: list[Difference]) -> list[tuple[str, int, float, float]]:
    """Operation without its module, count and both times, the largest difference first. Names tell the lane."""
    sums: dict[str, list[float]] = defaultdict(lambda: [0, 0, 0])
    for each in single:
        total = sums[each.key.name.split(" in ")[0]]
        total[0] += 1
        total[1] += each.estimated
        total[2] += each.measured
    rows = [(name, int(count), before, after) for name, (count, before, after) in sums.items()]
    return sorted(rows, key=lambda row: -abs(row[3] - row[2]))


def only_in(one: Timeline, other: Timeline) -> tuple[int, float, list[str]]:
    """Operations without a partner: count, microseconds, and the three names that take most time."""
    times: dict[str, float] = defaultdict(float)
    missing = [key for key, event in one.events.items() if key not in other.events and event.category != EXPOSED]
    for key in missing:
        times[key.name] += one.events[key].length
    names = sorted(times, key=lambda name: -times[name])[:3]
    return len(missing), sum(times.values()), names


def milliseconds(microseconds: float) -> str:
    return f"{microseconds / 1000:.3f}"


def ratio(estimated: float, measured: float) -> str:
    return f"{estimated / measured:.2f}" if measured > 0 else "-"


def table(rows: list[list[str]]) -> str:
    """Columns aligned; the first is text, the others are numbers."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        first, *numbers = (
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        lines.append("  " + "  ".join([first, *numbers]).rstrip())
    return "\n".join(lines)


def report(estimated: Timeline, measured: Timeline, largest: int) -> str:
    """What the program prints. Times are in milliseconds; a ratio is the first file's time relative to the second's."""
    heads = [f"first ({estimated.times})", f"second ({measured.times})", "ratio"]

    def row(name: str, before: float, after: float) -> list[str]:
        return [name, milliseconds(before), milliseconds(after), ratio(before, after)]

    first, second = estimated.lanes(), measured.lanes()
    rows = [["milliseconds", *heads], row("step", estimated.step(), measured.step())]
    rows += [row(lane, first.get(lane, 0), second.get(lane, 0)) for lane in sorted(first | second)]
    rows.append(row("exposed", estimated.exposed(), measured.exposed()))
    parts = [table(rows)]
    if estimated.programs != measured.programs:
        parts.append(
            f"the first is of the program {', '.join(sorted(estimated.programs))}, "
            f"the second of {', '.join(sorted(measured.programs))}; "
            "help: 'meshplan-run bench --program NAME --trace FILE' traces another one"
        )
    single = differences(estimated, measured)
    for name, (count, time, names) in (
        ("first", only_in(estimated, measured)),
        ("second", only_in(measured, estimated)),
    ):
        if count:
            parts.append(f"only in the {name}: {count} operations, {milliseconds(time)} ms, such as {', '.join(names)}")
    if single:
        rows = [["by operation", "count", *heads]]
        for name, count, before, after in by_operation(single)[:largest]:
            rows.append([name, str(count), milliseconds(before), milliseconds(after), ratio(before, after)])
        parts.append(table(rows))
        rows = [["largest differences", *heads]]
        for each in single[:largest]:
            name = each.key.name + (f" ({each.key.occurrence + 1})" if each.key.occurrence else "")
            rows.append(row(name, each.estimated, each.measured))
        parts.append(table(rows))
    return "\n\n".join(parts)


def row_count(text: str) -> int:
    """A number of rows."""
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number of at least 0")
    return int(text)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("estimated", type=Path, metavar="ESTIMATED")
    parser.add_argument("measured", type=Path, metavar="MEASURED")
    parser.add_argument("--rank", type=int, default=0, help="rank of MEASURED (0); ESTIMATED has one rank")
    parser.add_argument(
        "--largest", type=row_count, default=20, metavar="N", help="rows of the tables of differences (20)"
    )
    options = parser.parse_args(arguments)
    try:
        estimated, measured = read_timeline(options.estimated, 0), read_timeline(options.measured, options.rank)
    except TraceError as error:
        print(error, file=sys.stderr)
        return 1
    print(report(estimated, measured, options.largest))
    return 0


if __name__ == "__main__":
    sys.exit(main())
