"""Checks the log that `meshplan-run train` has written.

  harness log LOG --steps N [--falls X] [--evaluation-falls X]

Each step from 1 to N has to be there once, in order, with a loss. With `--falls X` the mean loss of the last tenth of
the steps is at most X times that of the first tenth, and with `--evaluation-falls X` the loss of the last evaluation at
most X times that of the first, which is before any step. Prints what was found; status 1 if something is not so.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from harness.arguments import parser_of


def fault_of_steps(found: Sequence[int], steps: int) -> str | None:
    wanted = [*range(1, steps + 1)]
    if list(found) == wanted:
        return None
    missing, others = sorted({*wanted} - {*found}), sorted({*found} - {*wanted})
    return f"steps 1 to {steps} once each: {missing} are missing, {others} are too many, {len(found)} lines in all"


def fault_of_fall(name: str, first: float, last: float, most: float | None) -> str | None:
    print(f"{name}: {first:.4f} to {last:.4f}")
    if most is None or last <= most * first:
        return None
    return f"{name}: {last:.4f} is more than {most} x {first:.4f}"


def mean(numbers: Sequence[float]) -> float:
    return sum(numbers) / len(numbers)


def fault_of(lines: Sequence[dict], arguments: argparse.Namespace) -> str | None:
    """What is not as it should be."""
    steps = [line for line in lines if line["kind"] == "step"]
    evaluations = [line for line in lines if line["kind"] == "evaluation"]
    if fault := fault_of_steps([line["step"] for line in steps], arguments.steps):
        return fault
    losses = [line["loss"] for line in steps]
    if None in losses:
        return f"the loss of step {losses.index(None) + 1} is not a number"
    tenth = max(1, len(losses) // 10)
    if fault := fault_of_fall("loss", mean(losses[:tenth]), mean(losses[-tenth:]), arguments.falls):
        return fault
    if arguments.evaluation_falls is None:
        return None
    if len(evaluations) < 2 or evaluations[0]["step"] != 0 or evaluations[-1]["step"] != arguments.steps:
        return f"no evaluation before step 1 and after step {arguments.steps}"
    first, last = evaluations[0]["loss"], evaluations[-1]["loss"]
    return fault_of_fall("evaluation", first, last, arguments.evaluation_falls)


def main(words: Sequence[str]) -> int:
    parser = parser_of(__doc__)
    parser.add_argument("log", type=Path)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--falls", type=float)
    parser.add_argument("--evaluation-falls", type=float)
    arguments = parser.parse_args(words)
    lines = [json.loads(line) for line in arguments.log.read_text().splitlines()]
    fault = fault_of(lines, arguments)
    if fault:
        print(f"{arguments.log}: {fault}")
    return 1 if fault else 0
