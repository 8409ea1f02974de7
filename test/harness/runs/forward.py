"""Runs the whole path for one model under several plans and meshes, and compares with PyTorch.

  harness forward MODEL --models FOLDER --work FOLDER --plan P.plan... --mesh dp=2,tp=2... [--compute DTYPE]
                  [--activations bf16|f16|f32]

MODEL is a name of models/make_models.py; its archive is made in --models when it is not there. Each plan names
"model.pt2". For each plan and mesh: compile, run the ranks as threads, compare every output (reference/forward.py), and
compare the memory that was metered with what the compiler planned: parameters exactly, the peak within 5 %. With
`--compute` both sides compute under autocast in that dtype. Where the plan sends partial sums in 16 bits, PyTorch's own
run makes each product with a divided weight in as many addends as ranks, which it rounds. `--activations` states that
dtype.
"""

from __future__ import annotations

from collections.abc import Sequence

from safetensors.torch import load_file

from harness.arguments import parser_of
from harness.plans import (
    activations_statement,
    autocast_statement,
    check_report,
    execute,
    made_files,
    runs_of,
    with_statements,
)
from harness.reference.addends import References
from harness.reference.archives import is_half, load_program
from harness.reference.forward import Reference
from harness.reference.graphs import COMPUTE
from harness.reference.product_scratch import is_planned, largest_scratch
from harness.runs import memory

# Of the planned peak: the kernels of other processors hold otherwise.
TOLERANCE = memory.TOLERANCE if is_planned() else 0.2


def main(words: Sequence[str]) -> int:
    parser = parser_of(__doc__, "runs", "activations", "device")
    parser.add_argument("--compute", choices=COMPUTE, help="of autocast")
    arguments = parser.parse_args(words)
    added = autocast_statement(arguments.compute) + activations_statement(arguments.activations) + arguments.statement
    files = made_files(arguments)
    program, inputs = load_program(files.archive), load_file(files.inputs)
    scratch = largest_scratch(program, threads=1, compute=COMPUTE.get(arguments.compute))
    half = is_half(program) or arguments.compute is not None
    references = References(half, lambda shards: Reference(program, inputs, arguments.compute, shards))
    right = True
    for run in runs_of(arguments, lambda text: with_statements(text, added)):
        held = execute(arguments, run)["memory"]
        # Planned peaks are those of kernels of the CPU.
        right &= arguments.device != "cpu" or memory.check_run(held, run.output.stem, scratch, TOLERANCE)
        reference = references.of(lambda run=run: check_report(arguments, run))
        right &= reference.compare(load_file(run.output), run.output.stem)
    return 0 if right else 1
