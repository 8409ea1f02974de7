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

from bench import compile_time, forward_time, models, table

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
        for model in (*(case.model for case in compile_time.CASES), *forward_time.CASES):
            self.assertIn(f'model "{model.archive}.pt2"', model.plan.read_text())

    def test_batches_divide_over_the_data_axis(self) -> None:
        for case in compile_time.CASES:
            tensor_parallel = 8 if case.model.archive == "llama70b" else 3
            self.assertEqual(case.model.batch % (case.world // tensor_parallel), 0, case)

    def test_a_model_without_weights_is_exported_without_them(self) -> None:
        self.assertFalse(models.llama70b(8, 16).has_weights)
        self.assertTrue(models.smollm2(4, 96).has_weights)


class Cost(unittest.TestCase):
    def run_python(self, text: str) -> compile_time.Cost:
        return compile_time.cost_of([sys.executable, "-c", text], Path("."))

    def test_peak_counts_the_child(self) -> None:
        # Not bytes(n): untouched pages of zeros take no memory.
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


if __name__ == "__main__":
    unittest.main()
