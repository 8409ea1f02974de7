"""What PyTorch makes of cases that were written, on the GPU of this machine."""

from __future__ import annotations

import contextlib
import functools
import json
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from harness.reference.addends import RoundedProducts
from harness.reference.archives import load_program, on_device, positional_inputs
from harness.reference.graphs import own_module, run_on_device


@functools.lru_cache(maxsize=1)  # consecutive cases have one model
def program_of(path: Path, device: str) -> tuple[torch.nn.Module, tuple[str, ...]]:
    program = load_program(path)
    return own_module(on_device(program, device)), positional_inputs(program)


def run(told: Path, device: str) -> dict[str, torch.Tensor]:
    content = json.loads(told.read_text())
    module, positional = program_of(told.parent / content["model"], device)
    rounded = RoundedProducts(content["addends"]) if content["addends"] > 1 else contextlib.nullcontext()
    with rounded:
        return run_on_device(module, device, load_file(told.with_suffix(".inputs")), positional)


def run_all(cases: Sequence[Path], results: Path, device: str = "cuda") -> None:
    """Writes a file for each case; nothing without the device, or where PyTorch does not run the model there: it lacks
    a kernel, or the model makes tensors on the CPU."""
    if device == "cuda" and not torch.cuda.is_available():
        return
    for told in cases:
        with contextlib.suppress(RuntimeError):
            outputs = {name: tensor.contiguous() for name, tensor in run(told, device).items()}
            save_file(outputs, results / f"{told.stem}.own")
