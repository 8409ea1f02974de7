"""Evaluates one model in training under several plans and meshes, and compares with PyTorch's model.eval().

  harness evaluation MODEL EVALUATED --models FOLDER --work FOLDER --plan P.plan... --mesh dp=2,tp=2...
                     [--statement TEXT...] [--loss-only]

Both are names of models/make_models.py: of one model with the same weights, exported in training and in evaluation
mode. For each plan and mesh: compile MODEL, run program `eval`, compare every output with those of EVALUATED
(reference/forward.py). In microbatches there is no more than the loss: with `--loss-only` nothing else is compared, and
nothing else may be there. What `check` says the evaluation needs may be no more than what the step needs.
"""

from __future__ import annotations

from collections.abc import Sequence

from safetensors.torch import load_file

from harness.arguments import parser_of
from harness.models.make_models import has_loss
from harness.plans import check_report, execute, made_files, runs_of, that_trains
from harness.reference.archives import load_program
from harness.reference.forward import Reference
from harness.tensors import differing
from harness.verdicts import verdict


def main(words: Sequence[str]) -> int:
    parser = parser_of(__doc__, "runs")
    parser.add_argument("evaluated")
    parser.add_argument("--loss", default="loss", help="name of the output that is the loss")
    parser.add_argument("--loss-only", action="store_true", help="the loss is the only output")
    arguments = parser.parse_args(words)
    files, evaluated = made_files(arguments), made_files(arguments, arguments.evaluated)
    if differing(load_file(files.weights), load_file(evaluated.weights)):
        print(f"{arguments.model} and {arguments.evaluated} have other weights: WRONG")
        return 1

    def change(text: str) -> str:
        return that_trains(text, arguments.loss, has_loss(arguments.model), arguments.statement)

    reference = Reference(load_program(evaluated.archive), load_file(files.inputs))
    if arguments.loss_only:
        reference.own = {arguments.loss: reference.own[arguments.loss]}
    right = True
    for run in runs_of(arguments, change):
        execute(arguments, run, program="eval")
        right &= reference.compare(load_file(run.output), run.output.stem)
        said = check_report(arguments, run)
        step, evaluation = said["memory"]["peak"]["largest"], said["evaluation"]["peak"]["largest"]
        right &= verdict(f"{run.output.stem}: peak {evaluation}, of the step {step}", 0 < evaluation <= step)
    return 0 if right else 1
