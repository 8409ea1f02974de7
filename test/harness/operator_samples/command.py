"""PyTorch's own samples of its operators on two ranks, compared with PyTorch.

  operator_samples --meshplan P --run-cases P --work FOLDER [--operators NAME...] [--most-refused N] [--jobs N]

Two samples in float32 of each operator of torch.testing's op_db are modules whose inputs are the sample's tensors. Each
is exported, compiled for a mesh of two ranks that divides dim 0 of every input that has two elements there, and run;
what it gives is held against float64 as reference/forward.py does. To each tensor with a gradient is added a parameter,
and the gradients of a weighted sum of all results are held against PyTorch as reference/gradients.py does. Prints, of
results and of gradients, how many are right, refused (with the reasons) and wrong. Status 1 if one is wrong, or more
are refused than --most-refused and --most-refused-gradients say.
"""

from __future__ import annotations

import argparse
import functools
import multiprocessing
import re
import shutil
import subprocess
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import torch

from harness.arguments import parser_of
from harness.operator_samples.case import (
    FORWARD,
    GRADIENTS,
    LEFT_OUT,
    PROGRAMS,
    REFUSED,
    RIGHT,
    WRONG,
    Case,
    Verdict,
    compile_case,
    export,
    judge,
)
from harness.operator_samples.samples import entries, samples_of

TOGETHER = 16  # operators whose samples one process runs
SECONDS = 300  # of one such run
Verdicts = dict[str, dict[str, Verdict]]  # by case, then by program


def prepare() -> None:
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    torch.set_grad_enabled(True)


def run_cases(cases: Sequence[Case], run_cases_program: str) -> None:
    """Runs what is compiled. A case that ends the process is wrong, and the others continue in another one."""
    waiting = [(case, what) for case in cases for what in PROGRAMS if case.is_open(what)]
    while waiting:
        text = "".join(case.line(what) + "\n" for case, what in waiting)
        try:
            ended = subprocess.run(
                [run_cases_program], input=text, capture_output=True, text=True, timeout=SECONDS, check=False
            )
            said, status = ended.stdout.splitlines(), f"run-cases ends with {ended.returncode}: {ended.stderr[-300:]}"
        except subprocess.TimeoutExpired as error:
            said, status = (error.stdout or b"").decode().splitlines(), "run-cases hangs"
        done = [line for line in said if line == "ok" or line.startswith("error: ")]
        for (case, what), line in zip(waiting, done, strict=False):
            if line != "ok":
                case.verdicts[what] = Verdict(WRONG, f"at run time: {line}")
        waiting = waiting[len(done) :]
        if waiting:
            case, what = waiting.pop(0)
            case.verdicts[what] = Verdict(WRONG, status)


def verdicts_of(arguments: argparse.Namespace, names: Sequence[str]) -> Verdicts:
    """Of all samples of some operators."""
    folder = arguments.work / re.sub(r"\W", "_", names[0])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    cases: list[Case] = []
    for entry in entries():
        if full_name(entry) not in names:
            continue
        for number, sample in enumerate(samples_of(entry)):
            name = f"{sample.name}.{number}"
            cases.append(Case(name, sample, folder / re.sub(r"\W", "_", name)))
    for case in cases:
        export(case)
        for what in PROGRAMS:
            if what not in case.verdicts:
                compile_case(case, what, arguments.meshplan, arguments.device)
    run_cases(cases, arguments.run_cases)
    for case in cases:
        for what in PROGRAMS:
            if case.is_open(what):
                try:
                    case.verdicts[what] = judge(case, what)
                except Exception as error:  # of PyTorch: one case must not end the others
                    case.verdicts[what] = Verdict(WRONG, f"{type(error).__name__}: {error}"[:300])
    if not arguments.keep:
        shutil.rmtree(folder)
    return {case.name: case.verdicts for case in cases}


def full_name(entry: object) -> str:
    return f"{entry.name}.{entry.variant_test_name}"  # type: ignore[attr-defined]


def report(found: Verdicts, what: str, refused: int | None) -> bool:
    """Prints the verdicts of results or of gradients; true if they are as they should be."""
    verdicts = {name: each[what] for name, each in found.items()}
    kinds = Counter(verdict.kind for verdict in verdicts.values())
    total = len(verdicts) - kinds[LEFT_OUT]
    gathered = sum(verdict.gathers for verdict in verdicts.values())
    print(
        f"{what}: {total} cases: {kinds[RIGHT]} right ({gathered} by an operator without a record, gathered),", end=""
    )
    print(f" {kinds[REFUSED]} refused, {kinds[WRONG]} wrong ({kinds[LEFT_OUT]} more left out)")
    reasons: dict[str, list[str]] = {}
    for name, verdict in verdicts.items():
        if verdict.kind == REFUSED:
            reasons.setdefault(verdict.message, []).append(name)
    for reason, names in sorted(reasons.items(), key=lambda item: -len(item[1])):
        print(f"  {len(names):>4} refused: {reason} ({', '.join(names[:3])}{', ...' if len(names) > 3 else ''})")
    for name, verdict in verdicts.items():
        if verdict.kind == WRONG:
            print(f"  WRONG {name}: {verdict.message}")
    return kinds[WRONG] == 0 and (refused is None or kinds[REFUSED] <= refused)


def main(words: Sequence[str]) -> int:
    parser = parser_of(__doc__)
    parser.add_argument("--meshplan", required=True)
    parser.add_argument("--run-cases", required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--operators", nargs="+", help="names of op_db")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="for which plans are compiled")
    parser.add_argument("--most-refused", type=int)
    parser.add_argument("--most-refused-gradients", type=int)
    parser.add_argument("--keep", action="store_true", help="leave archives, plans and schedules in the folder")
    parser.add_argument("--show-left-out", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args(words)
    names = [full_name(entry) for entry in entries(arguments.operators)]
    parts = [names[first : first + TOGETHER] for first in range(0, len(names), TOGETHER)]
    found: Verdicts = {}
    with multiprocessing.Pool(min(arguments.jobs, len(parts)), prepare, maxtasksperchild=2) as pool:
        for verdicts in pool.imap(functools.partial(verdicts_of, arguments), parts):
            found |= verdicts
    if arguments.show_left_out:
        for name, verdicts in found.items():
            for what, verdict in verdicts.items():
                if verdict.kind == LEFT_OUT:
                    print(f"{name}: {what} left out: {verdict.message}")
    right = report(found, FORWARD, arguments.most_refused)
    return 0 if report(found, GRADIENTS, arguments.most_refused_gradients) and right else 1
