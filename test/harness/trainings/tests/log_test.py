"""Tests of log.py."""

from __future__ import annotations

import argparse
import unittest
from collections.abc import Sequence

from harness.trainings import log

Lines = list[dict]


def step(number: int, loss: float | None) -> dict:
    return {"kind": "step", "step": number, "loss": loss}


def evaluation(number: int, loss: float) -> dict:
    return {"kind": "evaluation", "step": number, "loss": loss}


def fault(lines: Sequence[dict], steps: int = 2, falls: float | None = None, evaluated: float | None = None) -> str:
    found = log.fault_of(lines, argparse.Namespace(steps=steps, falls=falls, evaluation_falls=evaluated))
    return found or ""


class Steps(unittest.TestCase):
    def test_each_is_there_once_and_in_order(self) -> None:
        first, second = step(1, 2.0), step(2, 1.0)
        self.assertEqual(fault([first, {"kind": "note", "step": 1}, second]), "")
        self.assertRegex(fault([first]), r"\[2\] are missing")
        self.assertRegex(fault([first, second, step(3, 1.0)]), r"\[3\] are too many")
        self.assertRegex(fault([first, second, second]), "3 lines in all")
        self.assertNotEqual(fault([second, first]), "")

    def test_a_loss_is_a_number(self) -> None:
        self.assertEqual(fault([step(1, 2.0), step(2, None)]), "the loss of step 2 is not a number")


class Falls(unittest.TestCase):
    def test_tenths_are_compared(self) -> None:
        lines = [step(number, 3.0 if number in (1, 2) else 9.0 if number < 19 else 1.5) for number in range(1, 21)]
        self.assertEqual(fault(lines, 20, falls=0.5), "")
        self.assertEqual(fault(lines, 20, falls=0.49), "loss: 1.5000 is more than 0.49 x 3.0000")

    def test_evaluations_are_compared(self) -> None:
        steps: Lines = [step(1, 2.0), step(2, 2.0)]
        self.assertEqual(fault([evaluation(0, 2.0), *steps, evaluation(2, 1.0)], evaluated=0.5), "")
        self.assertRegex(fault([evaluation(0, 2.0), *steps, evaluation(2, 1.1)], evaluated=0.5), "evaluation: 1.1000")
        self.assertRegex(fault([*steps, evaluation(2, 1.0)], evaluated=0.5), "no evaluation before step 1")
        self.assertRegex(fault([evaluation(0, 2.0), evaluation(1, 1.0), *steps], evaluated=0.5), "after step 2")
