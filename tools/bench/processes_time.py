"""Measures a forward pass with loss on processes of this machine against PyTorch over Gloo on as many.

Once the batch is split (dp = 2), once the model (tp = 3). Both sides use the same number of threads; PyTorch's loss is
compared with that of one process. They take turns of a few steps each; the ratio is the median of the ratios of the
turns. The target applies to an idle machine of 2 cores.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import torch
from bench import models, ranks, reference, table, turns
from bench.arguments import parser
from safetensors.torch import load_file

TARGET = 1.0
LOSS_TOLERANCE = 1e-5  # float32, sums in another order
TORCHRUN = Path(sys.executable).with_name("torchrun")
HARNESS = models.ROOT / "test" / "harness"


@dataclass(frozen=True)
class Case:
    model: models.Model
    parallel: str  # option of torch_rank.py
    axis: str
    size: int


CASES = tuple(
    Case(models.smollm2(batch=4, sequence=sequence), parallel, axis, size)
    for sequence in (96, 384)
    for parallel, axis, size in (("data", "dp", 2), ("tensor", "tp", 3))
)


def expected_loss(model: models.Model, where: Path) -> float:
    with torch.no_grad():
        return reference.load(model)(**load_file(where / "inputs.safetensors"))["loss"].item()


def pytorch_seconds(case: Case, where: Path, steps: int, loss: float) -> float:
    command = [str(TORCHRUN), "--standalone", "--nproc-per-node", str(case.size), "-m", "bench.torch_rank"]
    command += ["--parallel", case.parallel, "--inputs", str(where / "inputs.safetensors"), "--steps", str(steps)]
    command += ["--batch", str(case.model.batch), "--sequence", str(case.model.sequence)]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    result = json.loads(output)
    if not math.isclose(result["loss"], loss, rel_tol=LOSS_TOLERANCE):
        raise RuntimeError(f"the processes of PyTorch find the loss {result['loss']}, one process {loss}")
    return result["seconds"]


def measure(case: Case, arguments: argparse.Namespace) -> table.Row:
    where = models.export(case.model, arguments.folder)
    programs = arguments.programs
    ranks.compile_schedule(case.model, programs, where, world=case.size, tp=case.size if case.axis == "tp" else 1)
    loss = expected_loss(case.model, where)
    launcher = (sys.executable, str(HARNESS), "run_mpi", str(case.size), "--")
    measured = turns.take(
        arguments.rounds,
        lambda: ranks.step_seconds(programs, where, arguments.steps, launcher),
        lambda: pytorch_seconds(case, where, arguments.steps, loss),
        TARGET,
    )
    return {"model": case.model.name, "processes": f"{case.axis} = {case.size}"} | measured


def main() -> None:
    arguments = parser(__doc__, rounds=5, steps=5).parse_args()
    table.report([measure(case, arguments) for case in CASES], arguments.json)


if __name__ == "__main__":
    main()
