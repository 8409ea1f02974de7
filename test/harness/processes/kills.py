"""Kills a training that saves each step, again and again, and looks at what is left.

  harness kills MODEL --models FOLDER --work FOLDER --plan P.plan --mesh dp=2,tp=2 --kills N [--statement TEXT...]

Each run continues from where the one before was killed, at a random moment. What a run has reported as saved has to be
there afterwards, or what came after it, and the next run has to load it. In the end the run is let through, and its
losses are those of a run without kills: the same bits.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from harness.arguments import parser_of
from harness.plans import files_of, made_files
from harness.tensors import differing
from harness.trainings.train_command import compiled, data_of, result_of, train, write_data
from harness.verdicts import verdict


def saved_steps(log: Path) -> list[int]:
    """What a log says to be saved; its last line may be half of one."""
    steps = []
    for line in log.read_text().splitlines() if log.exists() else []:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if entry["kind"] == "checkpoint":
            steps.append(entry["step"])
    return steps


def last_checkpoint(folder: Path) -> int:
    return max((int(path.name.split("-")[1]) for path in folder.glob("step-*")), default=0)


def run_and_kill(command: list[str | Path], delay: float) -> str:
    """What the run wrote to stderr; empty for one that was killed."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    time.sleep(delay)
    process.send_signal(signal.SIGKILL)
    errors = process.communicate()[1]
    return errors if process.returncode != -signal.SIGKILL else ""


def kill_again_and_again(arguments: argparse.Namespace, schedule: Path, folder: Path) -> bool:
    generator = random.Random(0)
    run, log = folder / "run", folder / "log.jsonl"
    data, weights = data_of(arguments), files_of(arguments.models, arguments.model).weights
    furthest = 0
    for number in range(arguments.kills):
        begin = ["--resume"] if last_checkpoint(run) else ["--weights", weights]
        if not last_checkpoint(run):
            shutil.rmtree(run, ignore_errors=True)
        command = [arguments.meshplan_run, "train", schedule, "--data", data, "--steps", "1000000", *begin]
        outputs = ["--checkpoint", run, "--every", "1", "--log", log]
        errors = run_and_kill([*command, *outputs], generator.uniform(0.02, arguments.longest))
        said, there = max(saved_steps(log), default=0), last_checkpoint(run)
        if errors or there < said or there < furthest:
            print(f"kill {number}: step {there} is there, {said} was said to be saved, {furthest} was there: WRONG")
            print(errors, end="")
            return False
        furthest = there
    print(f"{arguments.kills} kills, {furthest} steps: ok", flush=True)
    return True


def main(words: Sequence[str]) -> int:
    parser = parser_of(__doc__, "run")
    parser.add_argument("--optimizer", default="adamw { lr 1e-3 }")
    parser.add_argument("--kills", type=int, required=True)
    parser.add_argument("--longest", type=float, default=1.0, help="seconds until a run is killed")
    arguments = parser.parse_args(words)
    files = made_files(arguments)
    shutil.rmtree(arguments.work, ignore_errors=True)
    arguments.work.mkdir(parents=True)
    write_data(arguments)
    schedule = compiled(arguments)
    killed, whole = arguments.work / "killed", arguments.work / "whole"
    if not kill_again_and_again(arguments, schedule, killed):
        return 1
    steps = last_checkpoint(killed / "run") + 2
    train(arguments, schedule, steps, killed, "--resume")
    train(arguments, schedule, steps, whole, "--weights", files.weights)
    names = differing(result_of(killed, steps), result_of(whole, steps))
    return 0 if verdict(f"the run without kills: {len(names)} tensors differ {names[:4]}", not names) else 1
