#!/usr/bin/env python3
"""Trains one model with a batch of which one sample makes gradients that are no numbers, between two that do not.

  check_nonfinite.py MODEL --models FOLDER --work FOLDER --plan P.plan... --mesh dp=2,tp=1...
                     --optimizer 'sgd { lr 0.1 }' [--statement TEXT...]

MODEL is a name of make_models.py that has an input of floats; the last sample of the second batch is infinite there.
Under 'nonfinite gradients skip' the training is that of PyTorch on the other two batches, and the ranks that have the
sample, and no others, say which gradients they have made; under 'nonfinite gradients stop' it fails, saying so.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

from check_training import make_batches, reference_arguments, statements_of, steps_command
from compare_forward import Tensors, load_program
from compare_training import add_options, compare, reference_of
from plan_runs import Run, argument_parser, compile_command, make_model, runs_of, with_statements
from safetensors.torch import load_file, save_file

NOTE = re.compile(r"rank (\d+): \d+ elements of the gradients of step 2 .* this rank produced")


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
    sizes = [int(axis.split("=")[1]) for axis in mesh.split(",")]
    ranks = 1
    for size in sizes:
        ranks *= size
    return set(range(ranks - ranks // sizes[0], ranks))


def train(arguments: argparse.Namespace, run: Run, batches: list[Path]) -> subprocess.CompletedProcess[str]:
    subprocess.run(compile_command(arguments, run), check=True)
    return subprocess.run(steps_command(arguments, run, batches), capture_output=True, text=True)


def fault_of_stop(done: subprocess.CompletedProcess[str]) -> str | None:
    """What is not as it should be where the run stops."""
    if done.returncode != 1:
        return f"exit status {done.returncode}"
    found = re.search(r"rank \d+: \d+ elements of the gradients of step 2 are NaN or infinite", done.stderr)
    return None if found else f"it says {done.stderr!r}"


def main() -> int:
    parser = argument_parser(__doc__.splitlines()[0])
    add_options(parser)
    parser.add_argument("--optimizer", required=True)
    parser.add_argument("--statement", action="append", default=[], help="another statement of the plan")
    parser.add_argument("--seed", type=int, help="of random operators (default: that of the program, 0)")
    parser.add_argument("--steps-program", default="run-steps")
    arguments = parser.parse_args()

    archive = make_model(arguments)
    arguments.work.mkdir(parents=True, exist_ok=True)
    batches = make_batches(arguments.models / f"{arguments.model}.inputs.safetensors", arguments.work, steps=3)
    spoil(batches[1])
    compared = reference_arguments(arguments)
    reference = reference_of(load_program(archive), compared, [load_file(batches[0]), load_file(batches[2])])
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
            right &= compare(without_second(load_file(run.output)), reference, compared)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
