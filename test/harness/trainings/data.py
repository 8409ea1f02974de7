"""Trains a language model on the same samples in every format of data, and compares the losses with PyTorch's.

  harness data MODEL --models FOLDER --work FOLDER --plan P.plan --mesh dp=2,tp=1 dp=1,tp=2

The learning rate is 0, so that the loss of a step tells which samples it has seen: those of its batch, in the order
of docs/data.md, restated here. The steps go over the ends of epochs, and one run is ended in the middle.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy
import torch
from safetensors.numpy import save_file
from safetensors.torch import load_file

from harness.arguments import parser_of
from harness.files.make_megatron_dataset import write_index
from harness.plans import Files, compile_run, made_files, runs_of, with_statements
from harness.programs import read_log, run
from harness.reference.archives import load_program
from harness.verdicts import verdict

SAMPLES = 9  # no multiple of the batch
STEPS = 11
SEED = 5
MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
# Sums of f32 in another order, of a few hundred numbers around 1: 1e-6 and less was seen, another sample changes the
# loss by more than 1e-3.
TOLERANCE = 1e-5


def mix(bits: int) -> int:
    bits = ((bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & MASK
    return bits ^ (bits >> 31)


def permutation(size: int, seed: int, epoch: int) -> list[int]:
    """The order of an epoch of the first data set: a Feistel network of eight rounds that walks its cycles."""
    half = ((size - 1).bit_length() + 1) // 2
    state = mix((seed + GOLDEN) & MASK)
    for part in (0, epoch):
        state = mix(((state ^ part) + GOLDEN) & MASK)
    keys = []
    for _ in range(8):
        state = (state + GOLDEN) & MASK
        keys.append(mix(state))

    def once(value: int) -> int:
        left, right = value >> half, value & ((1 << half) - 1)
        for key in keys:
            left, right = right, left ^ (mix(right ^ key) >> (64 - half))
        return left << half | right

    order = []
    for place in range(size):
        value = once(place)
        while value >= size:
            value = once(value)
        order.append(value)
    return order


@dataclass(frozen=True)
class Data:
    """Words of the command line, and the samples that they mean."""

    words: list[str]
    inputs: numpy.ndarray
    labels: numpy.ndarray


def write_data(folder: Path, stream: numpy.ndarray, length: int) -> dict[str, Data]:
    """The stream of SAMPLES * length + 1 tokens in each format."""
    rows = stream[:-1].reshape(SAMPLES, length).astype(numpy.int64)
    later = stream[1:].reshape(SAMPLES, length).astype(numpy.int64)
    tensors = {"input_ids": rows, "labels": rows}
    save_file(tensors, folder / "rows.safetensors")
    (folder / "shards").mkdir()
    for name, part in (("a", slice(0, 4)), ("b", slice(4, None))):
        save_file({key: numpy.ascontiguousarray(tensor[part]) for key, tensor in tensors.items()},
                  folder / "shards" / f"{name}.safetensors")  # fmt: skip
    stream.astype(numpy.uint16).tofile(folder / "tokens.bin")
    documents = numpy.split(stream.astype(numpy.int32), [3, 3, 20])
    (folder / "text.bin").write_bytes(stream.astype(numpy.int32).tobytes())
    write_index(folder / "text.idx", documents, "int32")
    same, later_words = ["--tokens", "labels=same"], ["--tokens", "labels=next"]
    return {
        "a file": Data(["--data", str(folder / "rows.safetensors")], rows, rows),
        "a folder": Data(["--data", str(folder / "shards")], rows, rows),
        "files": Data(
            [word for name in "ab" for word in ("--data", f"{folder}/shards/{name}.safetensors")], rows, rows
        ),
        "nanoGPT": Data(["--data", str(folder / "tokens.bin"), *same], rows, rows),
        "nanoGPT, next": Data(["--data", str(folder / "tokens.bin"), *later_words], rows, later),
        "Megatron": Data(["--data", str(folder / "text"), *same], rows, rows),
        "Megatron, next": Data(["--data", str(folder / "text"), *later_words], rows, later),
    }


def losses_of_pytorch(files: Files, data: Data, batch: int) -> list[float]:
    module = load_program(files.archive).module()
    module.load_state_dict(load_file(files.weights), strict=False)
    epochs = (STEPS * batch - 1) // SAMPLES + 1
    order = [sample for epoch in range(epochs) for sample in permutation(SAMPLES, SEED, epoch)]
    losses = []
    for step in range(STEPS):
        rows = order[step * batch : (step + 1) * batch]
        with torch.no_grad():
            result = module(input_ids=torch.tensor(data.inputs[rows]), labels=torch.tensor(data.labels[rows]))
        losses.append(result["loss"].item())
    return losses


def train(arguments: argparse.Namespace, schedule: Path, log: Path, steps: int, words: list[str]) -> list[float]:
    command = [arguments.meshplan_run, "train", schedule, "--steps", str(steps), "--log", log, *words]
    run(command)
    return [record["loss"] for record in read_log(log, "step")]


def agree(what: str, found: list[float], expected: list[float]) -> bool:
    worst = max((abs(a - b) / abs(b) for a, b in zip(found, expected, strict=False)), default=0)
    right = len(found) == len(expected) and worst <= TOLERANCE
    return verdict(f"{what}: {len(found)} losses, worst {worst:.1e}", right)


def check_formats(arguments: argparse.Namespace, files: Files, batch: int, length: int) -> bool:
    generator = numpy.random.default_rng(3)
    stream = generator.integers(0, 150, size=SAMPLES * length + 1)
    start = ["--weights", str(files.weights), "--seed", str(SEED)]
    runs = list(runs_of(arguments, lambda text: with_statements(text, ["optimizer sgd { lr 0 }"])))
    for each in runs:
        compile_run(arguments, each)
    right = True
    for name, data in write_data(arguments.work, stream, length).items():
        expected = losses_of_pytorch(files, data, batch)
        for each in runs:
            log = arguments.work / f"{name.replace(' ', '')}-{each.schedule.stem}.jsonl"
            found = train(arguments, each.schedule, log, STEPS, [*start, *data.words])
            right &= agree(f"{name}, {each.mesh}", found, expected)
        if name == "nanoGPT":
            saved = ["--checkpoint", str(arguments.work / "run"), *data.words]
            log = arguments.work / "resumed.jsonl"
            train(arguments, runs[0].schedule, log, STEPS // 2, [*start, *saved])
            found = train(arguments, runs[-1].schedule, log, STEPS, ["--resume", *saved])
            right &= agree(f"{name}, {runs[0].mesh} and then {runs[-1].mesh}", found, expected)
    return right


def main(words: Sequence[str]) -> int:
    arguments = parser_of(__doc__, "runs").parse_args(words)
    files = made_files(arguments)
    shutil.rmtree(arguments.work, ignore_errors=True)
    arguments.work.mkdir(parents=True)
    example = load_file(files.inputs)["input_ids"]
    return 0 if check_formats(arguments, files, *example.shape) else 1
