"""Holds what ranks keep from step to step under ZeRO-3 against the parameters of the model.

  harness shares MODEL --models FOLDER --work FOLDER --plan P.plan --mesh dp=1,tp=1 dp=2,tp=1...

MODEL is a name of models/make_models.py without frozen parameters; meshes divide over dp alone. One step of AdamW runs,
whose states are two for each parameter and of its type. Of each parameter a rank keeps one share of as many as dp has
ranks, which are equal up to one element; there is no padding. What it keeps is metered by its allocator, constants
aside.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from safetensors.torch import load_file

from harness.plans import argument_parser, compile_command, make_model, runs_of, with_statements

STATEMENTS = ["optimizer adamw { lr 1e-3 }", "data dp { shard parameters, gradients, optimizer }"]
COPIES = 3  # the parameter and two states
KEPT = re.compile(r"rank \d+: .* kept (\d+) .* constants (\d+) ")


def share_bounds(weights: Path, ranks: int) -> tuple[int, int]:
    """The fewest and the most bytes that one of so many ranks may keep."""
    tensors = load_file(weights).values()
    least = sum(tensor.numel() // ranks * tensor.element_size() for tensor in tensors)
    most = sum(-(-tensor.numel() // ranks) * tensor.element_size() for tensor in tensors)
    return COPIES * least, COPIES * most


def main(words: Sequence[str]) -> int:
    parser = argument_parser(__doc__.splitlines()[0])
    parser.add_argument("--steps-program", default="run-steps")
    arguments = parser.parse_args(words)
    make_model(arguments)
    base = arguments.models / arguments.model
    weights, inputs = Path(f"{base}.safetensors"), Path(f"{base}.inputs.safetensors")
    right = True
    for run in runs_of(arguments, lambda text: with_statements(text, STATEMENTS)):
        subprocess.run(compile_command(arguments, run), check=True)
        step = [arguments.steps_program, run.schedule, weights, run.output, inputs]
        said = subprocess.run(step, check=True, stdout=subprocess.PIPE, text=True).stdout
        kept = [int(kept) - int(constants) for kept, constants in KEPT.findall(said)]
        ranks = int(run.mesh.split(",")[0].removeprefix("dp="))
        least, most = share_bounds(weights, ranks)
        fits = len(kept) == ranks and all(least <= held <= most for held in kept)
        print(f"{run.mesh}: {kept}, {least} to {most}: {'ok' if fits else 'WRONG'}", flush=True)
        right &= fits
    return 0 if right else 1
