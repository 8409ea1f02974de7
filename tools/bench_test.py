#!/usr/bin/env python3
"""Tests of the benchmarks' own code: what they run and how they report it."""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

from bench import (
    compile_time,
    estimates,
    experts_time,
    forward_time,
    limited_network,
    loopback,
    models,
    overlap_bound,
    overlap_time,
    published,
    table,
    train_time,
    training,
    utilization,
)
from bench.training import BOTH, DATA, ONE, Contestant, Result

ROWS: list[table.Row] = [
    {"model": "small", "ranks": 6, "ratio": 1.0 / 3.0},
    {"model": "a large one", "ranks": 16384, "ratio": 12.0},
]


class Table(unittest.TestCase):
    def test_columns_are_aligned(self) -> None:
        self.assertEqual(
            table.table(ROWS),
            "model        ranks   ratio\nsmall            6   0.333\na large one  16384  12.000",
        )

    def test_json_is_not_rounded(self) -> None:
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            path = Path(folder) / "rows.json"
            table.report(ROWS, path)
            self.assertEqual(json.loads(path.read_text()), ROWS)


class Models(unittest.TestCase):
    def test_plans_name_the_archives(self) -> None:
        cases = [case.model for case in compile_time.CASES]
        for model in (*cases, *forward_time.CASES, models.smollm2_8(4, 256), models.mixture(4, 512)):
            self.assertIn(f'model "{model.archive}.pt2"', model.plan.read_text())

    def test_batches_divide_over_the_data_axis(self) -> None:
        for case in compile_time.CASES:
            tensor_parallel = 8 if case.model.archive == "llama70b" else 3
            self.assertEqual(case.model.batch % (case.world // tensor_parallel), 0, case)

    def test_a_model_without_weights_is_exported_without_them(self) -> None:
        self.assertFalse(models.llama70b(8, 16).has_weights)
        self.assertTrue(models.smollm2(4, 96).has_weights)


# A step takes 2 s.
PUBLISHED = published.Published(
    published.COMPARED[0].architecture, "a", "h100", dp=4, tp=2, batch=8, tokens=500, sequence=1000
)


class Estimates(unittest.TestCase):
    def test_a_step_is_compared_with_what_it_hides(self) -> None:
        time = {"compute_ns": 2.0e9, "communication_ns": 1.5e9, "exposed_ns": 0.7e9, "step_ns": 2.7e9}
        report = {"time": time, "memory": {"peak": {"largest": 3 << 20, "least": 0}}}
        rounds = [estimates.Measured(seconds, 4 << 20) for seconds in (4.0, 2.0, 3.0)]
        row = estimates.row(estimates.cases()[0], rounds, report)
        self.assertEqual((row["peak MiB"], row["peak ratio"]), (4.0, 0.75))
        self.assertEqual((row["estimated s"], row["measured s"], row["spread"]), (2.7, 3.0, 2 / 3))
        self.assertAlmostEqual(float(str(row["ratio"])), 0.9)

    def test_tokens_are_those_of_a_rank(self) -> None:
        row = utilization.row(PUBLISHED, utilization.Times(step=2, ideal=0.8))
        self.assertEqual((row["tokens/s"], row["ratio"], row["MFU"]), (500, 1.0, 0.4))

    def test_a_machine_is_as_slow_as_its_row_says(self) -> None:
        class Linear(utilization.Simulator):
            def times(self, case: published.Published, slowdown: float) -> utilization.Times:
                return utilization.Times(step=0.5 + 1.2 * slowdown)

        self.assertAlmostEqual(Linear(Path("."), Path(".")).slowdown(PUBLISHED), 1.25)


class Cost(unittest.TestCase):
    def run_python(self, text: str) -> compile_time.Cost:
        return compile_time.cost_of([sys.executable, "-c", text], Path("."))

    def test_peak_counts_the_child(self) -> None:
        # bytes(n) would not work: untouched pages of zeros take no memory.
        grown = self.run_python("held = b'x' * (2000 << 20)").peak
        self.assertGreater(grown, 1990)
        self.assertLess(grown, 2500)

    def test_wall_time_counts_sleep_and_processor_time_does_not(self) -> None:
        cost = self.run_python("import time; time.sleep(1)")
        self.assertGreaterEqual(cost.wall, 1)
        self.assertLess(cost.processor, 1)

    def test_failure_is_reported(self) -> None:
        with self.assertRaises(subprocess.CalledProcessError):
            self.run_python("raise SystemExit(3)")


PYTORCH, RANKS = Contestant("PyTorch", DATA), Contestant("mpi", DATA)


class Training(unittest.TestCase):
    def test_losses_agree_but_for_rounding(self) -> None:
        training.check_losses([(PYTORCH.name, [10.9, 10.4]), (RANKS.name, [10.90001, 10.40001])])
        text = "mpi on ranks dp = 2 has the losses [10.9, 10.5], PyTorch on ranks dp = 2 has [10.9, 10.4]"
        with self.assertRaises(RuntimeError) as raised:
            training.check_losses([(PYTORCH.name, [10.9, 10.4]), (RANKS.name, [10.9, 10.5])])
        self.assertEqual(str(raised.exception), text)

    def test_each_contestant_runs_steps_of_its_layout(self) -> None:
        for contestant in train_time.ALL:
            command = contestant.command(Path("bin"), steps=7, limited=False)
            self.assertEqual(command[command.index("--steps") + 1], "7")
            layout = contestant.layout
            divided = str(layout.tensor_parallel) if contestant.is_pytorch else layout.schedule()
            self.assertIn(divided, command)

    def test_mpi_stays_out_of_memory_where_the_network_is_limited(self) -> None:
        self.assertIn("--mpirun=tcp,self", RANKS.command(Path("bin"), steps=1, limited=True))
        self.assertNotIn("--mpirun=tcp,self", RANKS.command(Path("bin"), steps=1, limited=False))

    def test_both_sides_report_a_median(self) -> None:
        self.assertEqual(training.result_of({"seconds": [3, 1, 2], "losses": [5.0]}), Result(2, [5.0]))
        self.assertEqual(training.result_of({"step_seconds": {"median": 2.5}, "losses": [5.0]}), Result(2.5, [5.0]))

    def test_ratios_are_those_of_a_turn(self) -> None:
        one = Contestant("PyTorch", ONE)
        times = ((1.0, 4.0, 2.0), (2.0, 8.0, 2.0), (1.0, 4.0, 1.0))
        turns = [{one: Result(a, []), PYTORCH: Result(b, []), RANKS: Result(c, [])} for a, b, c in times]
        row = train_time.row(turns, RANKS)
        self.assertEqual((row["step s"], row["of one process"], row["of PyTorch's ranks"]), (2.0, 1.0, 0.25))

    def test_the_longer_of_computing_and_sending_bounds_a_step(self) -> None:
        computing = Contestant("threads", DATA)
        turns = [{PYTORCH: Result(8, []), RANKS: Result(6, []), computing: Result(2, [])}]
        time = {"step_ns": 5.5e9, "compute_ns": 2e9, "communication_ns": 5e9, "exposed_ns": 3.5e9}
        report = {"communicators": [{"collectives": [{"bytes": 4 << 20}]}], "time": time}
        row = train_time.limited_row(turns, RANKS, wire=5e8, report=report, rate=1e8)
        self.assertEqual((row["sending s"], row["of the longer"], row["check MiB"]), (5.0, 1.2, 4.0))
        self.assertEqual((row["simulated s"], row["its exposed s"]), (5.5, 3.5))
        row = train_time.limited_row(turns, RANKS, wire=5e7, report=report, rate=1e8)
        self.assertEqual(row["of the longer"], 3.0)


def event(rank: int, name: str, milliseconds: float, category: str = "compute", direction: str = "forward") -> dict:
    arguments = {"direction": direction}
    return {"ph": "X", "pid": rank, "name": name, "cat": category, "dur": milliseconds * 1e3, "args": arguments}


def traced(waiting: float) -> dict:
    """Two ranks that compute alike; the second one waits."""
    events = [
        each
        for rank in (0, 1)
        for each in (
            event(rank, "aten.mm.default in model", 10),
            event(rank, "meshplan.row_max", 20, direction="update"),
            event(rank, "aten.mm.default in model", 30, direction="backward"),
            event(rank, "meshplan.adam", 40, direction="backward"),
        )
    ]
    names = {"ph": "M", "pid": 0, "name": "process_name"}
    return {"traceEvents": [names, *events, event(1, "wait for all_reduce over dp", waiting, "exposed")]}


DDP = overlap_time.LAYOUTS["DDP"]
COMPUTING = overlap_time.Computing(1.0, 2.0, 0.5)
# The gradient of the second half of the backward pass is reduced while the first half runs, its own one afterwards.
STEP = [
    overlap_bound.Operation("compute", 2.0, "forward"),
    overlap_bound.Operation("compute", 2.0, "backward", (0,)),
    overlap_bound.Operation("compute", 2.0, "backward", (1,)),
    overlap_bound.Operation("wire", 2.0, "gradients", (1,)),
    overlap_bound.Operation("wire", 1.0, "gradients", (2,)),
    overlap_bound.Operation("compute", 1.0, "update", (3, 4)),
]


class Overlap(unittest.TestCase):
    def test_each_layout_has_its_statement(self) -> None:
        model = models.smollm2_8(4, 256)
        text = model.plan.read_text()
        for layout in overlap_time.LAYOUTS.values():
            changed = overlap_time.plan_text(text, layout)
            self.assertEqual(changed == text, layout.name == "ZeRO-3")
            self.assertEqual(changed.count("data dp {"), 1)
            self.assertIn("  optimizer adamw", changed)
        self.assertIn("  data dp { bucket 25 MiB }\n  optimizer", overlap_time.plan_text(text, DDP))

    def test_schedules_of_layouts_are_different_files(self) -> None:
        files = {layout.schedule(solver) for layout in overlap_time.LAYOUTS.values() for solver in overlap_time.SOLVERS}
        self.assertEqual(len(files), 8)

    def test_pytorch_shares_as_the_layout_does(self) -> None:
        for layout in overlap_time.LAYOUTS.values():
            command = Contestant("PyTorch", layout).command(Path("bin"), steps=2, limited=True)
            self.assertEqual(command[command.index("--data") + 1], layout.data)

    def test_bytes_take_as_long_as_computing(self) -> None:
        rate = overlap_time.rate_of(size=680_000_000, seconds=2.0)
        self.assertEqual((rate, limited_network.bytes_per_second(rate)), ("2720000kbit", 3.4e8))

    def test_waiting_is_not_computing_where_each_rank_has_a_core(self) -> None:
        found = overlap_time.computing_of(traced(waiting=200), step=4.0, cores=2)
        self.assertEqual((found.forward, found.backward, found.update), (0.6, 0.6, 0.8))

    def test_waiting_is_computing_of_others_where_ranks_share_cores(self) -> None:
        found = overlap_time.computing_of(traced(waiting=200), step=4.0, cores=1)
        self.assertAlmostEqual(found.total, 4.0)
        self.assertAlmostEqual(found.update, 1.6)

    def test_the_slowest_rank_counts(self) -> None:
        self.assertEqual(overlap_time.exposed_seconds(traced(waiting=200)), 0.2)

    def test_the_bound_has_the_measured_computing(self) -> None:
        estimated = overlap_time.Estimate({}, STEP)
        bound = overlap_time.bound_of(DDP, estimated, COMPUTING)
        # The first half of the backward pass takes 1, then 2 and 1 on the wire.
        self.assertEqual((bound.free, bound.own, bound.seconds), (1 + 1 + 3 + 0.5, 1 + 3 + 0.5, 4.5))
        self.assertEqual(bound.alone, 4.5)
        self.assertEqual(bound.parts, {"gradients": 3.0})
        bound = overlap_time.bound_of(BOTH, estimated, COMPUTING)
        self.assertEqual((bound.own, bound.seconds, bound.alone), (None, 5.5, 5.5))

    def test_the_bound_has_what_sending_takes_from_computing(self) -> None:
        estimated = overlap_time.Estimate({}, STEP, overlap_bound.Slowdowns(computing=2.0))
        bound = overlap_time.bound_of(DDP, estimated, COMPUTING)
        # Beside 3 s of reductions, 1.5 s of 2 s of the backward pass are computed.
        self.assertEqual((bound.own, bound.alone), (1 + 3 + 0.5 + 0.5, 4.5))

    def test_rows_relate_a_step_to_the_bound_of_its_turn(self) -> None:
        sides = overlap_time.sides(DDP)
        self.assertEqual([side.solver for side in sides[:2]], ["program", "list"])
        times = {"step_ns": 8e9, "compute_ns": 7e9, "exposed_ns": 1e9}
        report = {"time": times, "communicators": [{"collectives": [{"bytes": 4 << 20}]}]}
        estimated = overlap_time.Estimate(dict.fromkeys(("program", "list", "search"), report), STEP)

        def turn(seconds: float) -> overlap_time.Turn:
            measured = overlap_time.Measured(Result(seconds, [], 3 << 20), sent=9 << 20, exposed=0.5)
            computing = overlap_time.Measured(Result(3.5, []), computing=COMPUTING)
            return {**dict.fromkeys(sides, measured), Contestant("threads", DDP): computing}

        turns = [turn(4.5), turn(9.0), turn(5.4)]
        bounds = [overlap_time.bound_of(DDP, estimated, COMPUTING) for _ in turns]
        row = overlap_time.side_row(sides[1], turns, bounds, estimated, short=5 << 20, steps=3)
        self.assertAlmostEqual(float(str(row["of bound"])), 1.2)
        self.assertAlmostEqual(float(str(row["of search"])), 5.4 / (3.5 + 1))
        self.assertEqual((row["sent MiB"], row["check MiB"], row["peak MiB"]), (2.0, 4.0, 3.0))
        self.assertEqual((row["exposed s"], row["estimated exposed s"], row["target"]), (0.5, 1.0, 1.1))
        self.assertEqual(overlap_time.side_row(sides[2], turns, bounds, estimated, 0, 3)["exposed s"], "-")
        whole = overlap_time.layout_row(DDP, turns, bounds, estimated, "8000kbit", attained=9e5)
        self.assertEqual((whole["computing s"], whole["wire s"], whole["bound s"]), (3.5, 3.0, 4.5))
        self.assertEqual((whole["attained of it"], whole["simulated search s"]), (0.9, 8.0))


class Experts(unittest.TestCase):
    WHOLE = experts_time.Side("mpi list", ("list",))
    SLOW = experts_time.Side("mpi search", ("search",))
    HALVES = experts_time.Side("mpi list halves", ("halves",), has_halves=True)

    def test_halves_are_compared_with_the_best_schedule_without(self) -> None:
        seconds = {self.WHOLE: 4.0, self.SLOW: 5.0, self.HALVES: 3.0, experts_time.PYTORCH: 6.0}
        turn = {side: experts_time.Measured(Result(each, [])) for side, each in seconds.items()}
        row = experts_time.row(self.HALVES, [turn, turn], exchange=1.5)
        self.assertEqual(
            (row["of PyTorch"], row["of the best without halves"], row["exchange of step"]), (0.5, 0.75, 0.5)
        )

    def test_only_exchanged_rows_count(self) -> None:
        collectives = [{"kind": "all_to_all", "bytes": 8}, {"kind": "all_reduce", "bytes": 100}]
        self.assertEqual(experts_time.exchanged_bytes({"communicators": [{"collectives": collectives}]}), 8)

    def test_the_plan_allows_halves(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            model = experts_time.in_halves(models.mixture(4, 512), Path(folder))
            self.assertIn(experts_time.HALVES, model.plan.read_text())


class LimitedNetwork(unittest.TestCase):
    def test_a_fast_loopback_has_a_larger_bucket(self) -> None:
        self.assertEqual(limited_network.shape("1gbit")[3], str(256 << 10))
        self.assertEqual(limited_network.shape("4gbit"), ("rate", "4gbit", "burst", "1000000", "latency", "50ms"))

    def test_the_loopback_carries_all_bytes(self) -> None:
        self.assertGreater(loopback.seconds((3 << 20) + 1), 0)

    def test_rates(self) -> None:
        self.assertEqual(limited_network.bytes_per_second("1gbit"), 1.25e8)
        self.assertEqual(limited_network.bytes_per_second("500mbit"), 6.25e7)
        with self.assertRaises(ValueError) as raised:
            limited_network.bytes_per_second("fast")
        self.assertEqual(str(raised.exception), "'fast' is not a rate; help: write it as 1gbit or 500mbit")

    def test_the_cluster_has_the_network_of_the_rate(self) -> None:
        measured = {"source": "measured", "compute": {"bytes_per_second": 1e9}, "collectives": [{"kind": "all_reduce"}]}
        cluster = limited_network.cluster_of(measured, "1gbit")
        self.assertEqual(cluster["links"]["node"]["node_bytes_per_second"], 1.25e8)
        self.assertEqual((cluster["collectives"], cluster["compute"]), ([], measured["compute"]))

    def test_a_faster_cluster_has_higher_rates_of_the_same_sizes(self) -> None:
        compute = {
            "flops_per_second": {"f32": 1e9},
            "bytes_per_second": 2e9,
            "launch_seconds": 4e-6,
            "products": [{"dtype": "f32", "flops": [1, 2], "flops_per_second": [3e9, 4e9], "spread": 0.1}],
            "operators": [{"bytes": [1, 2], "bytes_per_second": [5e9, 6e9]}],
        }
        expected = {
            "flops_per_second": {"f32": 2e9},
            "bytes_per_second": 4e9,
            "launch_seconds": 2e-6,
            "products": [{"dtype": "f32", "flops": [1, 2], "flops_per_second": [6e9, 8e9], "spread": 0.1}],
            "operators": [{"bytes": [1, 2], "bytes_per_second": [10e9, 12e9]}],
        }
        self.assertEqual(limited_network.faster(compute, 2), expected)

    def test_sent_bytes_are_those_of_the_loopback(self) -> None:
        devices = "Inter-| Receive\n face |bytes\n  eth0: 1 2 3 4 5 6 7 8 9 10\n    lo: 11 12 13 14 15 16 17 18 19 20\n"
        self.assertEqual(limited_network.sent_bytes(devices), 19)

    def test_a_failing_command_says_what_is_missing(self) -> None:
        with self.assertRaises(limited_network.NotAllowed) as raised:
            limited_network.run("sh", "-c", "echo Operation not permitted >&2; exit 1")
        self.assertIn("Operation not permitted", str(raised.exception))
        with self.assertRaises(limited_network.NotAllowed) as raised:
            limited_network.run("no-such-program")
        self.assertEqual(str(raised.exception), "no-such-program is not installed; help: apt-get install iproute2")


if __name__ == "__main__":
    unittest.main()
