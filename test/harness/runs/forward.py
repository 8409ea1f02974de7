"""Runs the whole path for one model under several plans and meshes, and compares with PyTorch.

  harness forward MODEL --models FOLDER --work FOLDER --plan P.plan... --mesh dp=2,tp=2... [--compute DTYPE]
                  [--activations bf16|f16|f32]

MODEL is a name of models/make_models.py; its archive is made in --models when it is not there. Each plan names
"model.pt2". For each plan and mesh: compile, run the ranks as threads, compare every output as reference/forward.py
does, and compare the memory that was metered with what the compiler planned: parameters exactly, the peak within 5 %.
With `--compute` both sides compute under autocast in that dtype. Where the plan sends partial sums in 16 bits,
PyTorch's own run makes each product with a divided weight in as many addends as ranks, which it rounds. `--activations`
states that dtype.
"""

from __future__ import annotations

from collections.abc import Sequence

from safetensors.torch import load_file

from harness.plans import (
    activations_statement,
    add_device,
    argument_parser,
    autocast_statement,
    execute,
    make_model,
    report_of,
    runs_of,
    with_statements,
)
from harness.reference.addends import References
from harness.reference.archives import is_half, load_program
from harness.reference.forward import Reference
from harness.reference.graphs import COMPUTE
from harness.reference.product_scratch import is_planned, largest_scratch

# Of the planned peak: the kernels of other processors hold otherwise.
PEAK_TOLERANCE = 0.05 if is_planned() else 0.2


def check_memory(memory: dict, label: str, scratch: int) -> bool:
    """True if what the ranks metered agrees with the plan, which says the largest of them. Peaks may be larger by
    `scratch`, what this processor's kernels hold and no plan has."""
    planned, ranks = memory["planned"], memory["ranks"]
    right = True
    held = max(rank["parameters"] for rank in ranks)
    if held != planned["parameters"]:
        print(f"{label}: the largest rank holds {held} bytes of parameters, planned {planned['parameters']}")
        right = False
    peak = max(rank["peak"] for rank in ranks)
    tolerance = PEAK_TOLERANCE * planned["peak"]
    if not -tolerance <= peak - planned["peak"] <= tolerance + scratch:
        print(f"{label}: the largest rank has a peak of {peak} bytes, planned {planned['peak']}")
        right = False
    return right


def main(words: Sequence[str]) -> int:
    parser = argument_parser(__doc__.splitlines()[0])
    parser.add_argument("--compute", choices=COMPUTE, help="of autocast")
    parser.add_argument("--activations", choices=("bf16", "f16", "f32"), help="of partial sums while they are sent")
    add_device(parser)
    arguments = parser.parse_args(words)
    added = autocast_statement(arguments.compute) + activations_statement(arguments.activations)
    program = load_program(make_model(arguments))
    scratch = largest_scratch(program, threads=1, compute=COMPUTE.get(arguments.compute))
    inputs = load_file(f"{arguments.models / arguments.model}.inputs.safetensors")
    half = is_half(program) or arguments.compute is not None
    references = References(half, lambda shards: Reference(program, inputs, arguments.compute, shards))
    right = True
    for run in runs_of(arguments, lambda text: with_statements(text, added)):
        memory = execute(arguments, run)["memory"]
        # Planned peaks are those of kernels of the CPU.
        right &= arguments.device != "cpu" or check_memory(memory, run.output.stem, scratch)
        reference = references.of(lambda run=run: report_of(arguments, run))
        right &= reference.compare(load_file(run.output), run.output.stem)
    return 0 if right else 1
