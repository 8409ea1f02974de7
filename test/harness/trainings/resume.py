"""Trains under one plan, saves, and goes on under others.

  harness resume MODEL --models FOLDER --work FOLDER --plan P.plan --mesh dp=2,tp=1 [--statement TEXT...]
                 --resume-mesh dp=2,tp=2 [--resume-statement TEXT...] --optimizer 'adamw { lr 1e-2 }'
                 [--steps N] [--save-at K] [as trainings/training.py]

The first plan makes all N steps in one run, and K in another one that saves behind the last. From there
- the same plan makes the others: what ranks then hold has the bits of the unbroken run, and so has each loss;
- the plan with the other statements, on each of the other meshes, makes them too: losses and parameters are held
  against PyTorch, as trainings/training.py does.
Prints a line for each; status 1 if one is wrong.
"""

from __future__ import annotations

import argparse
import copy
import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import load_file

from harness.plans import Run, argument_parser, compile_command, make_model, report_of, runs_of, with_statements
from harness.reference.archives import load_program
from harness.reference.training import add_options, compare, references_of
from harness.tensors import Tensors
from harness.trainings.training import add_training_options, make_batches, reference_arguments, statements_of


class Resuming:
    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.checkpoints = arguments.work / "checkpoints"

    def compiled(self, meshes: Sequence[str], statements: Sequence[str], folder: str) -> list[Run]:
        """The plan with these statements on each mesh."""
        named = copy.copy(self.arguments)
        named.mesh, named.statement, named.work = meshes, statements, self.arguments.work / folder
        runs = list(runs_of(named, lambda text: with_statements(text, statements_of(named))))
        for run in runs:
            subprocess.run(compile_command(named, run), check=True)
        return runs

    def steps(self, run: Run, batches: Sequence[Path], *options: str | Path, name: str = "") -> Tensors:
        """What the run writes: its outputs of each batch, and what it holds behind them."""
        seed = [] if self.arguments.seed is None else ["--set", f"seed={self.arguments.seed}"]
        weights = f"{self.arguments.models / self.arguments.model}.safetensors"
        result = run.output.with_suffix(f".{name}.safetensors")
        command = [self.arguments.steps_program, *seed, *options, run.schedule, weights, result, *batches]
        printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        print("".join(f"  {line}\n" for line in printed.splitlines() if line.startswith("note")), end="", flush=True)
        return load_file(result)


def later(tensors: Tensors, count: int) -> Tensors:
    """Outputs of steps that come behind so many others."""
    renamed = {}
    for name, tensor in tensors.items():
        step, dot, output = name.partition(".")
        is_output = step.startswith("step") and step[4:].isdigit()
        renamed[f"step{int(step[4:]) + count}{dot}{output}" if is_output else name] = tensor
    return renamed


def differing(ours: Tensors, other: Tensors) -> list[str]:
    """The tensors whose bits differ."""
    return [name for name, tensor in other.items() if name not in ours or not torch.equal(ours[name], tensor)]


def check_same(whole: Tensors, begun: Tensors, resumed: Tensors) -> bool:
    names = differing({**begun, **resumed}, whole)
    print(
        f"the same plan: {len(whole)} tensors, {len(names)} differ {names[:4]}: {'WRONG' if names else 'ok'}",
        flush=True,
    )
    return not names


def main(words: Sequence[str]) -> int:
    parser = argument_parser(__doc__.splitlines()[0])
    add_options(parser)
    add_training_options(parser)
    parser.add_argument("--save-at", type=int, default=10)
    parser.add_argument("--resume-mesh", nargs="+", default=[])
    parser.add_argument("--skips", action="store_true", help="some of the steps before change nothing")
    parser.add_argument("--resume-statement", action="append", default=[])
    arguments = parser.parse_args(words)

    archive = make_model(arguments)
    arguments.work.mkdir(parents=True, exist_ok=True)
    inputs = arguments.models / f"{arguments.model}.inputs.safetensors"
    batches = make_batches(inputs, arguments.work, arguments.steps)
    at = arguments.save_at
    resuming = Resuming(arguments)
    shutil.rmtree(resuming.checkpoints, ignore_errors=True)
    (first,) = resuming.compiled(arguments.mesh, arguments.statement, "first")
    whole = resuming.steps(first, batches, name="whole")
    begun = resuming.steps(first, batches[:at], "--save", resuming.checkpoints, name="begun")
    resume = ["--resume", resuming.checkpoints]
    right = check_same(whole, begun, later(resuming.steps(first, batches[at:], *resume, name="resumed"), at))

    if arguments.skips:
        record = json.loads((resuming.checkpoints / f"step-{at:06}" / "checkpoint.json").read_text())
        print(f"skipped: {record['skipped_steps']}, loss scale {record['loss_scale']}", flush=True)
        right &= 0 < record["skipped_steps"] < at
    if not arguments.resume_mesh:
        return 0 if right else 1
    compared = reference_arguments(arguments)
    references = references_of(load_program(archive), compared, [load_file(batch) for batch in batches])
    for run in resuming.compiled(arguments.resume_mesh, arguments.resume_statement, "other"):
        print(run.output.stem, flush=True)
        resumed = later(resuming.steps(run, batches[at:], *resume, name="resumed"), at)
        reference = references.of(lambda run=run: report_of(arguments, run))
        right &= compare({**begun, **resumed}, reference, compared)
    return 0 if right else 1
