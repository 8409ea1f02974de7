#!/usr/bin/env python3
"""Trains one model under several plans and meshes for a few steps, and compares with PyTorch.

  check_training.py MODEL [--seed N] --models FOLDER --work FOLDER --plan P.plan... --mesh dp=2,tp=2...
                    --optimizer 'adamw { lr 1e-2; weight_decay 0.1 }' [--statement TEXT...] [--clip X]
                    [--steps N] [--parameters] [--master] [--frozen PATH...] [--memory]

MODEL is a name of make_models.py; its archive is made in --models when it is not there. Each plan names "model.pt2" and
a loss. With `--memory` the bytes that the largest rank metered must be within 10 % of those that the compiler planned.
Every step gets a batch of its own: the elements of the example inputs in another order.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

PEAK_TOLERANCE = 0.1  # of the planned peak


def make_batches(inputs: Path, folder: Path, steps: int) -> list[Path]:
    """The same places of all inputs of one shape are exchanged, so that labels stay with their tokens."""
    tensors = load_file(inputs)
    generator = torch.Generator().manual_seed(0)
    paths = []
    for step in range(steps):
        orders = {tensor.numel(): torch.randperm(tensor.numel(), generator=generator) for tensor in tensors.values()}
        batch = {
            name: tensor if tensor.is_floating_point() else tensor.flatten()[orders[tensor.numel()]].view_as(tensor)
            for name, tensor in tensors.items()
        }
        paths.append(folder / f"batch{step}.safetensors")
        save_file({name: tensor.contiguous() for name, tensor in batch.items()}, paths[-1])
    return paths


def numbers_of(optimizer: str) -> tuple[str, list[str]]:
    """Kind and numbers of `adamw { lr 1e-2; weight_decay 0.1 }`."""
    kind, _, options = optimizer.partition("{")
    pairs = [option.split() for option in options.strip(" }").split(";") if option.strip()]
    return kind.strip(), [f"{words[0]}={words[1] if len(words) > 1 else 1}" for words in pairs]


def with_statements(plan: str, archive: Path, arguments: argparse.Namespace) -> str:
    lines = plan.replace("model.pt2", str(archive.resolve())).splitlines()
    place = next(index for index, line in enumerate(lines) if line.split()[:1] == ["loss"])
    added = [f"optimizer {arguments.optimizer}", *arguments.statement]
    if arguments.frozen:
        added.append(f"freeze {', '.join(arguments.frozen)}")
    if arguments.clip:
        added.append(f"clip_grad_norm {arguments.clip}")
    return "\n".join([*lines[: place + 1], *(f"  {line}" for line in added), *lines[place + 1 :]]) + "\n"


def check_memory(metered: str) -> bool:
    """Of lines `rank 0: peak 1000 planned 990`."""
    peaks = [(int(line.split()[3]), int(line.split()[5])) for line in metered.splitlines()]
    peak, planned = max(peaks)
    right = abs(peak - planned) <= PEAK_TOLERANCE * planned
    print(f"memory: peak {peak}, planned {planned}: {'ok' if right else 'WRONG'}", flush=True)
    return right


def check(plan: Path, mesh: str, batches: list[Path], arguments: argparse.Namespace) -> bool:
    base = arguments.models / arguments.model
    schedule = arguments.work / f"{plan.stem}-{mesh.replace('=', '').replace(',', '-')}.sched"
    result = schedule.with_suffix(".safetensors")
    definitions = [f"-D{axis}" for axis in mesh.split(",")]
    subprocess.run([arguments.meshplan, "compile", plan, *definitions, "-o", schedule], check=True)
    settings = [] if arguments.seed is None else ["--set", f"seed={arguments.seed}"]
    steps = [arguments.steps_program, *settings, schedule, f"{base}.safetensors", result, *batches]
    metered = subprocess.run(steps, check=True, stdout=subprocess.PIPE, text=True).stdout
    kind, numbers = numbers_of(arguments.optimizer)
    compare = [sys.executable, Path(__file__).with_name("compare_training.py"), f"{base}.pt2", "--optimizer", kind]
    compare += [word for number in numbers for word in ("--set", number)]
    compare += ["--clip", str(arguments.clip)]
    compare += [word for path in arguments.frozen for word in ("--frozen", path)]
    compare += [f"--{flag}" for flag in ("parameters", "master") if getattr(arguments, flag)]
    print(f"{plan.stem} {mesh}", flush=True)
    right = not arguments.memory or check_memory(metered)
    compare += ["--seed", str(arguments.seed or 0)]
    return subprocess.run([*compare, result, *batches]).returncode == 0 and right


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--models", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--plan", type=Path, nargs="+", required=True)
    parser.add_argument("--mesh", nargs="+", required=True)
    parser.add_argument("--optimizer", required=True)
    parser.add_argument("--seed", type=int, help="of random operators (default: that of the program, 0)")
    parser.add_argument("--statement", action="append", default=[], help="another statement of the plan")
    parser.add_argument("--clip", type=float, default=0)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--parameters", action="store_true")
    parser.add_argument("--master", action="store_true", help="PyTorch trains float32 copies of its parameters")
    parser.add_argument("--frozen", action="append", default=[], metavar="PATH", help="a module that is not trained")
    parser.add_argument("--memory", action="store_true", help="the metered peak is that of the compiler")
    parser.add_argument("--meshplan", default="meshplan")
    parser.add_argument("--steps-program", default="run-steps")
    arguments = parser.parse_args()

    maker = Path(__file__).with_name("make_models.py")
    subprocess.run([sys.executable, maker, arguments.models, arguments.model], check=True)
    arguments.work.mkdir(parents=True, exist_ok=True)
    archive = arguments.models / f"{arguments.model}.pt2"
    batches = make_batches(arguments.models / f"{arguments.model}.inputs.safetensors", arguments.work, arguments.steps)
    right = True
    for plan in arguments.plan:
        copy = arguments.work / plan.name
        copy.write_text(with_statements(plan.read_text(), archive, arguments))
        for mesh in arguments.mesh:
            right &= check(copy, mesh, batches, arguments)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
