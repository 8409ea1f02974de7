"""The program run-cases, which is started once and runs one case after the other."""

from __future__ import annotations

import functools
import os
import subprocess
import threading
from pathlib import Path


def environment() -> dict[str, str]:
    """Of the programs that run cases. Else MKL rounds by where tensors lie in memory, and bits are compared; on a GPU
    convolutions in float32 would round what they multiply to 10 bits (TF32), as PyTorch's do there."""
    return os.environ | {"OMP_NUM_THREADS": "1", "MKL_CBWR": "AVX2,STRICT", "NVIDIA_TF32_OVERRIDE": "0"}


class CaseProcess:
    """Starts the program when it is needed, and again after a failure: a fault of a GPU lasts as long as a process."""

    def __init__(self, program: str, errors: Path) -> None:
        self.program, self.errors = program, errors
        self.process: subprocess.Popen[str] | None = None

    def run(self, files: list[Path], seconds: float) -> str:
        """Runs the program `forward` of a schedule: schedule, weights, inputs and result; what is wrong, or nothing."""
        self.process = process = self.process or self.start()
        assert process.stdin is not None and process.stdout is not None
        timer = threading.Timer(seconds, process.kill)
        timer.start()
        try:
            process.stdin.write("\t".join(["forward", *map(str, files)]) + "\n")
            process.stdin.flush()
            said = process.stdout.readline().strip()
        except BrokenPipeError:
            said = ""
        hangs = not timer.is_alive()
        timer.cancel()
        if said == "ok":
            return ""
        if said:
            process.kill()
        process.communicate()
        self.process = None
        return f"run-cases: {said or ('hangs' if hangs else self.ending(process.returncode))}"

    def start(self) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        with self.errors.open("w") as errors:
            return subprocess.Popen(
                [self.program], stdin=pipe, stdout=pipe, stderr=errors, text=True, env=environment()
            )

    def ending(self, status: int) -> str:
        return f"ends with {status}: {self.errors.read_text()[-2000:]}"


@functools.cache
def case_process(program: str, work: Path) -> CaseProcess:
    """The one of this process."""
    return CaseProcess(program, work / f"run-cases{os.getpid()}.errors")
