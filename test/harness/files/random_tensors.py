"""Writes random weights and the example inputs of an exported model: harness random_tensors MODEL.pt2 FOLDER

FOLDER/w.safetensors and FOLDER/x.safetensors, under the names that the model gives them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import save_file


def main(words: Sequence[str]) -> int:
    program = torch.export.load(words[0])
    folder = Path(words[1])
    generator = torch.Generator().manual_seed(0)
    weights = {name: torch.randn(value.shape, generator=generator) for name, value in program.state_dict.items()}
    save_file(weights, folder / "w.safetensors")
    arguments, keywords = program.example_inputs
    inputs = dict(zip(program.graph_signature.user_inputs, [*arguments, *keywords.values()], strict=True))
    save_file({str(name): value.contiguous() for name, value in inputs.items()}, folder / "x.safetensors")
    return 0
