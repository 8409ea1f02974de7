"""Measures a forward pass with loss on six ranks of this machine against one PyTorch process with two threads.

Both compute loss and logits of the same batch. They take turns of a few steps each, so that a change of the machine's
load affects both; the ratio is the median of the ratios of the turns. The target applies to an idle machine of 2 cores.
"""

from __future__ import annotations

import argparse
import statistics
import time

import torch
from bench import models, ranks, reference, table, turns
from bench.arguments import parser
from meshplan.hugging_face import Model
from safetensors.torch import load_file

WORLD = 6
TARGET = 1.15
CASES = (models.smollm2(batch=4, sequence=96), models.smollm2(batch=4, sequence=384))


def pytorch_seconds(model: Model, inputs: dict[str, torch.Tensor], steps: int) -> float:
    """Leaves out a first step, like `meshplan-run bench`."""
    seconds = []
    with torch.no_grad():
        for _ in range(steps + 1):
            begin = time.monotonic()
            model(**inputs)
            seconds.append(time.monotonic() - begin)
    return statistics.median(seconds[1:])


def measure(model: models.Model, arguments: argparse.Namespace) -> table.Row:
    where = models.export(model, arguments.folder)
    ranks.compile_schedule(model, arguments.programs, where, world=WORLD)
    module = reference.load(model)
    inputs = load_file(where / "inputs.safetensors")
    measured = turns.take(
        arguments.rounds,
        lambda: ranks.step_seconds(arguments.programs, where, arguments.steps),
        lambda: pytorch_seconds(module, inputs, arguments.steps),
        TARGET,
    )
    return {"model": model.name, "ranks": WORLD} | measured


def main() -> None:
    arguments = parser(__doc__, rounds=7, steps=5).parse_args()
    torch.set_num_threads(2)
    table.report([measure(model, arguments) for model in CASES], arguments.json)


if __name__ == "__main__":
    main()
