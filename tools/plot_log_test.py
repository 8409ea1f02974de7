#!/usr/bin/env python3
"""Tests of plot_log.py."""

import json
import tempfile
import unittest
from pathlib import Path

from plot_log import draw, read_run


def step_line(step: int, loss: float | None, tokens: int = 100) -> str:
    return json.dumps({"kind": "step", "step": step, "loss": loss, "tokens": tokens, "samples": 4, "seconds": 0.5})


class PlotLog(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.log = self.folder / "run.jsonl"

    def write(self, *lines: str) -> None:
        self.log.write_text("".join(line + "\n" for line in lines))

    def test_reads_steps_and_evaluations(self) -> None:
        self.write(
            step_line(1, 3.0),
            json.dumps({"kind": "evaluation", "step": 1, "loss": 2.5}),
            json.dumps({"kind": "note", "step": 1, "text": "stopped"}),
            step_line(2, None),
            step_line(3, 2.0),
            step_line(3, 1.0),
        )
        run = read_run(self.log)
        self.assertEqual(run.losses, {1: 3.0, 3: 1.0})
        self.assertEqual(run.evaluations, {1: 2.5})
        self.assertEqual(run.rates, {1: 200, 2: 200, 3: 200})
        self.assertTrue(run.has_tokens)

    def test_without_tokens_samples_count(self) -> None:
        self.write(step_line(1, 3.0, tokens=0))
        run = read_run(self.log)
        self.assertEqual(run.rates, {1: 8})
        self.assertFalse(run.has_tokens)

    def test_experts_are_compared_with_the_mean_of_their_layer(self) -> None:
        layers = [{"module": "a", "tokens": [1, 3], "dropped": 0}, {"module": "b", "tokens": [0, 0], "dropped": 0}]
        self.write(step_line(1, 3.0), json.dumps(json.loads(step_line(2, 2.0)) | {"experts": layers}))
        run = read_run(self.log)
        self.assertEqual(run.experts, {2: (0.5, 1.5)})
        draw([run], self.folder / "plot.png")

    def test_another_file_is_refused(self) -> None:
        self.write(step_line(1, 3.0), "text")
        with self.assertRaises(SystemExit) as raised:
            read_run(self.log)
        self.assertEqual(
            str(raised.exception),
            f"{self.log}:2: error: not a line of a training log; help: give a file that --log wrote",
        )

    def test_a_log_without_steps_is_refused(self) -> None:
        self.write(json.dumps({"kind": "note", "step": 0, "text": "stopped"}))
        with self.assertRaises(SystemExit) as raised:
            read_run(self.log)
        self.assertEqual(str(raised.exception), f"{self.log}: error: no step has a loss")

    def test_draws_a_png(self) -> None:
        self.write(step_line(1, 3.0), step_line(2, 2.0), json.dumps({"kind": "evaluation", "step": 2, "loss": 2.1}))
        draw([read_run(self.log)], self.folder / "plot.png")
        self.assertEqual((self.folder / "plot.png").read_bytes()[:8], b"\x89PNG\r\n\x1a\n")


if __name__ == "__main__":
    unittest.main()
