"""Measures how long the ranks of one process take to load weights of several GB that no memory holds yet.

The weights are those of a Llama of 1.1 billion float32 numbers, divided over two ranks. The other side is the time in
which one reader gets the same file from its begin to its end, in pieces of 16 MiB. Both take turns, and each starts
with the file outside of the system's cache.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import torch
from bench import models, ranks, table, turns
from bench.arguments import parser
from export_model import UsageError
from safetensors.torch import save_file

WORLD = 2
TARGET = 1.25
PIECE = 16 << 20
MODEL = models.llama1b(batch=2, sequence=16)


def make_weights(archive: Path, weights: Path) -> None:
    """Numbers for every parameter of an archive that has none."""
    if weights.is_file() and weights.stat().st_mtime >= archive.stat().st_mtime:
        return
    state = torch.export.load(archive).state_dict
    if not state:
        raise UsageError(f"{archive} names no parameter")
    torch.manual_seed(0)
    save_file({name: 0.02 * torch.randn(tensor.shape) for name, tensor in state.items()}, weights)


def forget(path: Path) -> None:
    """Takes a file out of the system's cache."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def reading_seconds(path: Path) -> float:
    forget(path)
    piece = bytearray(PIECE)
    begin = time.monotonic()
    with path.open("rb", buffering=0) as file:
        while file.readinto(piece):
            pass
    return time.monotonic() - begin


def loading_seconds(programs: Path, where: Path, weights: Path) -> float:
    forget(weights)
    return ranks.load_seconds(programs, where)


def main() -> None:
    arguments = parser(__doc__, rounds=3).parse_args()
    where = models.export(MODEL, arguments.folder)
    weights, programs = where / "weights.safetensors", arguments.programs
    make_weights(where / f"{MODEL.archive}.pt2", weights)
    ranks.compile_schedule(MODEL, programs, where, world=WORLD)
    measured = turns.take(
        arguments.rounds,
        lambda: loading_seconds(programs, where, weights),
        lambda: reading_seconds(weights),
        TARGET,
        name="file",
    )
    table.report([{"model": MODEL.name, "GB": weights.stat().st_size / 1e9, "ranks": WORLD} | measured], arguments.json)


if __name__ == "__main__":
    main()
