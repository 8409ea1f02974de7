"""Exported models: loading them, and what their signatures say."""

from __future__ import annotations

import copy
import importlib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import torch
from torch.export.passes import move_to_device_pass

from harness.reference.deviations import HALVES


def load_program(path: Path | str) -> torch.export.ExportedProgram:
    """An archive, with the library imported whose operators it has."""
    with zipfile.ZipFile(path) as archive:
        graphs = [archive.read(name) for name in archive.namelist() if name.endswith(".json")]
    if any(b"torch.ops.transformers." in graph for graph in graphs):
        importlib.import_module("transformers.integrations.moe")
    return torch.export.load(path)


def positional_inputs(program: torch.export.ExportedProgram) -> tuple[str, ...]:
    """Names of the inputs that are tensors by position."""
    arguments = program.call_spec.in_spec.children()[0]
    return tuple(program.graph_signature.user_inputs[: arguments.num_leaves])


def leaves(result: object, path: str = "") -> Iterator[tuple[str, torch.Tensor]]:
    """The tensors of nested outputs by the names that the compiler gives them."""
    if isinstance(result, torch.Tensor):
        yield path or "0", result
    elif isinstance(result, (dict, tuple, list)):
        for key, item in result.items() if isinstance(result, dict) else enumerate(result):
            yield from leaves(item, f"{path}.{key}" if path else str(key))


def is_half(program: torch.export.ExportedProgram) -> bool:
    return any(parameter.dtype in HALVES for parameter in program.parameters())


def on_device(program: torch.export.ExportedProgram, device: str) -> torch.export.ExportedProgram:
    """The program with its parameters and constants on a device, where it computes in float32 without TF32."""
    if device == "cpu":
        return program
    torch.backends.cudnn.allow_tf32 = False
    return move_to_device_pass(copy.deepcopy(program), device)
