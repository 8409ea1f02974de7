"""Tests of trainings/same_bits.py with programs that stand in for those that it runs."""

from __future__ import annotations

import argparse
import tempfile
import unittest
from pathlib import Path

from harness.trainings import same_bits


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
            schedule, output = Path(name) / "m-tp2.sched", Path(name) / "m-tp2.again"
            output.write_text("of yesterday")
            self.assertRegex(same_bits.differs(["false"], schedule, output), "^status 1: ")
            self.assertFalse(output.exists())

    def test_every_bit_counts(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            schedule, output = Path(name) / "m-tp2.sched", Path(name) / "m-tp2.again"
            schedule.with_suffix(".safetensors").write_text("ab")
            for text, problem in (("ab", ""), ("aB", "other bits")):
                command = ["sh", "-c", f"printf {text} > {output}"]
                self.assertEqual(same_bits.differs(command, schedule, output), problem)

    def test_a_training_has_its_batches_in_order_and_its_seed(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for file in ("batch1.safetensors", "batch0.safetensors", "gpt2-dp2.safetensors"):
                (folder / file).touch()
            arguments = argparse.Namespace(models=folder / "models", training="m", seed=3, steps_program="run-steps")
            command = same_bits.training_command(arguments, folder / "gpt2-dp2.sched", folder / "out")
            batches = [folder / "batch0.safetensors", folder / "batch1.safetensors"]
            weights = folder / "models" / "m.safetensors"
            schedule = folder / "gpt2-dp2.sched"
            wanted = ["run-steps", "--set", "seed=3", schedule, weights, folder / "out", *batches]
            self.assertEqual(command, wanted)
