"""Starts a program under mpirun, also as root and with more processes than cores.

  harness run_mpi N [--mpirun ARGUMENT]... -- PROGRAM [ARGUMENT]...

Exit status: that of mpirun; 77, with a message, when it is not installed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Sequence

SKIPPED = 77


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("processes", type=int)
    parser.add_argument("--mpirun", action="append", default=[], metavar="ARGUMENT", help="for mpirun itself")
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args(words)
    mpirun = shutil.which("mpirun")
    if not mpirun:
        print("skipped: mpirun is not installed")
        return SKIPPED
    command = [mpirun, "-n", str(arguments.processes), "--oversubscribe", *arguments.mpirun, *arguments.command]
    if os.geteuid() == 0:
        command.insert(1, "--allow-run-as-root")
    sys.stdout.flush()
    os.execv(mpirun, command)
