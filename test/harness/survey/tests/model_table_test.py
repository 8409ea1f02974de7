"""Tests of what survey/model_table.py makes of programs that fail, without models."""

from __future__ import annotations

import argparse
import json
import math
import tempfile
import unittest
from pathlib import Path

from harness.survey import model_table
from harness.survey.model_table import Cell

REPORT = {
    "memory": {"parameters": {"largest": 40, "least": 20}},
    "parameters": [{"global_bytes": 60}, {"global_bytes": 20}],
}


class Cells(unittest.TestCase):
    def test_only_a_number_within_the_bound_is_right(self) -> None:
        self.assertTrue(Cell(share=0.0).is_right())
        self.assertTrue(Cell(share=1.0).is_right())
        for wrong in (Cell(), Cell(reason="init: no"), Cell(share=1.01), Cell(share=math.inf), Cell(share=math.nan)):
            self.assertFalse(wrong.is_right(), wrong)

    def test_reasons(self) -> None:
        self.assertEqual(model_table.first_error("a.plan:1:2: error: no\n  help: so\nb: error: other\n"), "no")
        self.assertEqual(model_table.first_error("one\nSegmentation fault\n"), "Segmentation fault")
        self.assertEqual(model_table.first_error(""), "")

    def test_a_program_that_fails_leaves_no_outputs_of_an_earlier_run(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            arguments = arguments_in(folder, meshplan="false", meshplan_run="false")
            (folder / "m-tp2.safetensors").write_text("of yesterday")
            cell, outputs = model_table.run_cell(arguments, "m", "tp=2", sequence=False)
            self.assertEqual(cell, Cell(reason="init: status 1"))
            self.assertFalse(outputs.exists())

    def test_the_page_gives_each_reason_once(self) -> None:
        none = Cell(reason="x", held=50.4)
        page = model_table.page({"m": row(Cell(share=0.25, held=100.0), {"tp=2": none, "tp=4": none})})
        first, _, second = page.partition(model_table.SHARES)
        self.assertIn("| m | 0.25 | 0.25 | a | 0.25 | a | 0.25 |", first)
        self.assertTrue(first.endswith("Without a number:\n\n- a: x\n\n"), first)
        self.assertIn("| m | 100 | 100 | 50 | 100 | 50 | 100 |", second)
        self.assertNotIn("Without", second)

    def test_a_page_keeps_rows_that_are_not_run_again(self) -> None:
        none = Cell(reason="x", held=50.4)
        table = {
            "llama": row(Cell(share=0.25, held=100.0), {"tp=2": none}),
            "gpt2": row(Cell(share=0.5, held=33.3)),
            "llama_bfloat16": row(Cell(share=0.67, held=100.0), {"tp=2": none}),
            "gpt2_bfloat16": row(Cell(share=0.67, held=66.7)),
            "gpt2_bfloat16, activations f32": row(Cell(share=0.67, held=66.7)),
        }
        page = model_table.page(table)
        self.assertEqual(model_table.page(model_table.table_of(page)), page)
        new = {"gpt2": row(Cell(share=0.75, held=20.0)), "bert": row(Cell(share=0.1, held=10.0))}
        merged = model_table.merged(page, new)
        self.assertEqual([*merged], ["llama", "gpt2", "bert", *[*table][2:]])
        self.assertEqual(model_table.page(merged), model_table.page({**merged, **new}))
        self.assertEqual(
            model_table.page({name: merged[name] for name in table if name != "gpt2"}),
            model_table.page({name: table[name] for name in table if name != "gpt2"}),
        )

    def test_the_summary_counts_plans(self) -> None:
        table = {
            "m": row(Cell(share=0.2), {"tp=2": Cell(share=0.5), "tp=3": Cell(share=1.5), "tp=4": Cell(reason="x")}),
            "m_bfloat16": row(Cell(share=0.67)),
        }
        self.assertEqual(
            model_table.summary(table)[2:],
            [
                "| f32 | 1 | 10 | 8 | 1 | 1 | 7 | 0.20 | 1.50 (m) |",
                "| bf16 | 1 | 10 | 10 | 0 | 0 | 10 | 0.67 | 0.67 (m_bfloat16) |",
            ],
        )


def arguments_in(folder: Path, **others: object) -> argparse.Namespace:
    return argparse.Namespace(**({"work": folder, "models": folder, "shares_only": False} | others))


def row(cell: Cell, others: dict[str, Cell] | None = None) -> dict[str, Cell]:
    columns = [model_table.label(mesh, False) for mesh in model_table.MESHES]
    columns += [model_table.label(mesh, True) for mesh in model_table.SEQUENCE_MESHES]
    return dict.fromkeys(columns, cell) | (others or {})


class Shares(unittest.TestCase):
    """Parameters of the largest rank."""

    def cell(self, program: str, shares_only: bool) -> Cell:
        """What a program instead of meshplan and meshplan-run makes of it."""
        with tempfile.TemporaryDirectory() as name:
            script = Path(name) / "program"
            script.write_text(f"#!/bin/sh\n{program}\n")
            script.chmod(0o755)
            arguments = arguments_in(Path(name), meshplan=script, meshplan_run=script, shares_only=shares_only)
            return model_table.run_cell(arguments, "m", "tp=2", sequence=False)[0]

    def test_are_those_of_the_largest_rank(self) -> None:
        self.assertEqual(model_table.held_share(REPORT), 50)
        report = f"[ $1 != check ] || echo '{json.dumps(REPORT)}'"
        self.assertEqual(self.cell(report, shares_only=False), Cell(held=50))
        # A plan that is refused only when it is compiled still has a share.
        refused = report + "; [ $1 != compile ] || { echo 'p.plan:1:2: error: no' >&2; exit 1; }"
        self.assertEqual(self.cell(refused, shares_only=False), Cell(held=50, reason="compile: no"))
        self.assertEqual(self.cell(refused, shares_only=True), Cell(held=50))

    def test_a_plan_that_is_refused_has_none(self) -> None:
        errors = json.dumps({"errors": [{"message": "dim 0 is too small"}, {"message": "more"}], "warnings": []})
        for shares_only in (False, True):
            cell = self.cell(f"[ $1 != check ] || {{ echo '{errors}'; exit 1; }}", shares_only)
            self.assertEqual(cell, Cell(reason="check: dim 0 is too small"))
        self.assertEqual(self.cell("[ $1 != check ] || exit 3", shares_only=True), Cell(reason="check: status 3"))

    def test_16_bit_models_are_listed_where_they_differ(self) -> None:
        half = Cell(held=50.0)
        table = {
            "m": row(Cell(held=100.0), {"tp=2": half}),
            "n": row(Cell(held=100.0)),
            "m_bfloat16": row(Cell(held=100.0), {"tp=2": half}),
            "n_bfloat16": row(Cell(held=100.0), {"tp=2": half}),
            "o_bfloat16": row(Cell(held=100.0)),
        }
        lines = model_table.shares_section(table).splitlines()
        self.assertEqual(
            [line.split()[1] for line in lines if line.startswith("| ")],
            ["model", "m", "n", "n_bfloat16", "o_bfloat16"],
        )

    def test_the_second_table_is_replaced_alone(self) -> None:
        old = {"m": row(Cell(share=0.25, held=100.0))}
        new = {"m": row(Cell(held=50.0), {"tp=3": Cell(reason="check: no")})}
        page = model_table.with_shares(model_table.page(old), new)
        self.assertEqual(page.partition(model_table.SHARES)[0], model_table.page(old).partition(model_table.SHARES)[0])
        self.assertIn("| m | 50 | 50 | 50 | a | 50 |", page)
        self.assertTrue(page.endswith("Without a number:\n\n- a: check: no\n"), page)
        self.assertEqual(page.count(model_table.SHARES), 1)
        bare = "# Models and meshes\n\n| model |\n"
        self.assertTrue(model_table.with_shares(bare, new).startswith(bare + "\n" + model_table.SHARES + "\n"))

    def test_models_with_a_dtype_of_their_own_have_one_row(self) -> None:
        names = model_table.runnable()
        for name in model_table.WIDE_ONLY:
            self.assertIn(name, names)
            self.assertNotIn(f"{name}_bfloat16", names)
        self.assertIn("llama_bfloat16", names)
        self.assertNotIn("llama70b", names)
