"""Trains one model under several plans and meshes for a few steps, and compares with PyTorch.

  harness training MODEL [--seed N] --models FOLDER --work FOLDER --plan P.plan... --mesh dp=2,tp=2...
                   --optimizer 'adamw { lr 1e-2; weight_decay 0.1 }' [--statement TEXT...] [--clip X]
                   [--steps N] [--parameters] [--master [DTYPE]] [--states DTYPE] [--gather DTYPE]
                   [--frozen PATH...] [--memory] [--per token|sequence] [--microbatches N] [--compute DTYPE]
                   [--save-at K [--skips] [--resume-mesh dp=2,tp=1... [--resume-statement TEXT...]]]
                   [--command [--resume-processes N]]

MODEL is a name of models/make_models.py; its archive is made in --models when it is not there. Each plan names
"model.pt2" and a loss. What is compared, and what --parameters, --master, --states, --gather and --compute say, is in
reference/training.py. With `--memory` the bytes that the largest rank metered must be within 5 % of those that the
compiler planned, and what it keeps from step to step must be what was planned. Every step gets a batch of its own: the
elements of the example inputs in another order. With `--per` the plan's loss is redefined, and labels that do not count
are as many as may differ from sample to sample.

With `--save-at K` K steps are made in a run of their own, which saves after the last. From there
- the same plan makes the others: what ranks then hold has the bits of the unbroken run, and so has each loss;
- with `--resume-mesh` the plan makes them on each of these meshes, with the other statements where there are any:
  losses and parameters are compared with PyTorch.
With `--skips` some of the K steps must have changed nothing, for the scale of the loss, and nothing is compared with
PyTorch.

The program is run-steps, or with `--command` the command `meshplan-run train`, on a data set of one global batch
(train_command.py), which has to log and to save what is compared; what goes on is then run as N processes of MPI, if
asked for. Its event files must have the losses of the log, and `meshplan-run eval` the bits of its evaluations.
"""

from __future__ import annotations

import argparse
import copy
import json
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from safetensors.torch import load_file

from harness.arguments import parser_of
from harness.plans import Files, Run, check_report, compile_run, made_files, runs_of, with_statements
from harness.reference.addends import References
from harness.reference.archives import load_program
from harness.reference.training import Reference, Settings, compare, references_of
from harness.runs.memory import check_steps
from harness.tensors import Tensors, differing
from harness.trainings import train_command
from harness.trainings.steps import (
    Trained,
    add_training,
    make_batches,
    run_steps,
    settings_of,
    statements_of,
    with_loss_unit,
)
from harness.verdicts import verdict


class StepsProgram:
    """Trains by run-steps, which gets the batch of each step."""

    def __init__(self, arguments: argparse.Namespace, files: Files) -> None:
        self.arguments, self.checkpoints = arguments, arguments.work / "checkpoints"
        hides = arguments.per is not None
        self.paths = make_batches(files.inputs, arguments.work, arguments.steps, hides, arguments.microbatches)
        self.batches = [load_file(path) for path in self.paths]
        self.said = ""

    def run(self, run: Run, name: str, batches: Sequence[Path], *options: str | Path) -> Trained:
        result = run.output.with_suffix(f".{name}.safetensors") if name else run.output
        trained = run_steps(self.arguments, run.schedule, result, batches, options)
        print(
            "".join(f"  {line}\n" for line in trained.said.splitlines() if line.startswith("note")), end="", flush=True
        )
        return trained

    def whole(self, run: Run) -> Tensors:
        """All steps: losses, and what ranks hold after the last."""
        tensors, self.said = self.run(run, "", self.paths)
        return tensors

    def agrees(self, run: Run, whole: Tensors) -> bool:
        """Whether what the program has reported about these steps is right."""
        right = not self.arguments.memory or check_steps(self.said)
        packed = max(int(count) for count in re.findall(r" packed (\d+)", self.said))
        print(f"packed: {packed} bytes", flush=True)
        return right

    def begun(self, run: Run) -> Tensors:
        """The steps before the checkpoint, which is saved."""
        shutil.rmtree(self.checkpoints, ignore_errors=True)
        return self.run(run, "begun", self.paths[: self.arguments.save_at], "--save", self.checkpoints).tensors

    def resumed(self, run: Run) -> Tensors:
        """The steps after it, under the numbers that they have in the whole."""
        at = self.arguments.save_at
        return later(self.run(run, "resumed", self.paths[at:], "--resume", self.checkpoints).tensors, at)

    def record(self) -> dict:
        """What the checkpoint states about itself."""
        return json.loads((self.checkpoints / f"step-{self.arguments.save_at:06}" / "checkpoint.json").read_text())


class TrainCommand:
    """Trains by `meshplan-run train`: each step has the same samples."""

    def __init__(self, arguments: argparse.Namespace, files: Files) -> None:
        self.arguments, self.weights = arguments, ["--weights", files.weights]
        self.batches = [train_command.write_data(arguments)] * arguments.steps
        self.half = arguments.work / "begun"

    def whole(self, run: Run) -> Tensors:
        data = ["--eval-data", train_command.data_of(self.arguments)]
        folder = run.output.with_suffix("")
        train_command.train(self.arguments, run.schedule, self.arguments.steps, folder, *self.weights, *data)
        return train_command.result_of(folder, self.arguments.steps)

    def agrees(self, run: Run, whole: Tensors) -> bool:
        folder = run.output.with_suffix("")
        right = train_command.events_agree(folder, whole)
        return train_command.evaluations_agree(self.arguments, run.schedule, folder) and right

    def begun(self, run: Run) -> Tensors:
        shutil.rmtree(self.half, ignore_errors=True)
        train_command.train(self.arguments, run.schedule, self.arguments.save_at, self.half, *self.weights)
        return train_command.result_of(self.half, self.arguments.save_at)

    def resumed(self, run: Run) -> Tensors:
        folder = run.output.with_suffix(".resumed")
        shutil.copytree(self.half, folder)
        processes = self.arguments.resume_processes
        train_command.train(self.arguments, run.schedule, self.arguments.steps, folder, "--resume", processes=processes)
        return train_command.result_of(folder, self.arguments.steps)

    def record(self) -> dict:
        return json.loads((self.half / "run" / f"step-{self.arguments.save_at:06}" / "checkpoint.json").read_text())


def later(tensors: Tensors, count: int) -> Tensors:
    """Outputs of steps that come after so many others."""
    renamed = {}
    for name, tensor in tensors.items():
        step, dot, output = name.partition(".")
        is_output = step.startswith("step") and step[4:].isdigit()
        renamed[f"step{int(step[4:]) + count}{dot}{output}" if is_output else name] = tensor
    return renamed


def compiled(
    arguments: argparse.Namespace, meshes: Sequence[str], statements: Sequence[str], work: Path
) -> Iterator[Run]:
    """The plans with these statements on each of these meshes."""
    named = copy.copy(arguments)
    named.mesh, named.statement, named.work = meshes, statements, work
    for run in runs_of(named, lambda text: with_statements(with_loss_unit(text, named.per), statements_of(named))):
        compile_run(named, run)
        yield run


class Check:
    """The trainings of a command line, and PyTorch's."""

    def __init__(self, arguments: argparse.Namespace, files: Files) -> None:
        self.arguments = arguments
        self.way = (TrainCommand if arguments.command else StepsProgram)(arguments, files)
        self.settings: Settings = settings_of(arguments)
        self.references: References[Reference] = references_of(
            load_program(files.archive), self.settings, self.way.batches
        )

    def compare(self, run: Run, tensors: Tensors) -> bool:
        if self.arguments.skips:
            return True
        reference = self.references.of(lambda: check_report(self.arguments, run))
        return compare(tensors, reference, self.settings)

    def check(self, run: Run) -> bool:
        print(run.output.stem, flush=True)
        whole = self.way.whole(run)
        right = self.compare(run, whole)
        right &= self.way.agrees(run, whole)
        return right & (self.arguments.save_at is None or self.check_resumed(run, whole))

    def check_resumed(self, run: Run, whole: Tensors) -> bool:
        begun = self.way.begun(run)
        names = differing({**begun, **self.way.resumed(run)}, whole)
        right = verdict(f"the same plan continues: {len(whole)} tensors, {len(names)} differ {names[:4]}", not names)
        if self.arguments.skips:
            record = self.way.record()
            said = f"skipped: {record['skipped_steps']}, loss scale {record['loss_scale']}"
            right &= verdict(said, 0 < record["skipped_steps"] < self.arguments.save_at)
        statements = self.arguments.resume_statement or self.arguments.statement
        for other in compiled(self.arguments, self.arguments.resume_mesh, statements, self.arguments.work / "other"):
            print(f"{run.output.stem} continues as {other.output.stem}", flush=True)
            right &= self.compare(other, {**begun, **self.way.resumed(other)})
        return right


def main(words: Sequence[str]) -> int:
    parser = parser_of(__doc__, "runs", "device")
    add_training(parser)
    parser.add_argument("--memory", action="store_true", help="the metered peak is that of the compiler")
    parser.add_argument("--save-at", type=int, metavar="K", help="a run saves after so many steps, and others continue")
    parser.add_argument("--skips", action="store_true", help="some of the steps before change nothing")
    parser.add_argument("--resume-mesh", nargs="+", default=[])
    parser.add_argument("--resume-statement", action="append", default=[])
    parser.add_argument("--command", action="store_true", help="train by `meshplan-run train`")
    parser.add_argument("--resume-processes", type=int, default=0, help="what goes on has as many processes")
    arguments = parser.parse_args(words)
    files = made_files(arguments)
    if arguments.command:  # a folder with checkpoints is not started again
        shutil.rmtree(arguments.work, ignore_errors=True)
    arguments.work.mkdir(parents=True, exist_ok=True)
    check = Check(arguments, files)
    right = [check.check(run) for run in compiled(arguments, arguments.mesh, arguments.statement, arguments.work)]
    return 0 if all(right) else 1
