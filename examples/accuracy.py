#!/usr/bin/env python3
"""How often a trained model's likeliest answer is the right one.

  accuracy.py F.sched --weights W --data D.safetensors --labels NAME --batch N [--next]

Runs the model without dropout on the data, batch by batch, and compares the output `logits` with the tensor NAME of the
data. With `--next` the model predicts at each position of a text what comes next.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

Tensors = dict[str, torch.Tensor]


def logits_of(arguments: argparse.Namespace, batch: Tensors) -> torch.Tensor:
    with tempfile.TemporaryDirectory() as name:
        inputs, outputs = Path(name) / "inputs.safetensors", Path(name) / "outputs.safetensors"
        save_file(batch, inputs)
        command = [
            arguments.meshplan_run,
            "forward",
            arguments.schedule,
            "--program",
            "eval",
            "--weights",
            arguments.weights,
        ]
        subprocess.run([*command, "--inputs", inputs, "--outputs", outputs], check=True, stdout=subprocess.DEVNULL)
        return load_file(outputs)["logits"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("schedule")
    parser.add_argument("--weights", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--labels", metavar="NAME", required=True)
    parser.add_argument("--next", action="store_true")
    parser.add_argument("--batch", type=int, required=True, help="samples of the model's batch")
    parser.add_argument("--meshplan-run", default="meshplan-run")
    arguments = parser.parse_args()
    data = load_file(arguments.data)
    right = total = 0
    for start in range(0, len(data[arguments.labels]) - arguments.batch + 1, arguments.batch):
        batch = {name: tensor[start : start + arguments.batch].contiguous() for name, tensor in data.items()}
        choices, labels = logits_of(arguments, batch).argmax(-1), batch[arguments.labels]
        if arguments.next:
            choices, labels = choices[:, :-1], labels[:, 1:]
        right += int((choices == labels).sum())
        total += labels.numel()
    print(f"{right} of {total} right: {100 * right / total:.1f} %")


if __name__ == "__main__":
    main()
