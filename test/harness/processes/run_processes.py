"""Starts a program as several processes of this machine, with the environment that a launcher gives them.

Usage: harness run_processes N [--launcher torchrun|slurm|plain] [--omit RANK]... -- PROGRAM [ARGUMENT...]

The rank is also in MESHPLAN_TEST_RANK, and `{rank}` in an argument becomes it. The exit status is 0 when all processes
end with 0. An omitted rank is not started.
"""

import argparse
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence

TIMEOUT = 280


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def environment_of(launcher: str, rank: int, size: int, port: int) -> dict[str, str]:
    meeting = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    if launcher == "slurm":
        return meeting | {
            "SLURM_JOB_ID": "7",
            "SLURM_STEP_ID": "0",
            "SLURM_PROCID": str(rank),
            "SLURM_LOCALID": str(rank),
            "SLURM_STEP_NUM_TASKS": str(size),
        }
    places = {"RANK": str(rank), "WORLD_SIZE": str(size)}
    if launcher == "plain":
        return meeting | places
    return meeting | places | {"LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": str(size), "TORCHELASTIC_RUN_ID": "none"}


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("processes", type=int)
    parser.add_argument("--launcher", choices=("torchrun", "slurm", "plain"), default="torchrun")
    parser.add_argument("--omit", type=int, action="append", default=[])
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args(words)

    port = free_port()
    processes = []
    for rank in range(arguments.processes):
        if rank in arguments.omit:
            continue
        environment = os.environ | environment_of(arguments.launcher, rank, arguments.processes, port)
        environment["MESHPLAN_TEST_RANK"] = str(rank)
        command = [word.replace("{rank}", str(rank)) for word in arguments.command]
        processes.append(subprocess.Popen(command, env=environment))
    statuses = []
    try:
        for process in processes:
            statuses.append(process.wait(timeout=TIMEOUT))
    except subprocess.TimeoutExpired:
        print(f"run_processes: not done after {TIMEOUT} s", file=sys.stderr)
        statuses.append(1)
    finally:
        for process in processes:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
    return 0 if not any(statuses) else 1
