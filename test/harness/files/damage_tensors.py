"""Writes damaged copies of a safetensors file: harness damage_tensors TENSORS.safetensors NAME FOLDER

Each copy has one fault, and is named after it: truncated (half of the bytes), header (its length says more than the
file has), text (no safetensors at all), missing (without NAME), shape (NAME with its first two dims exchanged and a
row cut), extra (NAME again, as NAME_2), dtype (NAME as int32).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file


def main(words: Sequence[str]) -> int:
    source, name, folder = Path(words[0]), words[1], Path(words[2])
    content = source.read_bytes()
    (folder / "truncated.safetensors").write_bytes(content[: len(content) // 2])
    (folder / "header.safetensors").write_bytes((1 << 40).to_bytes(8, "little") + content[8:])
    (folder / "text.safetensors").write_text("these are not tensors\n")
    tensors = load_file(source)
    whole = tensors.pop(name)
    save_file(tensors, folder / "missing.safetensors")
    save_file(tensors | {name: whole.transpose(0, 1)[1:].contiguous()}, folder / "shape.safetensors")
    save_file(tensors | {name: whole, name + "_2": whole.clone()}, folder / "extra.safetensors")
    save_file(tensors | {name: whole.to(torch.int32)}, folder / "dtype.safetensors")
    return 0
