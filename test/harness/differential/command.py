"""The differential test: random models under random meshes and plans, compared with PyTorch.

  differential --meshplan P --meshplan-run P --record-coverage P --work FOLDER [--first N] [--cases N] [--coverage]
  differential ... --training --run-steps P      cases that train
  differential ... --weights        models of nothing but weights that are made of others
  differential ... --mixtures       models of nothing but mixtures of experts
  differential ... --case FILE      one case, as a failing run wrote it
  differential ... --device cuda --run-cases P   all ranks on one GPU
  differential ... --write FOLDER   cases are compiled, and their files written, to be run by elsewhere.py
  differential ... --results FOLDER the same cases, with results of elsewhere.py

A case is drawn from its number alone: a model of random blocks and operators, its sizes and dtype, a mesh of one to
eight ranks, and what a plan states for each module. It is exported, compiled and run, and every output is held against
float64 as reference/forward.py does. With --training the model has a loss, the plan says how it is trained, and losses
and parameters after one or two steps are held against PyTorch as reference/training.py does. A case that fails is made
smaller and written to --work. Prints how many cases were right, refused (with the reasons) and wrong. Status 1 if one
is wrong, if more than 5 % are refused, or, with --coverage, if an operator is reached by fewer draws than it should be
in one of the columns, or a statement of training is in too few plans.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import math
import multiprocessing
import os
import sys
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import torch

from harness import HARNESS
from harness.arguments import parser_of
from harness.differential.case import Case, read_case
from harness.differential.coverage import Coverage
from harness.differential.draw import PLANS, draw_case, without_ties
from harness.differential.plans.training_draw import draw_training
from harness.differential.run_case import (
    INVALID,
    REFUSED,
    RIGHT,
    WRITTEN,
    WRONG,
    Outcome,
    Programs,
    Runner,
    kind_of_failure,
)
from harness.differential.shrink import shrink
from harness.differential.training_coverage import TrainingCoverage
from harness.programs import run

MOST_REFUSED = 0.05
FEW = 200  # cases, of which as many may be refused as three standard deviations above that share
SHRUNK = 3  # failures that are made smaller
SECONDS = 240  # for each of them
MODELS_OF_A_PROCESS = 60  # torch.export keeps what it has seen


def prepare() -> None:
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    # Of operators that warn once in C++, and of gradients that nothing asks for.
    torch.set_grad_enabled(False)


def draw(number: int, trains: bool, only: str, device: str) -> Case:
    drawn = draw_training(number, only) if trains else draw_case(number, only)
    return drawn if device == "cpu" else without_ties(drawn)


def run_model(programs: Programs, trains: bool, only: str, numbers: range) -> list[Outcome]:
    """The cases of one model."""
    runner, outcomes = Runner(programs), []
    for number in numbers:
        try:
            outcomes.append(runner.run(draw(number, trains, only, programs.device)))
        except Exception as error:  # of PyTorch: one case must not end the others
            outcomes.append(Outcome(number, WRONG, f"{type(error).__name__}: {error}"))
    return outcomes


def run_all(arguments: argparse.Namespace, programs: Programs) -> list[Outcome]:
    end = arguments.first + arguments.cases
    models = [range(first, min(first + PLANS, end)) for first in range(arguments.first, end, PLANS)]
    outcomes: list[Outcome] = []
    begin, run = time.monotonic(), functools.partial(run_model, programs, arguments.training, arguments.only)
    with multiprocessing.Pool(arguments.jobs, prepare, maxtasksperchild=MODELS_OF_A_PROCESS) as pool:
        cases = itertools.chain.from_iterable(pool.imap_unordered(run, models))
        for outcome in cases:
            outcomes.append(outcome)
            if outcome.kind in (WRONG, INVALID):
                print(f"case {outcome.seed}: {outcome.kind}: {outcome.message}", flush=True)
            if len(outcomes) % 100 == 0:
                print(f"{len(outcomes)} cases, {time.monotonic() - begin:.0f} s", flush=True)
    return outcomes


def shrink_failure(outcome: Outcome, case: Case, arguments: argparse.Namespace, programs: Programs) -> None:
    """Writes the smallest case that fails in the same way, and prints it with the command that repeats it."""
    wanted, runner = kind_of_failure(outcome.message), Runner(programs)

    def fails(candidate: Case) -> bool:
        found = runner.run(candidate)
        return found.kind == WRONG and kind_of_failure(found.message) == wanted

    smallest = shrink(case, fails, arguments.seconds)
    path = programs.work / f"failing{case.seed}.json"
    smallest.write(path)
    print(f"\nsmallest form of case {case.seed}: {path}")
    show(smallest, runner.run(smallest), programs)
    options = f"--meshplan {programs.meshplan} --meshplan-run {programs.meshplan_run} "
    options += f"--record-coverage {programs.record_coverage} --run-steps {programs.run_steps} --work {programs.work} "
    options += f"--device {programs.device}" + (f" --run-cases {programs.run_cases}" if programs.run_cases else "")
    print(f"again: {sys.executable} {HARNESS} differential {options} --case {path}", flush=True)


def show(case: Case, outcome: Outcome, programs: Programs) -> None:
    blocks = [block.kind + "".join(f" {step.name}" for step in block.steps) for block in case.blocks]
    print(f"{outcome.kind}: {outcome.message or f'{outcome.share:.3f} of what is allowed'}")
    print(f"{case.stem.kind}, {', '.join(blocks)}, head {case.head.kind}; {case.sizes}")
    plan = programs.work / f"case{os.getpid()}.plan"
    if plan.is_file():
        print(plan.read_text())


def coverage_of(arguments: argparse.Namespace, programs: Programs) -> Coverage | TrainingCoverage:
    targets = run([programs.record_coverage]).split()
    return TrainingCoverage(targets) if arguments.training else Coverage(targets)


def most_refused(cases: int) -> float:
    """How many may be refused. The share of a few cases says little of that of all."""
    expected = MOST_REFUSED * cases
    return expected if cases >= FEW else expected + 3 * math.sqrt(expected * (1 - MOST_REFUSED))


def report(outcomes: list[Outcome], coverage: Coverage | TrainingCoverage, wants_coverage: bool) -> bool:
    kinds = Counter(outcome.kind for outcome in outcomes)
    written = f", {kinds[WRITTEN]} written" if kinds[WRITTEN] else ""
    print(
        f"{len(outcomes)} cases: {kinds[RIGHT]} right, {kinds[WRONG] + kinds[INVALID]} wrong, "
        f"{kinds[REFUSED]} refused{written}"
    )
    for reason, count in Counter(outcome.message for outcome in outcomes if outcome.kind == REFUSED).most_common():
        print(f"  {count:>4} refused: {reason}")
    shares = sorted(outcome.share for outcome in outcomes if outcome.kind == RIGHT)
    if shares:
        print(f"errors as shares of what is allowed: median {shares[len(shares) // 2]:.2f}, largest {shares[-1]:.2f}")
    for outcome in outcomes:
        coverage.add(outcome.reached if outcome.kind == RIGHT else set())
    right = kinds[WRONG] + kinds[INVALID] == 0 and kinds[REFUSED] <= most_refused(len(outcomes))
    if not wants_coverage:
        return right
    print(coverage.table())
    print(coverage.summary())
    for cell in coverage.missing():
        print(f"too few draws reach {' by '.join(cell)}: {coverage.counts[cell]}")
    return right and not coverage.missing()


def main(words: Sequence[str]) -> int:
    parser = parser_of(__doc__)
    for program in ("meshplan", "meshplan-run", "record-coverage"):
        parser.add_argument(f"--{program}", required=True)
    parser.add_argument("--run-steps", default="run-steps")
    parser.add_argument("--run-cases", default="", help="runs cases instead of meshplan-run, one after the other")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="for which plans are compiled")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--write", type=Path, help="do not run cases, but write what elsewhere.py reads")
    parser.add_argument("--results", type=Path, help="do not run cases, but take what elsewhere.py has written")
    parser.add_argument("--training", action="store_true", help="draw trainings")
    parser.add_argument(
        "--weights",
        action="store_const",
        const="made",
        default="",
        dest="only",
        help="draw weights that are made of others, and no other block",
    )
    parser.add_argument(
        "--mixtures", action="store_const", const="mixture", dest="only", help="the same with mixtures of experts"
    )
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--cases", type=int, default=40)
    parser.add_argument("--case", type=Path, help="a file with one case")
    parser.add_argument("--coverage", action="store_true", help="print the table, and fail if it is short of draws")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for making a failing case smaller")
    arguments = parser.parse_args(words)
    arguments.work.mkdir(parents=True, exist_ok=True)
    programs = Programs(
        arguments.meshplan,
        arguments.meshplan_run,
        arguments.record_coverage,
        arguments.work,
        arguments.run_steps,
        arguments.run_cases,
        arguments.device,
        arguments.write,
        arguments.results,
    )
    prepare()
    if arguments.case:
        case = read_case(arguments.case)
        outcome = Runner(programs).run(case)
        show(case, outcome, programs)
        return 0 if outcome.kind in (RIGHT, REFUSED) else 1
    coverage = coverage_of(arguments, programs)
    outcomes = run_all(arguments, programs)
    right = report(outcomes, coverage, arguments.coverage)
    for outcome in [outcome for outcome in outcomes if outcome.kind == WRONG][: 0 if arguments.results else SHRUNK]:
        shrink_failure(
            outcome, draw(outcome.seed, arguments.training, arguments.only, arguments.device), arguments, programs
        )
    return 0 if right else 1
