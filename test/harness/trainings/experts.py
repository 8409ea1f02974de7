"""Trains mixtures of experts, and compares the tokens of their experts with PyTorch.

  harness experts --models FOLDER --work FOLDER --plan P.plan... --mesh dp=2,tp=2... --optimizer 'sgd { lr 0.1 }'
                  [--statement TEXT...] [--steps N] [--capacity F] [--rate R]

The model is models/balanced_mixture.py, which PyTorch trains beside `meshplan-run train`. In each step the log must
have the tokens of each expert and what is dropped, and a loss within 1e-5; after the last step parameters must agree
within 1e-5 of the largest number of each, and the bias of the scores exactly. With `--capacity` PyTorch drops
what the plan says, by gates of zeros; with `--rate` it changes the bias after each step. The statements of the plan are
those of the command line.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Sequence

import torch
from safetensors.torch import load_file

from harness.arguments import parser_of
from harness.models.balanced_mixture import BalancedMixtures, kept
from harness.models.two_mixtures import EXPERTS, SLOTS
from harness.plans import Run, compile_run, made_files, runs_of, with_statements
from harness.programs import read_log
from harness.reference.training import OPTIMIZERS, optimizer_options
from harness.tensors import Tensors
from harness.trainings import train_command
from harness.trainings.steps import optimizer_of
from harness.verdicts import verdict

MODEL = "balanced_mixtures"
TOLERANCE = 1e-5


def counts_of(module: BalancedMixtures, capacity: float) -> list[list[int]]:
    """The tokens of each expert that the last call has computed, by layer."""
    counts = []
    for mixture in module.mixtures:
        chosen = mixture.chosen
        taken = chosen[kept(chosen, capacity)] if capacity else chosen
        counts.append(torch.bincount(taken.flatten(), minlength=EXPERTS).tolist())
    return counts


def train(arguments: argparse.Namespace, weights: Tensors, batch: Tensors) -> tuple[list[dict], Tensors]:
    """PyTorch's own steps: what the log must have, and what is held after the last."""
    module = BalancedMixtures()
    module.load_state_dict(weights)
    kind, numbers = optimizer_of(arguments.optimizer)
    optimizer = OPTIMIZERS[kind](module.parameters(), **optimizer_options(numbers))
    for mixture in module.mixtures:
        mixture.capacity = arguments.capacity
    lines = []
    for _ in range(arguments.steps):
        optimizer.zero_grad()
        loss = module(**batch)["loss"]
        loss.backward()
        optimizer.step()
        counts = counts_of(module, arguments.capacity)
        lines.append({"loss": loss.item(), "tokens": counts})
        for mixture, own in zip(module.mixtures, counts, strict=True):
            tokens = torch.tensor(own)
            mixture.bias += arguments.rate * (tokens.float().mean() - tokens).sign()
    return lines, {name: tensor.detach() for name, tensor in module.state_dict().items()}


def check(arguments: argparse.Namespace, run: Run, wanted: list[dict], held: Tensors, batch: Tensors) -> bool:
    folder = run.output.with_suffix("")
    shutil.rmtree(folder, ignore_errors=True)
    train_command.train(arguments, run.schedule, arguments.steps, folder, "--weights", arguments.weights)
    pairs = batch["ids"].numel() * SLOTS
    right, found = True, read_log(folder / "log.jsonl", "step")
    for line, own in zip(found, wanted, strict=True):
        tokens = [layer["tokens"] for layer in line["experts"]]
        dropped = [layer["dropped"] for layer in line["experts"]]
        right &= tokens == own["tokens"] and dropped == [pairs - sum(counts) for counts in own["tokens"]]
        right &= abs(line["loss"] - own["loss"]) <= TOLERANCE * own["loss"]
    said = f"{run.output.stem}: step {len(found)}, loss {found[-1]['loss']:.6f}, of PyTorch {wanted[-1]['loss']:.6f}, "
    said += f"tokens {[layer['tokens'] for layer in found[-1]['experts']]}, of PyTorch {wanted[-1]['tokens']}"
    right = verdict(said, right)
    saved = load_file(folder / "run" / f"step-{arguments.steps:06}" / "model.safetensors")
    for name, own in held.items():
        exact = name.endswith(".bias") and name.startswith("mixtures")
        error, most = (saved[name] - own).abs().max().item(), 0 if exact else TOLERANCE * own.abs().max().item()
        if error > most:
            right = verdict(f"  {name}: error {error:.2e}, at most {most:.2e}", False)
    return right


def main(words: Sequence[str]) -> int:
    parser = parser_of(__doc__, "folders", "programs", "device")
    parser.add_argument("--plan", type=train_command.Path, nargs="+", required=True)
    parser.add_argument("--mesh", nargs="+", required=True)
    parser.add_argument("--statement", action="append", default=[], help="another statement of the plan")
    parser.add_argument("--optimizer", required=True)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--capacity", type=float, default=0)
    parser.add_argument("--rate", type=float, default=0)
    arguments = parser.parse_args(words)
    arguments.model = MODEL
    files = made_files(arguments)
    arguments.weights = files.weights
    arguments.work.mkdir(parents=True, exist_ok=True)
    batch = train_command.write_data(arguments)
    wanted, held = train(arguments, load_file(files.weights), batch)
    statements = [f"optimizer {arguments.optimizer}", *arguments.statement]
    right = True
    for run in runs_of(arguments, lambda text: with_statements(text, statements)):
        compile_run(arguments, run)
        right &= check(arguments, run, wanted, held, batch)
    return 0 if right else 1
