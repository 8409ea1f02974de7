"""Ends a command by a signal, earlier and later in its run, and checks that it leaves nothing behind.

  harness end_by_signal OUTPUT COMMAND...

OUTPUT is the file that COMMAND writes in the current folder, the same in each run. Each run gets SIGTERM or SIGINT a
little later than the one before, and at the latest as soon as another file appears in the folder; after it the folder
holds what it held, and OUTPUT whole when the command was faster.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from harness.programs import run

DELAYS = [0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 60.0, 60.0]


def wait_for_new_file(process: subprocess.Popen[bytes], before: set[str], delay: float) -> None:
    end = time.monotonic() + delay
    while time.monotonic() < end and process.poll() is None and set(os.listdir()) == before:
        time.sleep(0.0005)


def main(words: Sequence[str]) -> int:
    output, command = Path(words[0]), words[1:]
    # lit ignores it, and so would what it starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    before = set(os.listdir()) - {str(output)}
    run(command)
    whole = output.read_bytes()
    output.unlink()
    ended = 0
    for number, delay in enumerate(DELAYS):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        wait_for_new_file(process, before, delay)
        sent = signal.SIGTERM if number % 2 == 0 else signal.SIGINT
        process.send_signal(sent)
        status = process.wait(timeout=60)
        left = set(os.listdir()) - before
        if output.exists() and output.read_bytes() == whole:
            left.discard(str(output))
            output.unlink()
        if left or status not in (0, -sent):
            print(f"{sent.name} after {delay} s: status {status}, left behind: {sorted(left)}")
            return 1
        ended += status != 0
    if ended == 0:
        print("every run was faster than its signal")
    return 0 if ended else 1
