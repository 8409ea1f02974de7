"""Interrupts trainings, as Ctrl-C does: harness interrupts MESHPLAN_RUN SCHEDULE WEIGHTS DATA

With --checkpoint the first SIGINT ends the step, saves, and tells how to continue, which is tried; a second one ends
the run at once, and leaves a checkpoint that is whole. Without --checkpoint the run ends at once, and says that
nothing is saved.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from harness.programs import call
from harness.verdicts import expect, run_checks

SECONDS = 60
SAVING = "\nmeshplan-run: finishing and saving this step; press Ctrl-C again to quit at once\n"
NOTHING = "\nmeshplan-run: ended by SIGINT; without --checkpoint nothing is saved\n"


class Checks:
    def __init__(self, program: str, schedule: str, weights: str, data: str) -> None:
        self.command = [program, "train", schedule, "--data", data]
        self.weights = ["--weights", weights]

    def begin(self, log: Path, *words: str, stderr: int = subprocess.PIPE) -> subprocess.Popen[str]:
        """A training without an end that has made its first steps."""
        command = [*self.command, "--steps", "100000000", "--log", str(log), *words]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True)
        end = time.monotonic() + SECONDS
        while process.poll() is None and time.monotonic() < end:
            if log.exists() and log.read_text().count('"kind":"step"') > 2:
                return process
            time.sleep(0.01)
        process.kill()
        expect(False, f"no steps: {process.communicate()}")
        return process

    def the_first_saves(self) -> None:
        process = self.begin(Path("first.jsonl"), *self.weights, "--checkpoint", "first")
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=SECONDS)
        expect(process.returncode == 0 and not errors, f"status {process.returncode}: {errors}")
        steps = [line["step"] for line in map(json.loads, Path("first.jsonl").read_text().splitlines())]
        last = max(steps)
        stopped = f"stopped by SIGINT after step {last} of 100000000; --resume continues from there"
        expect(stopped in output and f"saved first/step-{last:06}" in output, output)
        words = ["--steps", str(last + 1), "--checkpoint", "first", "--resume"]
        resumed = call([*self.command, *words])
        expect(f"step {last + 1}/{last + 1}" in resumed.stdout, resumed.stdout + resumed.stderr)

    def a_terminal_is_told(self) -> None:
        ours, terminal = os.openpty()
        process = self.begin(Path("told.jsonl"), *self.weights, "--checkpoint", "told", stderr=terminal)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=SECONDS)
        shown = os.read(ours, 4096).decode().replace("\r\n", "\n")
        os.close(ours)
        os.close(terminal)
        expect(process.returncode == 0 and SAVING in shown, f"status {process.returncode}: {shown}")

    def the_second_ends_at_once(self) -> None:
        """Saving may be faster than the second one; not each time."""
        for number in range(20):
            folder = f"second{number}"
            process = self.begin(Path(f"{folder}.jsonl"), *self.weights, "--checkpoint", folder, "--every", "1")
            process.send_signal(signal.SIGINT)
            time.sleep(0.001 * number)
            process.send_signal(signal.SIGINT)
            output, errors = process.communicate(timeout=SECONDS)
            expect(process.returncode in (0, -signal.SIGINT), f"status {process.returncode}: {output}{errors}")
            words = ["--steps", "1", "--checkpoint", folder, "--resume"]
            resumed = call([*self.command, *words])
            there = any(Path(folder).glob("step-*"))
            expect(resumed.returncode == 0 or not there, resumed.stderr)
            if process.returncode != 0:
                return
        expect(False, "each run was faster than the second signal")

    def without_a_folder_nothing_is_saved(self) -> None:
        process = self.begin(Path("nothing.jsonl"), *self.weights)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=SECONDS)
        expect(process.returncode == -signal.SIGINT and errors == NOTHING, f"status {process.returncode}: {errors}")


def main(words: Sequence[str]) -> int:
    # lit ignores it, and so would what it starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    checks = Checks(*words)
    first, second = checks.the_first_saves, checks.the_second_ends_at_once
    return run_checks([first, checks.a_terminal_is_told, second, checks.without_a_folder_nothing_is_saved])
