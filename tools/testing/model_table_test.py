#!/usr/bin/env python3
"""Tests of what model_table.py makes of programs that fail, without models."""

from __future__ import annotations

import argparse
import math
import tempfile
import unittest
from pathlib import Path

import model_table
from model_table import Cell


class Cells(unittest.TestCase):
    def test_only_a_number_within_the_bound_is_right(self) -> None:
        self.assertTrue(Cell(share=0.0).is_right())
        self.assertTrue(Cell(share=1.0).is_right())
        for wrong in (Cell(), Cell(reason="init: no"), Cell(share=1.01), Cell(share=math.inf), Cell(share=math.nan)):
            self.assertFalse(wrong.is_right(), wrong)

    def test_more_than_one_run_allows_is_right_where_it_is_less_than_addends_allow(self) -> None:
        self.assertTrue(Cell(share=1.2, of_addends=0.9).is_right())
        self.assertEqual(Cell(share=1.2, of_addends=0.9).text(), "1.20 (0.90)")
        for wrong in (Cell(share=1.2, of_addends=1.1), Cell(share=math.inf, of_addends=math.inf)):
            self.assertFalse(wrong.is_right(), wrong)
        self.assertEqual(model_table.addends("dp=2,tp=3"), 3)

    def test_reasons(self) -> None:
        self.assertEqual(model_table.first_error("a.plan:1:2: error: no\n  help: so\nb: error: other\n"), "no")
        self.assertEqual(model_table.first_error("one\nSegmentation fault\n"), "Segmentation fault")
        self.assertEqual(model_table.first_error(""), "")

    def test_a_program_that_fails_leaves_no_outputs_of_an_earlier_run(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            arguments = argparse.Namespace(work=folder, models=folder, meshplan="false", meshplan_run="false")
            (folder / "m-tp2.safetensors").write_text("of yesterday")
            cell, outputs = model_table.run_cell(arguments, "m", "tp=2", sequence=False)
            self.assertEqual(cell, Cell(reason="init: status 1"))
            self.assertFalse(outputs.exists())

    def test_the_page_gives_each_reason_once(self) -> None:
        columns = [model_table.label(mesh, False) for mesh in model_table.MESHES]
        columns += [model_table.label(mesh, True) for mesh in model_table.SEQUENCE_MESHES]
        cells = dict.fromkeys(columns, Cell(share=0.25)) | {"tp=2": Cell(reason="x"), "tp=4": Cell(reason="x")}
        page = model_table.page({"m": cells})
        self.assertIn("| m | 0.25 | 0.25 | a | 0.25 | a | 0.25 |", page)
        self.assertTrue(page.endswith("Without a number:\n\n- a: x\n"), page)


if __name__ == "__main__":
    unittest.main()
