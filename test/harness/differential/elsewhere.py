"""Runs cases that `differential --write FOLDER` has written, on a machine that may have neither compiler nor PyTorch.

  harness elsewhere FOLDER --results FOLDER --run-cases P --run-steps P [--jobs N]

Writes what the programs make of each case, or what is wrong, to the folder --results, which `differential --results`
then compares. Cases that have a result there are left out. Where there is PyTorch with a GPU, it computes the forward
cases there too: its errors are those that bounds come from.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import multiprocessing
import shutil
import zipfile
from collections.abc import Sequence
from pathlib import Path

from harness.arguments import parser_of
from harness.differential.case_process import case_process, environment
from harness.programs import TOOK_TOO_LONG, call

SECONDS = 240


def write_case(
    folder: Path,
    seed: int,
    base: Path,
    settings: Sequence[str] = (),
    batches: int = 0,
    model: str = "",
    addends: int = 1,
) -> None:
    """The files of a case, and what run-steps is told of a training. `model` is a name for the archive of a forward
    case, of whose products PyTorch makes so many addends."""
    folder.mkdir(parents=True, exist_ok=True)
    for ending in ("sched", "weights", *([f"batch{batch}" for batch in range(batches)] or ["inputs"])):
        shutil.copyfile(f"{base}.{ending}", folder / f"case{seed}.{ending}")
    if model and not (folder / model).exists():
        with (
            zipfile.ZipFile(f"{base}.pt2") as plain,
            zipfile.ZipFile(folder / model, "w", zipfile.ZIP_DEFLATED) as packed,
        ):
            for member in plain.namelist():
                packed.writestr(member, plain.read(member))
    told = {"settings": list(settings), "batches": batches, "model": model, "addends": addends}
    (folder / f"case{seed}.json").write_text(json.dumps(told))


def result_of(folder: Path, seed: int) -> tuple[Path | None, str]:
    """The file with the result of a case, or what is wrong."""
    result, wrong = folder / f"case{seed}.result", folder / f"case{seed}.wrong"
    if result.is_file():
        return result, ""
    return None, wrong.read_text() if wrong.is_file() else "it was not run"


def own_result(folder: Path, seed: int) -> Path | None:
    """The file with what PyTorch made of a case on its device, where it did."""
    own = folder / f"case{seed}.own"
    return own if own.is_file() else None


def run_pytorch(cases: Sequence[Path], results: Path) -> None:
    """The forward cases by PyTorch, where it has a GPU."""
    if not importlib.util.find_spec("torch"):
        return
    from harness.differential import own_runs

    own_runs.run_all([told for told in cases if json.loads(told.read_text())["model"]], results)


def train(program: str, base: Path, told: dict, result: Path) -> str:
    batches = [f"{base}.batch{batch}" for batch in range(told["batches"])]
    command = [program, *told["settings"], f"{base}.sched", f"{base}.weights", str(result), *batches]
    ended = call(command, SECONDS, environment())
    if ended.returncode == TOOK_TOO_LONG:
        return "run-steps hangs"
    return f"run-steps ends with {ended.returncode}: {ended.stderr[-2000:]}" if ended.returncode else ""


def run_case(arguments: argparse.Namespace, told: Path) -> str:
    base, result = told.with_suffix(""), arguments.results / told.with_suffix(".result").name
    content = json.loads(told.read_text())
    if content["batches"]:
        wrong = train(arguments.run_steps, base, content, result)
    else:
        files = [Path(f"{base}.{ending}") for ending in ("sched", "weights", "inputs")]
        process = case_process(arguments.run_cases, arguments.results)
        wrong = process.run([*files, result], SECONDS)
    if wrong:
        result.with_suffix(".wrong").write_text(wrong)
    return f"{told.stem}: {wrong}" if wrong else ""


def run_share(arguments: argparse.Namespace, share: Sequence[Path]) -> list[str]:
    return [wrong for told in share if (wrong := run_case(arguments, told))]


def main(words: Sequence[str]) -> int:
    parser = parser_of(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--run-cases", default="run-cases")
    parser.add_argument("--run-steps", default="run-steps")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args(words)
    arguments.results.mkdir(parents=True, exist_ok=True)
    cases = sorted(arguments.folder.glob("case*.json"))
    waiting = [told for told in cases if not (arguments.results / f"{told.stem}.result").exists()]
    # Each process starts run-cases once.
    shares = [(arguments, waiting[first :: arguments.jobs]) for first in range(arguments.jobs)]
    with multiprocessing.Pool(arguments.jobs) as pool:
        failures = [wrong for share in pool.starmap(run_share, shares) for wrong in share]
    run_pytorch(waiting, arguments.results)
    print(f"{len(waiting)} cases: {len(failures)} have no result", *failures, sep="\n")
    return 1 if failures else 0
