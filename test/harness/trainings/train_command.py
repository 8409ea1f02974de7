"""Trains one model with `meshplan-run train`, and compares losses and parameters with PyTorch and with one another.

  harness train_command MODEL --models FOLDER --work FOLDER --plan P.plan --mesh dp=2,tp=2
                 --optimizer 'adamw { lr 1e-2 }'
                 [--statement TEXT...] [--clip X] [--steps N] [--parameters]
                 [--resume-mesh dp=2,tp=1 --resume-statement TEXT... --resume-processes N]

Names of arguments are those of trainings/training.py. The data set has one global batch of samples, so that each step
trains on the same samples, in an order of its own, which no mean over samples sees. The log of the run has to have the
loss of each step, its event file the same numbers, and its checkpoint the parameters.

`meshplan-run eval` of the last checkpoint gives the bits of the evaluation that the run ended with, and of the weights
those of the one that it began with.

With `--resume-mesh` the run is done again: half of the steps, and then the others by a plan with this mesh and, in the
place of the others, these statements, as threads or as N processes of MPI. What goes on under the same mesh and the
same statements ends with the same bits.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from harness import command
from harness.plans import make_model, with_statements
from harness.reference.archives import load_program
from harness.reference.training import add_options, compare, reference_of
from harness.tensors import Tensors
from harness.trainings.training import numbers_of

KEYS = [
    *("kind", "step", "loss", "gradient_norm", "learning_rates", "loss_scale", "nonfinite", "samples", "tokens"),
    *("seconds", "data_seconds", "exposed_seconds", "checkpoint_seconds", "peak_bytes", "time"),
]


def with_samples(inputs: Path, path: Path) -> Tensors:
    """The example inputs, whose samples are made different, as a data set."""
    batch = {name: tensor.contiguous() for name, tensor in load_file(inputs).items()}
    save_file(batch, path)
    return batch


def compiled(arguments: argparse.Namespace, mesh: str, statements: Sequence[str], stem: str) -> Path:
    """The schedule of the plan with more statements."""
    archive = (arguments.models / f"{arguments.model}.pt2").resolve()
    plan, schedule = arguments.work / f"{stem}.plan", arguments.work / f"{stem}.sched"
    text = arguments.plan.read_text().replace("model.pt2", str(archive))
    plan.write_text(with_statements(text, [f"optimizer {arguments.optimizer}", *statements]))
    sizes = dict(pair.split("=") for pair in mesh.split(","))
    definitions = [word for axis, size in sizes.items() for word in ("-D", f"{axis}={size}")]
    subprocess.run([arguments.meshplan, "compile", plan, "-o", schedule, *definitions], check=True)
    return schedule


def train(
    arguments: argparse.Namespace, schedule: Path, steps: int, folder: Path, *words: str | Path, processes: int = 0
) -> None:
    """Saves into `folder`/run, and logs beside it."""
    launcher = command("run_mpi", str(processes), "--") if processes else []
    data = arguments.work / "data.safetensors"
    outputs = ["--checkpoint", folder / "run", "--log", folder / "log.jsonl", "--tensorboard", folder / "events"]
    training = [arguments.meshplan_run, "train", schedule, "--data", data, "--steps", str(steps), *outputs, *words]
    subprocess.run([*launcher, *training], check=True, stdout=subprocess.DEVNULL)


def result_of(folder: Path, steps: int) -> Tensors:
    """As run-steps writes it: the loss of each step, and what is held behind the last."""
    found = {}
    for line in map(json.loads, (folder / "log.jsonl").read_text().splitlines()):
        if line["kind"] == "step":
            assert list(line) == KEYS, list(line)
            found[f"step{line['step'] - 1}.loss"] = torch.tensor(line["loss"], dtype=torch.float64)
    last = folder / "run" / f"step-{steps:06}"
    return found | load_file(last / "model.safetensors") | load_file(last / "optimizer.safetensors")


def events_agree(folder: Path, steps: int) -> bool:
    """What TensorBoard reads from the event files."""
    from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader

    losses = {}
    for path in sorted((folder / "events").iterdir()):
        for event in LegacyEventFileLoader(str(path)).Load():
            for value in event.summary.value:
                if value.tag == "train/loss":
                    losses[event.step] = value.simple_value
    logged = result_of(folder, steps)
    right = {step: torch.tensor(loss).item() for step, loss in losses.items()} == {
        step: logged[f"step{step - 1}.loss"].float().item() for step in range(1, steps + 1)
    }
    print(f"event files: {len(losses)} losses: {'ok' if right else 'WRONG'}", flush=True)
    return right


def same_bits(first: Tensors, second: Tensors) -> bool:
    different = [name for name in first.keys() | second.keys() if not equal(first.get(name), second.get(name))]
    print(f"bits: {len(first)} tensors: {'ok' if not different else 'WRONG: ' + ', '.join(sorted(different)[:4])}")
    return not different


def equal(first: torch.Tensor | None, second: torch.Tensor | None) -> bool:
    return first is not None and second is not None and torch.equal(first, second)


def evaluates(arguments: argparse.Namespace, schedule: Path, folder: Path) -> bool:
    """Holds `meshplan-run eval` against the evaluations of the run, before its first step and behind its last."""
    lines = map(json.loads, (folder / "log.jsonl").read_text().splitlines())
    logged = [line for line in lines if line["kind"] == "evaluation"]
    data = arguments.work / "data.safetensors"
    weights = arguments.models / f"{arguments.model}.safetensors"
    words = [("--weights", weights), ("--checkpoint", folder / "run")]
    right = len(logged) == 2
    for line, evaluated in zip(logged, words, strict=True):
        command = [arguments.meshplan_run, "eval", schedule, "--data", data, "--json", *evaluated]
        found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
        same = all(found[key] == line[key] for key in ("loss", "perplexity", "batches", "samples"))
        print(
            f"eval {evaluated[0]}: loss {found['loss']}, logged {line['loss']}: {'ok' if same else 'WRONG'}", flush=True
        )
        right &= same
    return right


def goes_on(arguments: argparse.Namespace, schedule: Path) -> Tensors:
    """What a run ends with that was ended in the middle."""
    folder, half = arguments.work / "resumed", arguments.steps // 2
    weights = arguments.models / f"{arguments.model}.safetensors"
    train(arguments, schedule, half, folder, "--weights", weights)
    statements = arguments.resume_statement or arguments.statement
    other = compiled(arguments, arguments.resume_mesh, statements, "other")
    train(arguments, other, arguments.steps, folder, "--resume", processes=arguments.resume_processes or 0)
    return result_of(folder, arguments.steps)


def parse(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    for name in ("models", "work", "plan"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--mesh", required=True)
    parser.add_argument("--optimizer", required=True)
    parser.add_argument("--statement", action="append", default=[], help="another statement of the plan")
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--resume-mesh")
    parser.add_argument("--resume-statement", action="append", default=[])
    parser.add_argument("--resume-processes", type=int, help="the run that goes on is one of as many processes")
    parser.add_argument("--meshplan", default="meshplan")
    parser.add_argument("--meshplan-run", default="meshplan-run")
    add_options(parser)
    return parser.parse_args(words)


def main(words: Sequence[str]) -> int:
    arguments = parse(words)
    archive = make_model(arguments)
    # A folder with checkpoints is not begun anew.
    shutil.rmtree(arguments.work, ignore_errors=True)
    arguments.work.mkdir(parents=True)
    batch = with_samples(
        arguments.models / f"{arguments.model}.inputs.safetensors", arguments.work / "data.safetensors"
    )
    kind, numbers = numbers_of(arguments.optimizer)
    clip = [f"clip_grad_norm {arguments.clip}"] if arguments.clip else []
    arguments.statement += clip
    if arguments.resume_statement:
        arguments.resume_statement += clip
    others = {"optimizer": kind, "set": numbers, "seed": 0, "loss": "loss"}
    compared = argparse.Namespace(**vars(arguments) | others)
    reference = reference_of(load_program(archive), compared, [batch] * arguments.steps)

    schedule = compiled(arguments, arguments.mesh, arguments.statement, "first")
    weights, data = arguments.models / f"{arguments.model}.safetensors", arguments.work / "data.safetensors"
    train(
        arguments,
        schedule,
        arguments.steps,
        arguments.work / "unbroken",
        "--weights",
        weights,
        "--eval-data",
        data,
    )
    unbroken = result_of(arguments.work / "unbroken", arguments.steps)
    right = compare(unbroken, reference, compared) and events_agree(arguments.work / "unbroken", arguments.steps)
    right &= evaluates(arguments, schedule, arguments.work / "unbroken")
    if arguments.resume_mesh:
        resumed = goes_on(arguments, schedule)
        right &= compare(resumed, reference, compared)
        if arguments.resume_mesh == arguments.mesh and not arguments.resume_statement:
            right &= same_bits(unbroken, resumed)
    return 0 if right else 1
