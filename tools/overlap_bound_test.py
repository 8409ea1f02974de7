#!/usr/bin/env python3
"""Tests of the least time of a step: against all orders of small problems, and against figures by hand."""

from __future__ import annotations

import itertools
import random
import unittest
from collections.abc import Iterator

from bench import overlap_bound
from bench.overlap_bound import COMPUTE, WIRE, Bounded, Operation, Slowdowns, Work


def compute(seconds: float, *after: int, part: str = "forward") -> Operation:
    return Operation(COMPUTE, seconds, part, after)


def wire(seconds: float, *after: int, part: str = "parameters") -> Operation:
    return Operation(WIRE, seconds, part, after)


def fastest(operations: list[Operation]) -> float:
    """The optimum: every order in which nothing stands before what it follows from."""

    def finish(order: tuple[int, ...]) -> float:
        free, over = {COMPUTE: 0.0, WIRE: 0.0}, dict[int, float]()
        for index in order:
            each = operations[index]
            if any(earlier not in over for earlier in each.after):
                return float("inf")
            begin = max([free[each.machine], *(over[earlier] for earlier in each.after)])
            free[each.machine] = over[index] = begin + each.seconds
        return max(over.values())

    return min(finish(order) for order in itertools.permutations(range(len(operations))))


def random_problem(numbers: random.Random, count: int) -> list[Operation]:
    def one(index: int) -> Operation:
        after = tuple(earlier for earlier in range(index) if numbers.random() < 0.3)
        return Operation(numbers.choice((COMPUTE, WIRE)), numbers.randint(0, 4), "forward", after)

    return [one(index) for index in range(count)]


def interrupted(operations: list[Bounded]) -> float:
    """The optimum of one machine that may interrupt what it runs: every order of seconds."""
    seconds = [each for each in operations for _ in range(int(each.seconds))]

    def finish(order: tuple[Bounded, ...]) -> float:
        now, over = 0.0, 0.0
        for each in order:
            now = max(now, each.head) + 1
            over = max(over, now + each.tail)
        return over

    return min(finish(order) for order in itertools.permutations(seconds))


class OneMachine(unittest.TestCase):
    def test_it_is_the_optimum_with_interruptions(self) -> None:
        numbers = random.Random(1)
        for _ in range(100):
            lengths = numbers.choice(((1, 2, 3), (2, 2, 1), (1, 1, 1, 2), (6,), (3, 3)))
            operations = [Bounded(numbers.randint(0, 5), each, numbers.randint(0, 5)) for each in lengths]
            self.assertEqual(overlap_bound.one_machine(operations), interrupted(operations), operations)

    def test_nothing_takes_no_time(self) -> None:
        self.assertEqual(overlap_bound.one_machine([]), 0)


class LeastSeconds(unittest.TestCase):
    def test_no_order_is_faster(self) -> None:
        numbers, exact = random.Random(2), 0
        for _ in range(150):
            operations = random_problem(numbers, 6)
            bound, optimum = overlap_bound.least_seconds(operations), fastest(operations)
            self.assertLessEqual(bound, optimum, operations)
            exact += bound == optimum
        self.assertGreater(exact, 120)

    def test_the_first_gather_is_never_hidden(self) -> None:
        # The example of docs/scheduling.md.
        operations = [wire(50), compute(60, 0), wire(50), compute(60, 1, 2)]
        self.assertEqual(overlap_bound.least_seconds(operations), 170)

    def test_the_last_reduction_is_never_hidden(self) -> None:
        forward, second, first = compute(30), compute(20, 0), compute(20, 1)
        operations = [forward, second, first, wire(5, 1), wire(25, 2), compute(4, 3), compute(6, 4)]
        self.assertEqual(overlap_bound.least_seconds(operations), 30 + 20 + 20 + 25 + 6)

    def test_branches_that_one_rank_computes_are_added(self) -> None:
        # The longest chain is 20 long.
        operations = [compute(10), compute(10), compute(10), wire(10, 0, 1, 2)]
        self.assertEqual(overlap_bound.least_seconds(operations), 40)

    def test_operations_without_time_keep_the_order(self) -> None:
        operations = [wire(5), compute(0, 0), compute(0, 1), compute(7, 2)]
        self.assertEqual(overlap_bound.least_seconds(operations), 12)


def slowed(operations: list[Operation], order: list[int], slowdowns: Slowdowns) -> float:
    """The end of a run in which each machine takes its operations in this order, and both slow each other down."""
    factors = {COMPUTE: slowdowns.computing, WIRE: slowdowns.sending}
    queues = {machine: [each for each in order if operations[each].machine == machine] for machine in factors}
    left = [each.seconds for each in operations]
    over: set[int] = set()
    now = 0.0
    while any(queues.values()):
        running = {
            machine: queue[0]
            for machine, queue in queues.items()
            if queue and over.issuperset(operations[queue[0]].after)
        }
        slower = {machine: factors[machine] if len(running) == 2 else 1.0 for machine in running}
        passed = min(left[index] * slower[machine] for machine, index in running.items())
        now += passed
        for machine, index in running.items():
            left[index] -= passed / slower[machine]
            if left[index] <= 1e-9:
                over.add(queues[machine].pop(0))
    return now


class BesideEachOther(unittest.TestCase):
    def test_no_run_is_faster(self) -> None:
        numbers, exact = random.Random(3), 0
        for _ in range(300):
            operations = random_problem(numbers, 6)
            slowdowns = Slowdowns(numbers.choice((1, 1.25, 2, 3)), numbers.choice((1, 1.5, 4)))
            # Each operation stands after those that it follows from, so that this is one of the orders.
            found = slowed(operations, list(range(6)), slowdowns)
            bound = overlap_bound.least_seconds(operations, slowdowns)
            self.assertLessEqual(bound, found + 1e-6, (operations, slowdowns))
            exact += bound > found - 1e-6
        self.assertGreater(exact, 60)

    def test_what_sending_takes_from_computing(self) -> None:
        # Both work for all of the 3 s of sending, in which 2 s of the 3 s are computed.
        self.assertEqual(overlap_bound.least_of_both(Work(3), Work(3), Slowdowns(1.5, 1)), 4)
        # Computing waits for 1 s, so sending alone is what takes longest.
        self.assertEqual(overlap_bound.least_of_both(Work(1), Work(3, around=0.5), Slowdowns(1.5, 1)), 3.5)

    def test_what_only_slows_down_is_done_in_turn(self) -> None:
        self.assertEqual(overlap_bound.least_of_both(Work(3), Work(3), Slowdowns(4, 4)), 6)

    def test_nothing_is_sent(self) -> None:
        self.assertEqual(overlap_bound.least_seconds([compute(3), compute(2, 0)], Slowdowns(2, 2)), 5)


SCHEDULE = """\
module @p {
  sched.program @forward role <forward> {
    %0 = sched.compute "aten.exp.default"(%9) : () -> ()
  }
  sched.program @step role <step> {
    %0 = sched.parameter ["w"] trainable : <[4], f32>
    %1 = sched.input "x" : <[4], f32>
    %2 = sched.start  all_gather %0 over @dp sequence 0 because "data dp" : !sched.tensor
    %3 = sched.wait %2 : !sched.token<!sched.tensor<[4], f32>>
    %4 = sched.compute "aten.mul.Tensor"(%3, %1) {self = #base.operand<0>} in "model" : () -> ()
    sched.free %3 : !sched.tensor<[4], f32>
    %5 = sched.compute "aten.mul.Tensor"(%4, %1) in "model.last" : () -> ()
    %6 = sched.pack %4, %5 : !sched.packed
    %7 = sched.start async reduce_scatter %6 dim 1 over @"dp.tp" : !sched.packed
    %8 = sched.wait %7 : !sched.token
    %9:2 = sched.unpack %8 : !sched.packed
    %10 = sched.compute "aten.exp.default"(%0) : () -> ()
    %11:2 = sched.compute "meshplan.adam"(%0, %9#1) {lr = 1.0} overwrites [0] : () -> ()
    sched.update %11#0 to %0 : <[4], f32> to <[4], f32>
  }
}
"""


def events() -> Iterator[dict]:
    """In the order of the program, which need not be that of time."""

    def event(name: str, begin: float, length: float, category: str = "compute", **arguments: object) -> dict:
        return {"ph": "X", "name": name, "ts": begin, "dur": length, "cat": category, "args": arguments}

    yield {"ph": "M", "name": "process_name"}
    yield event("all_gather over dp", 0, 1e6, "communication", purpose="parameters", bytes=10)
    yield event("wait for all_gather over dp", 0, 1e6, "exposed")
    yield event("aten.mul.Tensor in model.last", 3e6, 3e6, direction="backward")
    yield event("aten.mul.Tensor in model", 1e6, 2e6, direction="forward")
    yield event("pack", 6e6, 1e6, direction="backward")
    yield event("reduce_scatter over dp.tp in model", 7e6, 1e6, "communication", purpose="gradients", bytes=20)
    yield event("unpack", 8e6, 1e6, direction="backward")
    yield event("aten.exp.default", 9e6, 1e6, direction="update")
    yield event("meshplan.adam", 10e6, 5e6, direction="backward")


class Operations(unittest.TestCase):
    def test_they_are_those_of_schedule_and_timeline(self) -> None:
        found = overlap_bound.operations_of(SCHEDULE, {"traceEvents": list(events())}, wire_seconds_of_byte=0.5)
        self.assertEqual(
            found,
            [
                wire(5),
                compute(2, 0),
                compute(3, 1, part="backward"),
                compute(1, 1, 2, part="backward"),
                wire(10, 3, part="gradients"),
                compute(1, 4, part="backward"),
                compute(1),
                # Reads the gradient, and overwrites what two others read.
                compute(5, 0, 5, 6, part="update"),
            ],
        )
        self.assertEqual(overlap_bound.part_seconds(found)["backward"], 5)
        self.assertEqual(overlap_bound.machine_seconds(found, WIRE), 15)

    def test_schedule_and_timeline_must_agree(self) -> None:
        more = [*events(), {"ph": "X", "name": "pack", "ts": 0, "dur": 1, "cat": "compute", "args": {}}]
        for trace, text in (
            (more, "the timeline runs ['pack'] more often than the schedule"),
            (list(events())[:-1], "the schedule runs 'meshplan.adam' more often than the timeline"),
        ):
            with self.assertRaises(ValueError) as raised:
                overlap_bound.operations_of(SCHEDULE, {"traceEvents": trace}, 1)
            self.assertEqual(str(raised.exception), text)


if __name__ == "__main__":
    unittest.main()
