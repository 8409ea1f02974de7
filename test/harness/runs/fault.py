"""Trains and verifies one model with one number that is wrong, and checks what is reported about it.

  harness fault MODEL --models FOLDER --work FOLDER --plan P.plan... --mesh dp=2,tp=1... [--statement TEXT...]
                --input NAME | --weight NAME, --index I J... --number X --says TEXT... [--trains]

MODEL is a name of models/make_models.py. The element of the input or weight at this position becomes X. A step and
`meshplan-run verify` must both fail, each TEXT in what they write to stderr; with --trains the step runs, and writes a
warning.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from safetensors.torch import load_file, save_file

from harness.arguments import parser_of
from harness.plans import Run, compile_run, files_of, made_files, runs_of, with_statements
from harness.programs import call


def spoil(source: Path, target: Path, name: str | None, index: list[int], number: float) -> Path:
    """The file as it is, or with another number in the tensor of this name."""
    if name is None:
        return source
    tensors = load_file(source)
    tensors[name][tuple(index)] = number
    save_file(tensors, target)
    return target


def problem(command: list[str | Path], status: int, texts: list[str]) -> str | None:
    """What is not as it should be."""
    done = call(command)
    if done.returncode != status:
        return f"exit status {done.returncode}: {done.stderr}"
    missing = [text for text in texts if text not in done.stderr]
    return f"{missing} is missing: {done.stderr}" if missing else None


def check(arguments: argparse.Namespace, run: Run) -> bool:
    files, work = files_of(arguments.models, arguments.model), arguments.work
    spoiled = (arguments.index, arguments.number)
    weights = spoil(files.weights, work / "weights.safetensors", arguments.weight, *spoiled)
    inputs = spoil(files.inputs, work / "inputs.safetensors", arguments.input, *spoiled)
    compile_run(arguments, run, ["--reference"])
    step = [arguments.steps_program, run.schedule, weights, run.output, inputs]
    verify = [arguments.meshplan_run, "verify", run.schedule, "--weights", weights, "--inputs", inputs]
    right = True
    for name, command, status in (("step", step, 0 if arguments.trains else 1), ("verify", verify, 1)):
        found = problem(command, status, arguments.says)
        print(f"{run.output.stem} {name}: {found or 'as expected'}", flush=True)
        right &= found is None
    return right


def main(words: Sequence[str]) -> int:
    parser = parser_of(__doc__, "runs")
    spoiled = parser.add_mutually_exclusive_group(required=True)
    spoiled.add_argument("--input", metavar="NAME")
    spoiled.add_argument("--weight", metavar="NAME")
    parser.add_argument("--index", type=int, nargs="+", required=True)
    parser.add_argument("--number", type=float, required=True)
    parser.add_argument("--says", nargs="+", required=True, metavar="TEXT")
    parser.add_argument("--trains", action="store_true")
    arguments = parser.parse_args(words)
    made_files(arguments)
    runs = runs_of(arguments, lambda text: with_statements(text, arguments.statement))
    wrong = [run for run in runs if not check(arguments, run)]
    return 1 if wrong else 0
