"""Runs a command that must fail, and compares all that it says and leaves behind.

  harness expect_failure STATUS EXPECTED COMMAND...

The exit status is STATUS, stderr is the file EXPECTED, stdout is empty, and the folder holds the same files as before.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path

from harness.programs import call


def snapshot() -> dict[str, bytes]:
    return {str(path): path.read_bytes() if path.is_file() else b"" for path in Path().rglob("*")}


def main(words: Sequence[str]) -> int:
    status, expected, command = int(words[0]), Path(words[1]), words[2:]
    before = snapshot()
    result = call(command)
    after = snapshot()
    wrong = []
    if result.returncode != status:
        wrong.append(f"status {result.returncode}, expected {status}")
    if result.stdout:
        wrong.append(f"stdout is not empty:\n{result.stdout}")
    if before != after:
        changed = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
        wrong.append(f"changed files: {', '.join(changed)}")
    lines = [text.rstrip("\n").split("\n") for text in (expected.read_text(), result.stderr)]
    wrong += difflib.unified_diff(*lines, str(expected), "stderr", lineterm="")
    print("\n".join([" ".join(command), *wrong] if wrong else []))
    return 1 if wrong else 0
