"""Flips bits of checkpoints and archives, and cuts them off: each damage has to be told, or to change nothing.

  harness damage MODEL --models FOLDER --work FOLDER --plan P.plan --mesh dp=2,tp=2 --cases N [--statement TEXT...]

A training saves two checkpoints. In each case one file is damaged at a position drawn from the number of the case:

- a file of the second checkpoint, from which a run then continues: the error has to name the file and the first
  checkpoint, which is whole. No bit of it may be left out;
- the archive that is compiled, or from which weights are read. What nothing reads, such as padding, may be damaged:
  then the schedule or the outputs have the bits that they have without damage.

Prints how many cases were told and how many changed nothing, of each file; status 1 if one was not told and changed
something, or ended in another way than by an error.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from harness.arguments import parser_of
from harness.plans import files_of, made_files
from harness.programs import call
from harness.trainings.train_command import compiled, data_of, train, write_data

CHECKPOINT_FILES = ["checkpoint.json", "model.safetensors", "optimizer.safetensors"]
KINDS = [*CHECKPOINT_FILES, "compiled archive", "archive of weights"]
HEADER = 4096  # damage is drawn to the beginning of a file more often


def damage(path: Path, generator: random.Random) -> str:
    """What was done to the file."""
    content = bytearray(path.read_bytes())
    size = len(content)
    if generator.random() < 0.2:
        kept = generator.randrange(size)
        path.write_bytes(content[:kept])
        return f"cut to {kept} of {size} bytes"
    offset = generator.randrange(min(size, HEADER) if generator.random() < 0.3 else size)
    bit = generator.randrange(8)
    content[offset] ^= 1 << bit
    path.write_bytes(content)
    return f"bit {bit} of byte {offset} of {size}"


class Damage:
    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.work = arguments.work
        self.archive, self.weights, self.inputs = files_of(arguments.models, arguments.model)
        self.schedule = compiled(arguments)
        self.counts: Counter[tuple[str, str]] = Counter()
        # The copy of the archive that is damaged, and a plan that names it.
        self.copy, self.plan = self.work / "copy.pt2", self.work / "copy.plan"
        text = (self.work / "plan.plan").read_text()
        self.plan.write_text(text.replace(str(self.archive.resolve()), self.copy.name))

    def prepare(self) -> None:
        write_data(self.arguments)
        train(self.arguments, self.schedule, 2, self.work / "whole", "--weights", self.weights, "--every", "1")
        shutil.copyfile(self.archive, self.copy)
        self.whole_schedule = self.run_compiler()[1]
        self.whole_outputs = self.run_forward()[1]
        assert self.whole_schedule and self.whole_outputs

    def execute(self, *command: str | Path, output: Path) -> tuple[subprocess.CompletedProcess[str], bytes]:
        """How the command ended, and what it wrote."""
        output.unlink(missing_ok=True)
        result = call(command, seconds=120)
        return result, output.read_bytes() if output.exists() else b""

    def run_compiler(self) -> tuple[subprocess.CompletedProcess[str], bytes]:
        output = self.work / "copy.sched"
        sizes = [word for axis in self.arguments.mesh.split(",") for word in ("-D", axis)]
        return self.execute(self.arguments.meshplan, "compile", self.plan, "-o", output, *sizes, output=output)

    def run_forward(self) -> tuple[subprocess.CompletedProcess[str], bytes]:
        output = self.work / "outputs.safetensors"
        command = [self.arguments.meshplan_run, "forward", self.schedule, "--weights", self.copy]
        return self.execute(*command, "--inputs", self.inputs, "--outputs", output, output=output)

    def run_resumed(self, folder: Path) -> tuple[subprocess.CompletedProcess[str], bytes]:
        command = [self.arguments.meshplan_run, "train", self.schedule, "--data", data_of(self.arguments)]
        words = ["--steps", "3", "--checkpoint", folder, "--resume"]
        return self.execute(*command, *words, output=folder / "step-000003" / "model.safetensors")

    def damage_checkpoint(self, kind: str, generator: random.Random) -> str:
        """What is wrong; empty for nothing."""
        folder = self.work / "damaged"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.work / "whole" / "run", folder, copy_function=os.link)
        path = folder / "step-000002" / kind
        path.unlink()
        shutil.copyfile(self.work / "whole" / "run" / "step-000002" / kind, path)
        done = damage(path, generator)
        result, _ = self.run_resumed(folder)
        names = f"step-000002/{kind}" in result.stderr and f"step-000001': `mv {folder}" in result.stderr
        if result.returncode == 1 and "error: " in result.stderr and names:
            self.counts[kind, "told"] += 1
            return ""
        return f"{done}: status {result.returncode}\n{result.stderr}"

    def damage_archive(self, kind: str, generator: random.Random) -> str:
        shutil.copyfile(self.archive, self.copy)
        done = damage(self.copy, generator)
        is_compiled = kind == "compiled archive"
        result, written = self.run_compiler() if is_compiled else self.run_forward()
        told = result.returncode == 1 and "error: " in result.stderr and self.copy.name in result.stderr
        same = result.returncode == 0 and written == (self.whole_schedule if is_compiled else self.whole_outputs)
        if told or same:
            self.counts[kind, "told" if told else "changed nothing"] += 1
            return ""
        return f"{done}: status {result.returncode}\n{result.stderr}"

    def case(self, number: int) -> str:
        generator = random.Random(number)
        kind = KINDS[number % len(KINDS)]
        on_checkpoint = kind in CHECKPOINT_FILES
        wrong = self.damage_checkpoint(kind, generator) if on_checkpoint else self.damage_archive(kind, generator)
        return f"case {number}, {kind}: {wrong}: WRONG" if wrong else ""


def main(words: Sequence[str]) -> int:
    parser = parser_of(__doc__, "run")
    parser.add_argument("--optimizer", default="adamw { lr 1e-3 }")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--cases", type=int, required=True)
    arguments = parser.parse_args(words)
    made_files(arguments)
    shutil.rmtree(arguments.work, ignore_errors=True)
    arguments.work.mkdir(parents=True)
    all_damage = Damage(arguments)
    all_damage.prepare()
    wrong = 0
    for number in range(arguments.first, arguments.first + arguments.cases):
        if text := all_damage.case(number):
            wrong += 1
            print(text, flush=True)
    for (kind, outcome), count in sorted(all_damage.counts.items()):
        print(f"{kind}: {count} {outcome}")
    print(f"{arguments.cases} cases, {wrong} wrong")
    return 1 if wrong else 0
