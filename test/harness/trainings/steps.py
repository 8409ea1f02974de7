"""How a command line says a training, the batches of its steps, and the program `run-steps`, which makes them."""

from __future__ import annotations

import argparse
import dataclasses
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from safetensors.torch import load_file, save_file

from harness import plans
from harness.plans import files_of, seed_setting
from harness.programs import run
from harness.reference.graphs import COMPUTE
from harness.reference.loss_units import UNITS, hide_labels
from harness.reference.training import DTYPES, Settings
from harness.tensors import Tensors


def add_comparison(parser: argparse.ArgumentParser) -> None:
    """How PyTorch trains, and what is compared: see reference/training.py."""
    parser.add_argument("--loss-scale", type=float, default=1.0, help="PyTorch differentiates so many times the loss")
    parser.add_argument("--per", choices=UNITS, help="the loss is redefined, by hand, from the outputs `logits`")
    parser.add_argument("--clip", type=float, default=0)
    parser.add_argument("--microbatches", type=int, default=1, help="PyTorch takes the mean over so many parts")
    parser.add_argument(
        "--master", nargs="?", const="float32", choices=DTYPES, help="copies of narrower parameters are trained"
    )
    parser.add_argument("--states", choices=DTYPES, help="of the optimizer")
    parser.add_argument("--gather", choices=DTYPES, help="what the model reads of parameters is rounded to it")
    parser.add_argument("--frozen", action="append", default=[], metavar="MODULE", help="is not trained")
    parser.add_argument("--parameters", action="store_true", help="compare these too")
    parser.add_argument("--compute", choices=COMPUTE, help="of autocast")


def add_training(parser: argparse.ArgumentParser) -> None:
    """How a plan trains."""
    parser.add_argument("--seed", type=int, help="of random operators (default: that of the program, 0)")
    parser.add_argument("--optimizer", required=True, help="as in a plan: 'adamw { lr 1e-2 }'")
    parser.add_argument("--steps", type=int, default=3)
    add_comparison(parser)


def optimizer_of(statement: str) -> tuple[str, dict[str, float]]:
    """Kind and numbers of `adamw { lr 1e-2; weight_decay 0.1 }`."""
    kind, _, options = statement.partition("{")
    return kind.strip(), plans.numbers_of(option for option in options.strip(" }").split(";") if option.strip())


def settings_of(arguments: argparse.Namespace) -> Settings:
    """What PyTorch is told of the training of a command line."""
    optimizer, numbers = optimizer_of(arguments.optimizer)
    alike = {field.name: getattr(arguments, field.name, field.default) for field in dataclasses.fields(Settings)}
    return Settings(**alike | {"optimizer": optimizer, "numbers": numbers, "seed": arguments.seed or 0, "loss": "loss"})


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


def with_loss_unit(text: str, unit: str | None) -> str:
    """The text of a plan whose loss is redefined."""
    return re.sub(r"^( *loss +\S+) *$", rf"\1 per {unit}", text, flags=re.MULTILINE) if unit else text


def repeated(tensors: Tensors, count: int) -> Tensors:
    """As many times the samples: elements are moved along the last dim, by another number of places each time."""
    if count == 1:
        return tensors
    return {name: torch.cat([tensor.roll(number, -1) for number in range(count)]) for name, tensor in tensors.items()}


def make_batches(inputs: Path, folder: Path, steps: int, hides: bool = False, times: int = 1) -> list[Path]:
    """The same positions of all inputs of one shape are exchanged, so that labels stay with their tokens. If asked to,
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


def steps_command(
    arguments: argparse.Namespace,
    schedule: Path,
    result: Path,
    batches: Sequence[Path],
    options: Sequence[str | Path] = (),
) -> list[str | Path]:
    """Trains a compiled plan, one step for each batch."""
    weights = files_of(arguments.models, arguments.model).weights
    return [arguments.steps_program, *seed_setting(arguments.seed), *options, schedule, weights, result, *batches]


class Trained(NamedTuple):
    """The loss of each step (`step0.loss`) with what ranks hold after the last, and what run-steps prints."""

    tensors: Tensors
    said: str


def run_steps(
    arguments: argparse.Namespace,
    schedule: Path,
    result: Path,
    batches: Sequence[Path],
    options: Sequence[str | Path] = (),
) -> Trained:
    said = run(steps_command(arguments, schedule, result, batches, options))
    return Trained(load_file(result), said)
