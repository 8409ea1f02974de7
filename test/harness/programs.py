"""Child processes: each has a time-out, and a check decides about what they say."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

Command = Sequence[str | Path]

SECONDS = 1800  # for any program of a test: an export on a busy machine takes minutes
TOOK_TOO_LONG = 124  # the status of a program that was stopped
ONE_THREAD = {"OMP_NUM_THREADS": "1"}


def call(
    command: Command, seconds: float = SECONDS, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """How a command ended, and what it said, with these variables in its environment."""
    try:
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            check=False,
            env=os.environ | (environment or {}),
        )
    except subprocess.TimeoutExpired:
        said = f"{Path(command[0]).name} took longer than {seconds} s"
        return subprocess.CompletedProcess(command, TOOK_TOO_LONG, "", said)


def run(command: Command, seconds: float = SECONDS) -> str:
    """What a command prints, which must succeed; what it says on stderr goes to the reader of the test."""
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=seconds).stdout


def report(command: Command) -> dict:
    """What a command prints as JSON."""
    return json.loads(run(command))


def first_error(text: str) -> str:
    """The message of the first error without its location, which differs from case to case; else the last line."""
    found = re.search(r"error: (.*)", text)
    return found.group(1) if found else text.strip().rpartition("\n")[2]


def read_log(path: Path, kind: str) -> list[dict]:
    """The lines of this kind in a log of `meshplan-run train`."""
    lines = map(json.loads, path.read_text().splitlines())
    return [line for line in lines if line["kind"] == kind]
