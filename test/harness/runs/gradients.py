"""Runs the training step of one model under several plans and meshes, and compares its gradients with PyTorch.

  harness gradients MODEL --models FOLDER --work FOLDER --plan P.plan... --mesh dp=2,tp=2... [--loss NAME] [--seed N]
                    [--statement TEXT...] [--activations bf16|f16|f32]

As runs/forward.py, whose plans it takes: what a plan needs to train is added where it is missing, the statements `loss`
and `optimizer`, and for a model NAME_loss of models/make_models.py `rest: replicate`, for the parameters that the model
NAME does not have. For each plan and mesh: compile, run program `step`, compare every gradient
(reference/gradients.py), with `--activations` and addends as runs/forward.py has them.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from safetensors.torch import load_file

from harness.arguments import parser_of
from harness.models.make_models import has_loss
from harness.plans import (
    activations_statement,
    check_report,
    execute,
    made_files,
    runs_of,
    seed_setting,
    that_trains,
)
from harness.reference.addends import References, Shards
from harness.reference.archives import is_half, load_program
from harness.reference.draws import Draws
from harness.reference.gradients import GradientReference


def main(words: Sequence[str]) -> int:
    parser = parser_of(__doc__, "runs", "activations", "device")
    parser.add_argument("--loss", default="loss", help="name of the output that is differentiated")
    parser.add_argument("--seed", type=int, help="of random operators (default: that of the program, 0)")
    arguments = parser.parse_args(words)
    statements = arguments.statement + activations_statement(arguments.activations)
    files = made_files(arguments)
    program, inputs = load_program(files.archive), load_file(files.inputs)

    def reference_of(shards: Shards | None) -> GradientReference:
        return GradientReference(program, inputs, arguments.loss, Draws(arguments.seed or 0), shards)

    def change(text: str) -> str:
        return that_trains(text, arguments.loss, has_loss(arguments.model), statements)

    references = References(is_half(program), reference_of)
    right = True
    for run in runs_of(arguments, change):
        try:
            execute(arguments, run, program="step", options=["--gradients"], settings=seed_setting(arguments.seed))
        except subprocess.CalledProcessError as error:
            print(f"{run.output.stem}: {Path(error.cmd[0]).name} {error.cmd[1]} ended with {error.returncode}: WRONG")
            right = False
            continue
        reference = references.of(lambda run=run: check_report(arguments, run))
        right &= reference.compare(load_file(run.output), run.output.stem)
    return 0 if right else 1
