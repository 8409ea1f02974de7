"""Trains one model with a batch of which one sample makes gradients non-finite, between two that do not.

  harness nonfinite MODEL --models FOLDER --work FOLDER --plan P.plan... --mesh dp=2,tp=1...
                    --optimizer 'sgd { lr 0.1 }' [--statement TEXT...]

MODEL is a name of models/make_models.py that has an input of floats; the last sample of the second batch is infinite
there. Under 'nonfinite gradients skip' the training is that of PyTorch on the other two batches, and the ranks that
have the sample, and no others, say which gradients they have made; under 'nonfinite gradients stop' it fails, saying
so.
"""

from __future__ import annotations

import argparse
import math
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from safetensors.torch import load_file, save_file

from harness.arguments import parser_of
from harness.plans import Run, compile_run, made_files, runs_of, sizes_of, with_statements
from harness.programs import call
from harness.reference.archives import load_program
from harness.reference.training import compare, reference_of
from harness.tensors import Tensors
from harness.trainings.steps import add_training, make_batches, settings_of, statements_of, steps_command

NOTE = re.compile(r"rank (\d+): \d+ elements of the gradients of step 2 .* this rank produced \d")


def spoil(batch: Path) -> None:
    """Makes the last sample infinite."""
    tensors = load_file(batch)
    for tensor in tensors.values():
        if tensor.is_floating_point():
            tensor[-1] = float("inf")
    save_file(tensors, batch)


def without_second(result: Tensors) -> Tensors:
    """The outputs of the third step as those of the second."""
    kept = {name: tensor for name, tensor in result.items() if not name.startswith("step1.")}
    return {re.sub(r"^step2\.", "step1.", name): tensor for name, tensor in kept.items()}


def makers(mesh: str) -> set[int]:
    """The ranks that have the last sample: those of the last coordinate of dp, the first axis."""
    sizes = [*sizes_of(mesh).values()]
    ranks = math.prod(sizes)
    return set(range(ranks - ranks // sizes[0], ranks))


def train(arguments: argparse.Namespace, run: Run, batches: list[Path]) -> subprocess.CompletedProcess[str]:
    compile_run(arguments, run)
    return call(steps_command(arguments, run.schedule, run.output, batches))


def fault_of_stop(done: subprocess.CompletedProcess[str]) -> str | None:
    """What is not as it should be where the run stops."""
    if done.returncode != 1:
        return f"exit status {done.returncode}"
    found = re.search(r"rank \d+: \d+ elements of the gradients of step 2 are NaN or infinite", done.stderr)
    return None if found else f"it says {done.stderr!r}"


def main(words: Sequence[str]) -> int:
    parser = parser_of(__doc__, "runs")
    add_training(parser)
    arguments = parser.parse_args(words)
    files = made_files(arguments)
    arguments.work.mkdir(parents=True, exist_ok=True)
    batches = make_batches(files.inputs, arguments.work, steps=3)
    spoil(batches[1])
    settings = settings_of(arguments)
    others = [load_file(batches[0]), load_file(batches[2])]
    reference = reference_of(load_program(files.archive), settings, others)
    right = True
    for action in ("skip", "stop"):
        statements = [*statements_of(arguments), f"nonfinite gradients {action}"]
        for run in runs_of(arguments, lambda text, statements=statements: with_statements(text, statements)):
            done = train(arguments, run, batches)
            print(f"{run.output.stem} {action}", flush=True)
            if action == "stop":
                fault = fault_of_stop(done)
                print(fault or "ok")
                right &= fault is None
                continue
            named = {int(rank) for rank in NOTE.findall(done.stdout)}
            if named != makers(run.mesh):
                print(f"ranks {sorted(named)} have made them, not {sorted(makers(run.mesh))}: WRONG\n{done.stderr}")
                right = False
                continue
            right &= compare(without_second(load_file(run.output)), reference, settings)
    return 0 if right else 1
