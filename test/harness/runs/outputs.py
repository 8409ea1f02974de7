"""Compares the outputs of runs, or the gradients of steps, with PyTorch.

  harness outputs MODEL.pt2 --inputs I.safetensors [--compute DTYPE] OUTPUTS.safetensors...
  harness outputs MODEL.pt2 --inputs I.safetensors --gradients [--loss NAME] OUTPUTS.safetensors...

What is right is in reference/forward.py and reference/gradients.py. Prints a line for each output, or for the worst
gradients; status 1 if one is wrong, missing or too many, has another dtype or shape than in PyTorch, or is not finite.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from safetensors.torch import load_file

from harness.arguments import parser_of
from harness.reference.archives import load_program
from harness.reference.forward import Reference
from harness.reference.gradients import GradientReference
from harness.reference.graphs import COMPUTE


def main(words: Sequence[str]) -> int:
    parser = parser_of(__doc__)
    parser.add_argument("model")
    parser.add_argument("outputs", nargs="+")
    parser.add_argument("--inputs", required=True)
    parser.add_argument("--compute", choices=COMPUTE, help="of PyTorch's autocast")
    parser.add_argument("--gradients", action="store_true", help="OUTPUTS are those of a step")
    parser.add_argument("--loss", default="loss", help="name of the output that is differentiated")
    arguments = parser.parse_args(words)
    program, inputs = load_program(arguments.model), load_file(arguments.inputs)
    reference: Reference | GradientReference
    if arguments.gradients:
        reference = GradientReference(program, inputs, arguments.loss)
    else:
        reference = Reference(program, inputs, arguments.compute)
    right = [reference.compare(load_file(path), Path(path).stem) for path in arguments.outputs]
    return 0 if all(right) else 1
