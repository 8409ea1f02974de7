"""Runs the training step of one model under several plans and meshes, and compares its gradients with PyTorch.

  harness gradients MODEL --models FOLDER --work FOLDER --plan P.plan... --mesh dp=2,tp=2... [--loss NAME]
                    [--activations bf16|f16|f32]

As runs/forward.py, whose plans it takes: what a plan needs to train is added where it is missing, the statements `loss`
and `optimizer`, and for a model NAME_loss of models/make_models.py `rest: replicate`, for the parameters that the model
NAME does not have. For each plan and mesh: compile, run program `step`, compare every gradient as
reference/gradients.py does, with `--activations` and addends as runs/forward.py has them.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from safetensors.torch import load_file

from harness.models.make_models import has_loss
from harness.plans import activations_statement, add_device, argument_parser, execute, make_model, report_of, runs_of
from harness.reference.addends import References, Shards
from harness.reference.archives import is_half, load_program
from harness.reference.draws import Draws
from harness.reference.gradients import GradientReference


def trained(text: str, loss: str, has_more: bool, statements: Sequence[str]) -> str:
    """The text of a plan that trains; `has_more` parameters than it may know of."""
    added = "".join(f"  {statement}\n" for statement in statements)
    if not re.search(r"^  loss ", text, re.MULTILINE):
        added += f"  loss {loss}\n"
    if not re.search(r"^  optimizer ", text, re.MULTILINE):
        added += "  optimizer sgd { lr 0.1 }\n"
    if has_more and not re.search(r"^  rest:", text, re.MULTILINE):
        added += "  rest: replicate\n"
    end = text.rindex("}")
    return text[:end] + added + text[end:]


def main(words: Sequence[str]) -> int:
    parser = argument_parser(__doc__.splitlines()[0])
    parser.add_argument("--loss", default="loss", help="name of the output that is differentiated")
    parser.add_argument("--seed", type=int, help="of random operators (default: that of the program, 0)")
    parser.add_argument("--statement", action="append", default=[], help="another statement of the plan")
    parser.add_argument("--activations", choices=("bf16", "f16", "f32"), help="of partial sums while they are sent")
    add_device(parser)
    arguments = parser.parse_args(words)
    statements = arguments.statement + activations_statement(arguments.activations)
    program = load_program(make_model(arguments))
    inputs = load_file(f"{arguments.models / arguments.model}.inputs.safetensors")

    def reference_of(shards: Shards | None) -> GradientReference:
        return GradientReference(program, inputs, arguments.loss, Draws(arguments.seed or 0), shards)

    references = References(is_half(program), reference_of)
    right = True
    settings = [] if arguments.seed is None else ["--set", f"seed={arguments.seed}"]

    def change(text: str) -> str:
        return trained(text, arguments.loss, has_loss(arguments.model), statements)

    for run in runs_of(arguments, change):
        try:
            execute(arguments, run, program="step", options=["--gradients"], settings=settings)
        except subprocess.CalledProcessError as error:
            print(f"{run.output.stem}: {Path(error.cmd[0]).name} {error.cmd[1]} ended with {error.returncode}: WRONG")
            right = False
            continue
        reference = references.of(lambda run=run: report_of(arguments, run))
        right &= reference.compare(load_file(run.output), run.output.stem)
    return 0 if right else 1
