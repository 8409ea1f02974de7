#!/usr/bin/env python3
"""Tests of same_bits.py with programs that stand in for mpirun's."""

from __future__ import annotations

import argparse
import tempfile
import unittest
from pathlib import Path

import same_bits


class Names(unittest.TestCase):
    def test_models_and_meshes_by_the_names_of_schedules(self) -> None:
        for stem, model, world in (
            ("gpt2-dp1", "gpt2", 1),
            ("t5_bfloat16-tp3-sequence", "t5_bfloat16", 3),
            ("llama-dp2-tp2", "llama", 4),
            ("llama-dp2-tp2-sequence", "llama", 4),
        ):
            found = same_bits.STEM.fullmatch(stem)
            self.assertEqual((found["model"], same_bits.ranks(found["mesh"])), (model, world), stem)
        self.assertIsNone(same_bits.STEM.fullmatch("bench"))


class Runs(unittest.TestCase):
    def test_a_program_that_fails_is_told_with_its_status(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "m-tp2.mpi").write_text("of yesterday")
            arguments = argparse.Namespace(models=folder, meshplan_run="false")
            self.assertRegex(same_bits.differs(arguments, folder / "m-tp2.sched", "m", 2), "^status (1|77): ")
            self.assertFalse((folder / "m-tp2.mpi").exists())


if __name__ == "__main__":
    unittest.main()
