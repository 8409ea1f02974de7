"""The command `meshplan-run train`, and what it leaves: its log, event files and checkpoints."""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from harness import command, plans
from harness.plans import Run, files_of, with_statements
from harness.programs import read_log, report, run
from harness.tensors import Tensors
from harness.verdicts import verdict

KEYS = [
    *("kind", "step", "loss", "gradient_norm", "learning_rates", "loss_scale", "nonfinite", "samples", "tokens"),
    *("seconds", "data_seconds", "exposed_seconds", "checkpoint_seconds", "peak_bytes", "time"),
]


def write_data(arguments: argparse.Namespace) -> Tensors:
    """A data set of one global batch, the example inputs: each step trains on the same samples, in an order of its own,
    which no mean over samples sees."""
    batch = load_file(files_of(arguments.models, arguments.model).inputs)
    batch = {name: tensor.contiguous() for name, tensor in batch.items()}
    save_file(batch, data_of(arguments))
    return batch


def data_of(arguments: argparse.Namespace) -> Path:
    return arguments.work / "data.safetensors"


def compiled(arguments: argparse.Namespace, stem: str = "plan", mesh: str | None = None) -> Path:
    """The schedule of a plan, of which there is one, with the optimizer and the statements of the command line."""
    archive = files_of(arguments.models, arguments.model).archive.resolve()
    each = Run(arguments.work / f"{stem}.plan", mesh or arguments.mesh, arguments.work / f"{stem}.safetensors")
    text = arguments.plan.read_text().replace("model.pt2", str(archive))
    each.plan.write_text(with_statements(text, [f"optimizer {arguments.optimizer}", *arguments.statement]))
    plans.compile_run(arguments, each)
    return each.schedule


def train(
    arguments: argparse.Namespace, schedule: Path, steps: int, folder: Path, *words: str | Path, processes: int = 0
) -> None:
    """Saves into `folder`/run, and logs beside it; as threads, or as processes of MPI."""
    launcher = command("run_mpi", str(processes), "--") if processes else []
    outputs = ["--checkpoint", folder / "run", "--log", folder / "log.jsonl", "--tensorboard", folder / "events"]
    training = [arguments.meshplan_run, "train", schedule, "--data", data_of(arguments), "--steps", str(steps)]
    run([*launcher, *training, *outputs, *words])


def result_of(folder: Path, steps: int) -> Tensors:
    """As run-steps writes it: the loss of each step, and what is held after the last."""
    found = {}
    for line in read_log(folder / "log.jsonl", "step"):
        assert list(line) == KEYS, list(line)
        found[f"step{line['step'] - 1}.loss"] = torch.tensor(line["loss"], dtype=torch.float64)
    last = folder / "run" / f"step-{steps:06}"
    return found | load_file(last / "model.safetensors") | load_file(last / "optimizer.safetensors")


def events_agree(folder: Path, logged: Tensors) -> bool:
    """True if TensorBoard reads the losses of the log from the event files."""
    from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader

    losses = {}
    for path in sorted((folder / "events").iterdir()):
        for event in LegacyEventFileLoader(str(path)).Load():
            for value in event.summary.value:
                if value.tag == "train/loss":
                    losses[event.step] = value.simple_value
    found = {f"step{step - 1}.loss": torch.tensor(loss).item() for step, loss in losses.items()}
    wanted = {name: loss.float().item() for name, loss in logged.items() if name.endswith(".loss")}
    return verdict(f"event files: {len(losses)} losses", found == wanted and bool(found))


def evaluations_agree(arguments: argparse.Namespace, schedule: Path, folder: Path) -> bool:
    """True if `meshplan-run eval` gives the bits of the run's own evaluations: of the weights those of the one before
    the first step, of the last checkpoint those of the one after the last."""
    logged = read_log(folder / "log.jsonl", "evaluation")
    right = len(logged) == 2
    weights = files_of(arguments.models, arguments.model).weights
    for line, words in zip(logged, (("--weights", weights), ("--checkpoint", folder / "run")), strict=True):
        found = report([arguments.meshplan_run, "eval", schedule, "--data", data_of(arguments), "--json", *words])
        same = all(found[key] == line[key] for key in ("loss", "perplexity", "batches", "samples"))
        right &= verdict(f"eval {words[0]}: loss {found['loss']}, logged {line['loss']}", same)
    return right
