"""Holds what ranks keep from step to step under ZeRO-3 against the parameters of the model.

  harness shares MODEL --models FOLDER --work FOLDER --plan P.plan --mesh dp=1,tp=1 dp=2,tp=1...

MODEL is a name of models/make_models.py without frozen parameters; meshes divide over dp alone. One step of AdamW runs,
whose states are two for each parameter and of its type. Of each parameter a rank keeps one share of as many as dp has
ranks, which are equal up to one element; there is no padding. What it keeps is metered by its allocator, constants
aside.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from safetensors.torch import load_file

from harness import programs
from harness.arguments import parser_of
from harness.plans import compile_run, made_files, runs_of, sizes_of, with_statements
from harness.verdicts import verdict

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
    arguments = parser_of(__doc__, "runs").parse_args(words)
    files = made_files(arguments)
    right = True
    for run in runs_of(arguments, lambda text: with_statements(text, STATEMENTS + arguments.statement)):
        compile_run(arguments, run)
        said = programs.run([arguments.steps_program, run.schedule, files.weights, run.output, files.inputs])
        kept = [int(kept) - int(constants) for kept, constants in KEPT.findall(said)]
        ranks = sizes_of(run.mesh)["dp"]
        least, most = share_bounds(files.weights, ranks)
        fits = len(kept) == ranks and all(least <= held <= most for held in kept)
        right &= verdict(f"{run.mesh}: {kept}, {least} to {most}", fits)
    return 0 if right else 1
