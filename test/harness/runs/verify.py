"""Runs `meshplan-run verify` on one model under several plans and meshes.

  harness verify MODEL --models FOLDER --work FOLDER --plan P.plan... --mesh dp=2,tp=2... [--statement TEXT...]
                 [--microbatches N] [--damage KIND [NAME] --wrong WHAT=NAME... [--made-by TEXT]]

MODEL is a name of models/make_models.py; its archive is made in --models when it is not there. Statements, such as
'optimizer sgd { lr 0.1 }', are added to the plan; without an optimizer the forward pass is verified. Everything must be
right, and every trained parameter and its gradient must be among what was compared, and where a plan says `master` that
of each. With --microbatches the plan says `microbatches N mean`, and the inputs have N times the samples. With --damage
the schedule is damaged before (test/lib/damage), and verify must fail, naming exactly the tensors of --wrong:
'gradient=model.norm.weight', 'gradient=*' for any number of them. TEXT must be in the report about the first one.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from harness import programs
from harness.arguments import parser_of
from harness.plans import Run, compile_run, files_of, made_files, runs_of, with_statements
from harness.reference.archives import load_program
from harness.reference.gradients import names_of_parameters
from harness.reference.stacked import Stacks
from harness.trainings.steps import repeated


def make_inputs(arguments: argparse.Namespace, inputs: Path) -> Path:
    """Those of a whole batch."""
    if arguments.microbatches == 1:
        return inputs
    arguments.work.mkdir(parents=True, exist_ok=True)
    whole = arguments.work / "inputs.safetensors"
    save_file(repeated(load_file(inputs), arguments.microbatches), whole)
    return whole


def verify(arguments: argparse.Namespace, run: Run) -> tuple[int, dict]:
    """The exit status, and what was found."""
    compile_run(arguments, run, ["--reference"])
    schedule = run.schedule
    if arguments.damage:
        damaged = run.output.with_suffix(".damaged.sched")
        kind, *name = arguments.damage
        programs.run([arguments.damage_step, kind, schedule, damaged, *name])
        schedule = damaged
    weights = files_of(arguments.models, arguments.model).weights
    verify = [arguments.meshplan_run, "verify", schedule, "--weights", weights, "--inputs", arguments.inputs]
    done = programs.call([*verify, "--json", "--timeout", "120"])
    print(done.stderr, end="", file=sys.stderr)
    return done.returncode, json.loads(done.stdout)


def fault(arguments: argparse.Namespace, status: int, found: dict) -> str | None:
    """What is not as it should be."""
    wrong = [tensor for tensor in found["tensors"] if not tensor["right"]]
    names = [f"{tensor['what']}={tensor['name']}" for tensor in wrong]
    if (status, found["right"]) != ((1, False) if wrong else (0, True)):
        return f"exit status {status}, right {found['right']}, {len(wrong)} wrong"
    for name in names:
        if not any(fnmatch.fnmatchcase(name, pattern) for pattern in arguments.wrong):
            return f"{name} is wrong"
    for pattern in arguments.wrong:
        if not fnmatch.filter(names, pattern):
            return f"nothing is reported about {pattern}"
    if arguments.made_by and arguments.made_by not in wrong[0]["made_by"]:
        return f"{names[0]} is made by {wrong[0]['made_by']}"
    return None


def trained_parameters(program: torch.export.ExportedProgram) -> dict[str, str]:
    """Their first names, by each of their names: which one a tied parameter goes by does not matter."""
    groups = names_of_parameters(program)
    return {name: first for first, names in groups.items() if program.state_dict[first].requires_grad for name in names}


def missing(statements: Sequence[str], trained: dict[str, str], found: dict) -> str | None:
    """What was compared too little or too much."""
    has_masters = any(re.match(r"precision\b.*\bmaster\b", statement) for statement in statements)
    for what, wanted in (("gradient", trained), ("master", trained if has_masters else {}), ("parameter", trained)):
        names = {tensor["name"].removesuffix(".master") for tensor in found["tensors"] if tensor["what"] == what}
        names = {part for name in names for part in Stacks(trained).elements(name)}
        if others := {trained.get(name, name) for name in names} ^ {*wanted.values()}:
            return f"{what}s of {sorted(others)} are missing or too many"
    return None


def main(words: Sequence[str]) -> int:
    parser = parser_of(__doc__, "runs")
    parser.add_argument("--microbatches", type=int, default=1)
    parser.add_argument("--damage", nargs="+", metavar="KIND")
    parser.add_argument("--wrong", nargs="+", default=[], metavar="WHAT=NAME")
    parser.add_argument("--made-by", metavar="TEXT")
    parser.add_argument("--damage-step", default="damage-step")
    arguments = parser.parse_args(words)
    files = made_files(arguments)
    trains = any(statement.startswith("optimizer") for statement in arguments.statement)
    arguments.inputs = make_inputs(arguments, files.inputs)
    if arguments.microbatches > 1:
        arguments.statement.append(f"microbatches {arguments.microbatches} mean")
    trained = trained_parameters(load_program(files.archive)) if trains else {}

    right = True
    for run in runs_of(arguments, lambda text: with_statements(text, arguments.statement)):
        status, found = verify(arguments, run)
        problem = missing(arguments.statement, trained, found) or fault(arguments, status, found)
        print(f"{run.output.stem}: {len(found['tensors'])} tensors: {problem or 'as expected'}", flush=True)
        right &= problem is None
    return 0 if right else 1
