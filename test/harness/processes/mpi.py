"""Runs a model's ranks as processes under mpirun, and holds them against the ranks as threads.

  harness mpi MODEL --models FOLDER --work FOLDER --plan P.plan --end-at-send LIBRARY [--kills N]

MODEL is a name of models/make_models.py. The outputs have the same bits, the reports the same form; every process says
what is wrong when their number or their schedules do not fit, or when one of them is killed, N times in a collective
that is drawn; no file is left.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shlex
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import harness
from harness.arguments import parser_of
from harness.plans import files_of, made_files
from harness.programs import run
from harness.verdicts import Failure, expect, run_checks

TIMEOUT = 4  # seconds that a rank waits for another, where one is killed
SLACK = 40  # seconds more, to start and end processes on a busy machine
RECOVERY = ("--enable-recovery", "--mca", "orte_abort_on_non_zero_status", "0")  # mpirun leaves the others alone


class Checker:
    def __init__(self, arguments: argparse.Namespace) -> None:
        files = files_of(arguments.models, arguments.model)
        self.work = arguments.work
        self.run_program = str(arguments.meshplan_run)
        self.meshplan = str(arguments.meshplan)
        self.plan = arguments.plan
        self.end_at_send, self.kills = arguments.end_at_send.resolve(), arguments.kills
        self.archive, self.weights = files.archive.resolve(), files.weights
        self.files = ["--weights", str(self.weights), "--inputs", str(files.inputs)]

    def compile(self, name: str, dp: int, tp: int, change: tuple[str, str] = ("", "")) -> str:
        plan, schedule = self.work / f"{name}.plan", self.work / f"{name}.sched"
        plan.write_text(self.plan.read_text().replace("model.pt2", str(self.archive)).replace(*change))
        run([self.meshplan, "compile", plan, f"-Ddp={dp}", f"-Dtp={tp}", "-o", schedule])
        return str(schedule)

    def mpirun(self, processes: int, command: list[str], *flags: str) -> subprocess.Popen:
        options = [f"--mpirun={flag}" for flag in flags]
        return subprocess.Popen(
            harness.command("run_mpi", str(processes), *options, "--", *command),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def finish(self, process: subprocess.Popen, seconds: float) -> tuple[int, str, str]:
        try:
            output, errors = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            output, errors = self.stop(process)
            raise Failure(f"not done after {seconds} s\n{output}{errors}") from None
        return process.returncode, output, errors

    def stop(self, process: subprocess.Popen) -> tuple[str, str]:
        """mpirun ends its processes when it is asked to; they are in sessions of their own."""
        process.terminate()
        return process.communicate(timeout=60)

    def expect_messages(self, errors: str, patterns: dict[int, str]) -> None:
        """Each of these ranks has printed one line, which matches its pattern."""
        lines = [line for line in errors.splitlines() if line.startswith("meshplan-run: error: rank ")]
        for rank, pattern in patterns.items():
            own = [line for line in lines if line.startswith(f"meshplan-run: error: rank {rank}: ")]
            expect(len(own) == 1 and re.search(pattern, own[0]), f"rank {rank}: expected {pattern!r} in\n{errors}")
        expect(len(lines) == len(patterns), f"{len(patterns)} messages expected\n{errors}")

    def expect_no_file(self, output: Path) -> None:
        left = sorted(path.name for path in output.parent.glob(output.name + "*"))
        expect(not left, f"left behind: {left}")

    def same_outputs(self) -> None:
        for dp, tp in ((1, 2), (2, 2)):
            schedule = self.compile(f"dp{dp}-tp{tp}", dp, tp)
            outputs = {backend: self.work / f"{backend}-dp{dp}-tp{tp}.safetensors" for backend in ("threads", "mpi")}
            command = [self.run_program, "forward", schedule, *self.files, "--json", "--outputs"]
            threads = run([*command, outputs["threads"]])
            trace = self.work / "trace.json"
            process = self.mpirun(dp * tp, [*command, str(outputs["mpi"]), "--trace", str(trace)])
            status, output, errors = self.finish(process, 300)
            expect(status == 0, f"status {status}\n{output}{errors}")
            expect(outputs["threads"].read_bytes() == outputs["mpi"].read_bytes(), f"dp={dp} tp={tp}: outputs differ")
            reports = [json.loads(text)["memory"] for text in (threads, output)]
            expect(len(reports[1]["ranks"]) == dp * tp, f"{output}")
            for ours, theirs in zip(reports[0]["ranks"], reports[1]["ranks"], strict=True):
                for key in ("parameters", "constants", "inputs"):
                    expect(ours[key] == theirs[key], f"{key}: {ours[key]} in threads, {theirs[key]} in processes")
            names = {event["pid"] for event in json.loads(trace.read_text())["traceEvents"]}
            expect(names == set(range(dp * tp)), f"ranks {names} in the trace")

    def bench(self) -> None:
        schedule = str(self.work / "dp1-tp2.sched")
        process = self.mpirun(2, [self.run_program, "bench", schedule, "--steps", "3", "--json"])
        status, output, errors = self.finish(process, 300)
        expect(status == 0, f"status {status}\n{output}{errors}")
        report = json.loads(output)
        expect(report["steps"] == 3 and report["step_seconds"]["median"] > 0, output)
        expect(len(report["memory"]["ranks"]) == 2, output)

    def wrong_number_of_processes(self) -> None:
        output = self.work / "number.safetensors"
        schedule = str(self.work / "dp2-tp2.sched")
        process = self.mpirun(2, [self.run_program, "forward", schedule, *self.files, "--outputs", str(output)])
        status, _, errors = self.finish(process, 300)
        expect(status != 0, "status 0")
        message = r"rank \d: the schedule is for 4 ranks, but 2 processes were started; help: start one process"
        self.expect_messages(errors, dict.fromkeys(range(2), message))
        self.expect_no_file(output)

    def different_schedules(self) -> None:
        self.compile("other", 2, 2, ("colwise tp", "replicate"))
        output = self.work / "different.safetensors"
        command = [self.run_program, "forward", "$schedule", *self.files, "--outputs", str(output)]
        script = (
            f"schedule={self.work}/dp2-tp2.sched; [ $OMPI_COMM_WORLD_RANK = 2 ] && schedule={self.work}/other.sched; "
        )
        script += "exec " + " ".join(word if word == "$schedule" else shlex.quote(word) for word in command)
        status, _, errors = self.finish(self.mpirun(4, ["sh", "-c", script]), 300)
        expect(status != 0, "status 0")
        self.expect_messages(errors, dict.fromkeys(range(4), "rank 2 runs a different program than rank 0: hash "))
        self.expect_no_file(output)

    def one_rank_cannot_read(self) -> None:
        """It fails after the output file was made."""
        wrong, output = self.work / "wrong.safetensors", self.work / "unread.safetensors"
        header = b'{"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}'
        wrong.write_bytes(len(header).to_bytes(8, "little") + header + bytes(4))
        words = [self.run_program, "forward", str(self.work / "dp2-tp2.sched"), *self.files, "--outputs", str(output)]
        script = f"weights={self.weights}; [ $OMPI_COMM_WORLD_RANK = 3 ] && weights={wrong}; exec "
        script += " ".join("$weights" if word == str(self.weights) else shlex.quote(word) for word in words)
        status, _, errors = self.finish(self.mpirun(4, ["sh", "-c", script]), 300)
        expect(status != 0, "status 0")
        patterns = dict.fromkeys(range(3), "aborted.*: rank 3 failed: .*no tensor")
        self.expect_messages(errors, patterns | {3: "no tensor"})
        self.expect_no_file(output)

    def start_steps(self, *flags: str) -> tuple[subprocess.Popen, list[int]]:
        """Ranks that run steps for minutes, and their process numbers."""
        for old in self.work.glob("pid.*"):
            old.unlink()
        command = [self.run_program, "bench", str(self.work / "dp2-tp2.sched"), *self.files]
        command += ["--steps", "50000", "--timeout", str(TIMEOUT)]
        script = f"echo $$ >{self.work}/pid.$OMPI_COMM_WORLD_RANK; exec {shlex.join(command)}"
        process = self.mpirun(4, ["sh", "-c", script], *flags)
        deadline = time.monotonic() + 300
        numbers: list[int] = []
        while time.monotonic() < deadline and process.poll() is None:
            texts = [path.read_text() for path in sorted(self.work.glob("pid.*"))]
            if len(texts) == 4 and all(texts):
                numbers = [int(text) for text in texts]
                # Weights are opened after MPI has started, which it does in all processes together.
                if all(self.weights.name in Path(f"/proc/{number}/maps").read_text() for number in numbers):
                    return process, numbers
            time.sleep(0.05)
        raise Failure(f"the ranks did not start\n{self.stop(process)}")

    def end_one(self, number: signal.Signals, *flags: str) -> tuple[int, int, str]:
        """Sends the signal to a random rank at a random moment; it, mpirun's status, and what all have printed."""
        process, numbers = self.start_steps(*flags)
        rank = random.randrange(4)
        time.sleep(random.uniform(0, 2))
        if process.poll() is not None:
            raise Failure(f"ended early: {process.communicate()}")
        os.kill(numbers[rank], number)
        status, _, errors = self.finish(process, TIMEOUT + SLACK)
        return rank, status, errors

    def run_steps_and(self, rank: int, variables: str, output: Path) -> tuple[float, str]:
        """A few steps and outputs, with more in the environment of one rank; seconds, and what is printed."""
        command = [self.run_program, "forward", str(self.work / "dp2-tp2.sched"), *self.files]
        command += ["--outputs", str(output), "--timeout", str(TIMEOUT)]
        script = f"[ $OMPI_COMM_WORLD_RANK = {rank} ] && export LD_PRELOAD={self.end_at_send} {variables}; "
        script += f"exec {shlex.join(command)}"
        begin = time.monotonic()
        _, _, errors = self.finish(self.mpirun(4, ["sh", "-c", script], *RECOVERY), TIMEOUT + SLACK)
        return time.monotonic() - begin, errors

    def killed_in_a_collective(self) -> None:
        """Of a random rank, at a random send of all that it does: the others name it and end within the time-out."""
        output = self.work / "killed.safetensors"
        counted = self.work / "sends"
        for _ in range(self.kills):
            rank = random.randrange(4)
            seconds, errors = self.run_steps_and(rank, f"COUNT_SENDS={counted}", output)
            expect(output.exists(), errors)
            output.unlink()
            send = random.randint(1, int(counted.read_text()))
            until, errors = self.run_steps_and(rank, f"END_AT_SEND={send}", output)
            place = f"rank {rank} at send {send} of {counted.read_text()}"
            expect(until < seconds + TIMEOUT + SLACK / 4, f"{place}: {until:.1f} s, whole {seconds:.1f} s\n{errors}")
            named = rf"ranks? [0-9, ]*\b{rank}\b"
            others = {0, 1, 2, 3} - {rank}
            # Once every rank has written its part, the file is there, and whole; a rank may have ended well then.
            if output.exists():
                whole = (self.work / "mpi-dp2-tp2.safetensors").read_bytes()
                expect(output.read_bytes() == whole, f"{place}: {output} is not whole")
                output.unlink()
                others = {other for other in others if f"error: rank {other}: " in errors}
            self.expect_messages(errors, dict.fromkeys(others, named))
            self.expect_no_file(output)

    def missing_process(self) -> None:
        """One never comes: the others do not wait for it without end."""
        command = [self.run_program, "forward", str(self.work / "dp2-tp2.sched"), *self.files]
        command += ["--outputs", str(self.work / "missing.safetensors"), "--timeout", str(TIMEOUT)]
        script = f"[ $OMPI_COMM_WORLD_RANK = 2 ] && exec sleep 50; exec {shlex.join(command)}"
        _, _, errors = self.finish(self.mpirun(4, ["sh", "-c", script], *RECOVERY), 90 + SLACK)
        message = r"MPI has not started within 30 s: a process of the job is missing, stopped, or has ended before"
        self.expect_messages(errors, dict.fromkeys((0, 1, 3), message))

    def killed_rank(self) -> None:
        # The others find out by themselves. mpirun's status tells nothing.
        rank, _, errors = self.end_one(signal.SIGKILL, *RECOVERY)
        lost = rf"time-out after {TIMEOUT} s: .*ranks? [0-9, ]*\b{rank}\b"
        self.expect_messages(errors, dict.fromkeys({0, 1, 2, 3} - {rank}, lost))

    def killed_rank_and_mpirun_ends_the_others(self) -> None:
        rank, status, errors = self.end_one(signal.SIGKILL)
        expect(status != 0, "status 0")
        self.expect_messages(errors, dict.fromkeys({0, 1, 2, 3} - {rank}, r"was asked to stop \(SIGTERM\)"))
        expect(f"mpirun noticed that process rank {rank}" in errors, errors)

    def terminated_rank(self) -> None:
        rank, status, errors = self.end_one(signal.SIGTERM)
        expect(status != 0, "status 0")
        self.expect_messages(errors, dict.fromkeys(range(4), rf"rank {rank} was asked to stop \(SIGTERM\)"))


def main(words: Sequence[str]) -> int:
    parser = parser_of(__doc__, "folders", "programs")
    parser.add_argument("model")
    parser.add_argument("--plan", type=Path, required=True)
    parser.add_argument("--end-at-send", type=Path, required=True, help="library of test/lib/end_at_send")
    parser.add_argument("--kills", type=int, default=3, help="of a rank in a collective")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--only", nargs="+", help="names of the checks to run")
    arguments = parser.parse_args(words)
    arguments.seed = random.randrange(10**9) if arguments.seed is None else arguments.seed
    random.seed(arguments.seed)
    print(f"seed {arguments.seed}")

    made_files(arguments)
    arguments.work.mkdir(parents=True, exist_ok=True)
    checker = Checker(arguments)
    checks = [
        checker.same_outputs,
        checker.bench,
        checker.wrong_number_of_processes,
        checker.different_schedules,
        checker.one_rank_cannot_read,
        checker.killed_in_a_collective,
        checker.killed_rank,
        checker.killed_rank_and_mpirun_ends_the_others,
        checker.terminated_rank,
    ]
    # It takes as long as MPI may take to start.
    return run_checks([*checks, checker.missing_process] if arguments.only else checks, arguments.only)
