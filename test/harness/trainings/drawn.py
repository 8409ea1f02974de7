"""Trains a model from weights that the plan draws, under several meshes, and evaluates it.

  harness drawn MODEL --models FOLDER --work FOLDER --plan P.plan --mesh dp=1,tp=1 dp=2,tp=2...
                --init '**.bias zeros; rest normal 0.02' [--statement TEXT...]

A step with a learning rate of 0 changes nothing, and what it saves is what was drawn: the same bits under every mesh,
and others for another seed. Their mean and deviation are held against those of one `normal` by what so many draws may
be off. A few steps with a rate make the loss fall, and an evaluation before the first step is the loss that the program
`eval` gives for the saved weights, to the bit.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import load_file

from harness.arguments import parser_of
from harness.plans import made_files
from harness.programs import read_log, run
from harness.tensors import differing
from harness.trainings.train_command import compiled, data_of, write_data
from harness.verdicts import verdict

SIGMAS = 6.0  # a draw in five hundred million is further off


def train(arguments: argparse.Namespace, schedule: Path, name: str, steps: int, *words: str | Path) -> Path:
    """The folder of the run, with its log."""
    folder = arguments.work / name
    data = data_of(arguments)
    command = [arguments.meshplan_run, "train", schedule, "--data", data, "--eval-data", data, "--steps", str(steps)]
    outputs = ["--checkpoint", folder / "run", "--log", folder / "log.jsonl"]
    folder.mkdir()
    run([*command, *outputs, *words])
    return folder


def drawn(folder: Path) -> dict[str, torch.Tensor]:
    return load_file(folder / "run" / "step-000001" / "model.safetensors")


def moments_fit(weights: dict[str, torch.Tensor], deviation: float) -> bool:
    """Everything but ones and zeros: normal numbers with mean 0."""
    numbers = torch.cat([tensor.flatten().double() for tensor in weights.values() if tensor.unique().numel() > 1])
    mean, spread, count = numbers.mean().item(), numbers.std().item(), numbers.numel()
    fits = abs(mean) < SIGMAS * deviation / math.sqrt(count)
    fits &= abs(spread - deviation) < SIGMAS * deviation / math.sqrt(2 * count)
    return verdict(f"{count} numbers: mean {mean:.2e}, deviation {spread:.5f}", fits)


def evaluated_right(arguments: argparse.Namespace, schedule: Path, folder: Path) -> bool:
    """The log's evaluation before the first step, of weights that the run has saved."""
    output = folder / "eval.safetensors"
    weights = folder / "run" / "step-000001" / "model.safetensors"
    command = [arguments.meshplan_run, "forward", schedule, "--program", "eval", "--weights", weights]
    inputs = ["--inputs", data_of(arguments), "--outputs", output]
    run([*command, *inputs])
    loss = load_file(output)["loss"].item()
    first = read_log(folder / "log.jsonl", "evaluation")[0]["loss"]
    return verdict(f"evaluation: {first} in the log, {loss} alone", first == loss)


def falls(folder: Path) -> bool:
    losses = [line["loss"] for line in read_log(folder / "log.jsonl", "evaluation")]
    return verdict(f"trained: {losses[0]:.4f} to {losses[-1]:.4f}", losses[-1] < losses[0])


def main(words: Sequence[str]) -> int:
    parser = parser_of(__doc__, "runs")
    parser.add_argument("--init", required=True)
    parser.add_argument("--deviation", type=float, default=0.02)
    arguments = parser.parse_args(words)
    made_files(arguments)
    arguments.work.mkdir(parents=True)
    arguments.plan, arguments.optimizer = arguments.plan[0], "adamw { lr 1e-3 }"
    write_data(arguments)
    arguments.statement.insert(0, f"init {{ {arguments.init} }}")
    right, first = True, None
    for number, mesh in enumerate(arguments.mesh):
        schedule = compiled(arguments, f"plan{number}", mesh)
        folder = train(arguments, schedule, f"drawn{number}", 1, "--seed", "5", "--set", "optimizer.lr=0")
        weights = drawn(folder)
        right &= moments_fit(weights, arguments.deviation) and evaluated_right(arguments, schedule, folder)
        first = first or weights
        names = differing(weights, first)
        right &= verdict(f"{mesh}: {len(weights)} tensors, {len(names)} differ {names[:4]}", not names)
    other = drawn(train(arguments, schedule, "other", 1, "--seed", "6", "--set", "optimizer.lr=0"))
    right &= verdict("another seed", bool(differing(other, first))) and falls(
        train(arguments, schedule, "trained", 6, "--seed", "5")
    )
    return 0 if right else 1
