"""Evaluates one model in training under several plans and meshes, and compares with PyTorch's model.eval().

  harness evaluation MODEL EVALUATED --models FOLDER --work FOLDER --plan P.plan... --mesh dp=2,tp=2...
                     [--statement TEXT...] [--loss-only]

Both are names of models/make_models.py: of one model with the same weights, exported in training and in evaluation
mode. For each plan and mesh: compile MODEL, run program `eval`, compare every output with those of EVALUATED, as
reference/forward.py does. In microbatches there is no more than the loss: with `--loss-only` nothing else is compared,
and nothing else may be there. What `check` says the evaluation needs may be no more than what the step needs.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import load_file

from harness.models.make_models import has_loss
from harness.plans import Run, argument_parser, execute, make_model, runs_of
from harness.reference.archives import load_program
from harness.reference.forward import Reference
from harness.runs.gradients import trained


def same_weights(models: Path, left: str, right: str) -> bool:
    own, other = (load_file(models / f"{name}.safetensors") for name in (left, right))
    return own.keys() == other.keys() and all(torch.equal(own[name], other[name]) for name in own)


def check_memory(meshplan: str, run: Run) -> bool:
    """True if the peak of the evaluation is at most that of the step."""
    command = [meshplan, "check", run.plan, "--json", *(f"-D{axis}" for axis in run.mesh.split(","))]
    report = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    step, evaluation = report["memory"]["peak"]["largest"], report["evaluation"]["peak"]["largest"]
    right = 0 < evaluation <= step
    print(f"{run.output.stem}: peak {evaluation}, of the step {step}: {'ok' if right else 'WRONG'}")
    return right


def main(words: Sequence[str]) -> int:
    parser = argument_parser(__doc__.splitlines()[0])
    parser.add_argument("evaluated")
    parser.add_argument("--loss", default="loss", help="name of the output that is the loss")
    parser.add_argument("--statement", action="append", default=[], help="another statement of the plan")
    parser.add_argument("--loss-only", action="store_true", help="the loss is the only output")
    arguments = parser.parse_args(words)
    make_model(arguments)
    name, arguments.model = arguments.model, arguments.evaluated
    archive = make_model(arguments)
    arguments.model = name
    if not same_weights(arguments.models, name, arguments.evaluated):
        print(f"{name} and {arguments.evaluated} have other weights: WRONG")
        return 1

    def change(text: str) -> str:
        return trained(text, arguments.loss, has_loss(name), arguments.statement)

    inputs = load_file(arguments.models / f"{name}.inputs.safetensors")
    reference = Reference(load_program(archive), inputs)
    if arguments.loss_only:
        reference.own = {arguments.loss: reference.own[arguments.loss]}
    right = True
    for run in runs_of(arguments, change):
        execute(arguments, run, program="eval")
        right &= reference.compare(load_file(run.output), run.output.stem)
        right &= check_memory(arguments.meshplan, run)
    return 0 if right else 1
