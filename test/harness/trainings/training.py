"""Trains one model under several plans and meshes for a few steps, and compares with PyTorch.

  harness training MODEL [--seed N] --models FOLDER --work FOLDER --plan P.plan... --mesh dp=2,tp=2...
                   --optimizer 'adamw { lr 1e-2; weight_decay 0.1 }' [--statement TEXT...] [--clip X]
                   [--steps N] [--parameters] [--master [DTYPE]] [--states DTYPE] [--gather DTYPE]
                   [--frozen PATH...] [--memory] [--per token|sequence] [--microbatches N] [--compute DTYPE]

MODEL is a name of models/make_models.py; its archive is made in --models when it is not there. Each plan names
"model.pt2" and a loss. What is compared, and what --parameters, --master, --states and --gather say, is in
reference/training.py. With `--memory` the bytes that the largest rank metered must be within 5 % of those that the
compiler planned, and what it keeps from step to step must be what was planned. Every step gets a batch of its own: the
elements of the example inputs in another order. With `--per` the plan's loss is redefined, and labels that do not count
are as many as may differ from sample to sample.
"""

from __future__ import annotations

import argparse
import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from harness.plans import (
    Run,
    add_device,
    argument_parser,
    compile_command,
    make_model,
    report_of,
    runs_of,
    with_statements,
)
from harness.reference.archives import load_program
from harness.reference.loss_units import hide_labels
from harness.reference.training import add_options, compare, references_of
from harness.tensors import Tensors

PEAK_TOLERANCE = 0.05  # of the planned peak


def repeated(tensors: Tensors, count: int) -> Tensors:
    """As many times the samples: elements are moved along the last dim, by another number of places each time."""
    if count == 1:
        return tensors
    return {name: torch.cat([tensor.roll(number, -1) for number in range(count)]) for name, tensor in tensors.items()}


def make_batches(inputs: Path, folder: Path, steps: int, hides: bool = False, times: int = 1) -> list[Path]:
    """The same places of all inputs of one shape are exchanged, so that labels stay with their tokens. If asked to,
    hides labels. A batch has so many `times` the samples."""
    tensors = repeated(load_file(inputs), times)
    generator = torch.Generator().manual_seed(0)
    paths = []
    for step in range(steps):
        orders = {tensor.numel(): torch.randperm(tensor.numel(), generator=generator) for tensor in tensors.values()}
        batch = {
            name: tensor if tensor.is_floating_point() else tensor.flatten()[orders[tensor.numel()]].view_as(tensor)
            for name, tensor in tensors.items()
        }
        batch = hide_labels(batch) if hides else batch
        paths.append(folder / f"batch{step}.safetensors")
        save_file({name: tensor.contiguous() for name, tensor in batch.items()}, paths[-1])
    return paths


def numbers_of(optimizer: str) -> tuple[str, list[str]]:
    """Kind and numbers of `adamw { lr 1e-2; weight_decay 0.1 }`."""
    kind, _, options = optimizer.partition("{")
    pairs = [option.split() for option in options.strip(" }").split(";") if option.strip()]
    return kind.strip(), [f"{words[0]}={words[1] if len(words) > 1 else 1}" for words in pairs]


def with_loss_unit(text: str, unit: str | None) -> str:
    """The text of a plan whose loss is redefined."""
    return re.sub(r"^( *loss +\S+) *$", rf"\1 per {unit}", text, flags=re.MULTILINE) if unit else text


def statements_of(arguments: argparse.Namespace) -> list[str]:
    """What a plan needs to train as the arguments say."""
    added = [f"optimizer {arguments.optimizer}", *arguments.statement]
    if arguments.frozen:
        added.append(f"freeze {', '.join(arguments.frozen)}")
    if arguments.clip:
        added.append(f"clip_grad_norm {arguments.clip}")
    if arguments.microbatches > 1:
        added.append(f"microbatches {arguments.microbatches} mean")
    return added


def steps_command(arguments: argparse.Namespace, run: Run, batches: Sequence[Path]) -> list[str | Path]:
    """Trains a compiled plan, one step for each batch."""
    settings = [] if arguments.seed is None else ["--set", f"seed={arguments.seed}"]
    weights = f"{arguments.models / arguments.model}.safetensors"
    return [arguments.steps_program, *settings, run.schedule, weights, run.output, *batches]


def reference_arguments(arguments: argparse.Namespace) -> argparse.Namespace:
    """Those of reference/training.py for the same training."""
    kind, numbers = numbers_of(arguments.optimizer)
    others = {"optimizer": kind, "set": numbers, "seed": arguments.seed or 0, "loss": "loss"}
    return argparse.Namespace(**vars(arguments) | others)


def memory_of(metered: str, scratch: int = 0) -> Iterator[tuple[str, bool]]:
    """What the largest rank held and should have, and whether that fits.

    Of lines `rank 0: peak 1000 planned 990 kept 700 planned 700`, with the same of the host where something lies
    there: `host 50 planned 49 parameters 30 planned 30 states 10 planned 10`. What is held from step to step is
    exact. Peaks may be larger by `scratch`, what this processor's kernels hold and no plan has."""
    largest: dict[str, tuple[int, int]] = {}
    for what, peak, planned in re.findall(r"(\w+) (\d+) planned (\d+)", metered):
        largest[what] = max(largest.get(what, (0, 0)), (int(peak), int(planned)))
    for what, (peak, planned) in largest.items():
        tolerance = PEAK_TOLERANCE * planned if what in ("peak", "host") else 0
        more = scratch if what == "peak" else 0
        yield f"memory: {what} {peak}, planned {planned}", -tolerance <= peak - planned <= tolerance + more


def check_memory(metered: str) -> bool:
    right = True
    for said, fits in memory_of(metered):
        print(f"{said}: {'ok' if fits else 'WRONG'}", flush=True)
        right &= fits
    return right


def add_training_options(parser: argparse.ArgumentParser) -> None:
    """How a plan trains, besides what reference/training.py knows."""
    parser.add_argument("--seed", type=int, help="of random operators (default: that of the program, 0)")
    parser.add_argument("--statement", action="append", default=[], help="another statement of the plan")
    parser.add_argument("--optimizer", required=True)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--steps-program", default="run-steps")


def main(words: Sequence[str]) -> int:
    parser = argument_parser(__doc__.splitlines()[0])
    add_options(parser)
    add_training_options(parser)
    parser.add_argument("--memory", action="store_true", help="the metered peak is that of the compiler")
    add_device(parser)
    arguments = parser.parse_args(words)

    archive = make_model(arguments)
    arguments.work.mkdir(parents=True, exist_ok=True)
    inputs = arguments.models / f"{arguments.model}.inputs.safetensors"
    hides = arguments.per is not None
    batches = make_batches(inputs, arguments.work, arguments.steps, hides, arguments.microbatches)
    compared = reference_arguments(arguments)
    references = references_of(load_program(archive), compared, [load_file(batch) for batch in batches])
    right = True

    def changed(text: str) -> str:
        return with_statements(with_loss_unit(text, arguments.per), statements_of(arguments))

    for run in runs_of(arguments, changed):
        subprocess.run(compile_command(arguments, run), check=True)
        steps = steps_command(arguments, run, batches)
        metered = subprocess.run(steps, check=True, stdout=subprocess.PIPE, text=True).stdout
        reference = references.of(lambda run=run: report_of(arguments, run))
        print(run.output.stem, flush=True)
        right &= compare(load_file(run.output), reference, compared)
        right &= not arguments.memory or check_memory(metered)
        packed = max(int(count) for count in re.findall(r" packed (\d+)", metered))
        print(f"packed: {packed} bytes", flush=True)
    return 0 if right else 1
