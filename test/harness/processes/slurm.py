"""Runs a model under a Slurm of this machine.

  harness slurm MODEL --models FOLDER --work FOLDER --plan P.plan --mesh dp=2,tp=2

Under `srun --mpi=pmix` ranks are processes of MPI, and write the bits of threads. Under `srun --mpi=none` each says why
that cannot be, before MPI starts. A job that gets SIGUSR1 before its time is over saves, asks to be queued again, and
continues with --resume. Without Slurm's programs, or its plugin for PMIx, the test says that it was skipped.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from harness.arguments import parser_of
from harness.plans import files_of, made_files
from harness.processes.slurm_machine import SlurmMachine, missing, program
from harness.programs import read_log
from harness.trainings.train_command import compiled, write_data
from harness.verdicts import expect, run_checks

REFUSED = (
    "meshplan-run: error: rank {rank}: the ranks of a schedule for cpu are processes of MPI or threads of one process, "
    "and srun has started no MPI; help: start them with srun --mpi=pmix (`srun --mpi=list` names what it has) or "
    "mpirun -n 4, or start one process, which runs all ranks"
)

# The step that the run is to end with is after the one of the first part: it is made to end by SIGUSR1.
JOB = """#!/bin/bash
cd {work}
if ls run/step-* >/dev/null 2>&1; then
  last=$(ls -d run/step-* | tail -1 | sed 's/.*step-0*//')
  {srun} -n 4 --mpi=pmix {train} --steps $((last + 3)) --resume && touch finished
else
  {srun} -n 4 --mpi=pmix {train} --steps 100000000 --weights {weights}
  {scontrol} requeue $SLURM_JOB_ID
fi
"""


class Checks:
    def __init__(self, arguments: argparse.Namespace, slurm: SlurmMachine) -> None:
        self.slurm = slurm
        self.run_program = shutil.which(arguments.meshplan_run) or arguments.meshplan_run
        self.work = arguments.work.resolve()
        _, self.weights, self.inputs = files_of(arguments.models.resolve(), arguments.model)
        write_data(arguments)
        self.schedule = compiled(arguments, "slurm").resolve()

    def forward(self, output: Path, *launcher: str) -> subprocess.CompletedProcess[str]:
        command = [*launcher, self.run_program, "forward", self.schedule, "--weights", self.weights]
        command += ["--inputs", self.inputs, "--outputs", output]
        return subprocess.run(
            command, env=self.slurm.environment, capture_output=True, text=True, timeout=120, check=False
        )

    def processes_write_the_bits_of_threads(self) -> None:
        threads, processes = self.work / "threads.safetensors", self.work / "processes.safetensors"
        alone = self.forward(threads)
        expect(alone.returncode == 0, alone.stderr)
        result = self.forward(processes, program("srun"), "-n", "4", "--mpi=pmix")
        expect(result.returncode == 0, result.stderr)
        expect(threads.read_bytes() == processes.read_bytes(), "other bits")

    def without_mpi_each_rank_says_why(self) -> None:
        output = self.work / "none.safetensors"
        result = self.forward(output, program("srun"), "-n", "4", "--mpi=none")
        said = sorted(line for line in result.stderr.splitlines() if line.startswith("meshplan-run"))
        expect(said == [REFUSED.format(rank=rank) for rank in range(4)], result.stderr)
        expect(result.returncode != 0 and "MPI_Init" not in result.stderr, result.stderr)
        expect(not output.exists(), "outputs are there")

    def a_task_alone_runs_all_ranks(self) -> None:
        result = self.forward(self.work / "alone.safetensors", program("srun"), "-n", "1", "--mpi=none")
        expect(result.returncode == 0, result.stderr)

    def a_job_that_runs_out_of_time_goes_on(self) -> None:
        train = f"{self.run_program} train {self.schedule} --data data.safetensors --checkpoint run --log log.jsonl"
        words = {"work": self.work, "train": train, "weights": self.weights}
        script = self.work / "job.sh"
        script.write_text(JOB.format(srun=program("srun"), scontrol=program("scontrol"), **words))
        options = ["-n", "4", "--time=2", "--signal=USR1@90", "--requeue", f"--output={self.work}/job.out"]
        job = self.slurm.output("sbatch", "--parsable", "--open-mode=append", *options, str(script)).strip()
        expect(job.isdigit(), f"no job: '{job}'")
        try:
            self.slurm.wait_for((self.work / "finished").exists, "the job", 300)
        except TimeoutError as error:
            expect(False, f"{error}\n{(self.work / 'job.out').read_text()}")
        text = (self.work / "job.out").read_text()
        steps = [line["step"] for line in read_log(self.work / "log.jsonl", "step")]
        expect(steps == list(range(1, len(steps) + 1)), f"steps are missing or twice in the log: {steps[-10:]}")
        stopped = f"stopped by SIGUSR1 after step {len(steps) - 3} of 100000000; --resume continues from there"
        expect(stopped in text and f"continues from run/step-{len(steps) - 3:06}" in text, text)


def main(words: Sequence[str]) -> int:
    parser = parser_of(__doc__, "run")
    parser.add_argument("--optimizer", default="adamw { lr 1e-3 }")
    parser.add_argument("--only", nargs="*", help="names of checks")
    arguments = parser.parse_args(words)
    if reason := missing():
        print(f"skipped: {reason}")
        return 0
    made_files(arguments)
    shutil.rmtree(arguments.work, ignore_errors=True)
    arguments.work.mkdir(parents=True)
    with SlurmMachine(arguments.work / "slurm") as slurm:
        if "pmix" not in slurm.output("srun", "--mpi=list"):
            print("skipped: this Slurm has no plugin for PMIx")
            return 0
        every = Checks(arguments, slurm)
        names = [
            every.processes_write_the_bits_of_threads,
            every.without_mpi_each_rank_says_why,
            every.a_task_alone_runs_all_ranks,
            every.a_job_that_runs_out_of_time_goes_on,
        ]
        return run_checks(names, arguments.only)
