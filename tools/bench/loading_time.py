"""Measures how long the ranks of one process take to load weights of several GB that are not cached.

The weights are those of a Llama of 1.1 billion float32 numbers, sharded over two ranks. They are compared with the time
in which as many readers read the same file, each its part from begin to end: once repeatedly into one buffer of 16 MiB,
which is the speed of the disk, and once into fresh memory, which a rank needs too. The sides take turns, and the file
is removed from the system's cache before each turn.
"""

from __future__ import annotations

import mmap
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import torch
from bench import models, ranks, table, turns
from bench.arguments import parser
from meshplan.example_inputs import UsageError
from safetensors.torch import save_file

WORLD = 2
TARGET = 1.25
PIECE = 16 << 20
MODEL = models.llama1b(batch=2, sequence=16)


def make_weights(archive: Path, weights: Path) -> None:
    """Writes random weights for every parameter of an archive without weights."""
    if weights.is_file() and weights.stat().st_mtime >= archive.stat().st_mtime:
        return
    state = torch.export.load(archive).state_dict
    if not state:
        raise UsageError(f"{archive} names no parameter")
    torch.manual_seed(0)
    save_file({name: 0.02 * torch.randn(tensor.shape) for name, tensor in state.items()}, weights)


def forget(path: Path) -> None:
    """Removes a file from the system's cache."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def read_share(path: Path, rank: int, keeps: bool) -> None:
    size = path.stat().st_size
    begin, end = size * rank // WORLD, size * (rank + 1) // WORLD
    memory = mmap.mmap(-1, end - begin if keeps else PIECE)
    memory.madvise(mmap.MADV_HUGEPAGE)  # like the memory of a rank
    with path.open("rb", buffering=0) as file, memoryview(memory) as buffer:
        for offset in range(begin, end, PIECE):
            start = offset - begin if keeps else 0
            os.preadv(file.fileno(), [buffer[start : start + min(PIECE, end - offset)]], offset)


def reading_seconds(path: Path, keeps: bool) -> float:
    forget(path)
    begin = time.monotonic()
    with ThreadPoolExecutor() as readers:
        list(readers.map(lambda rank: read_share(path, rank, keeps), range(WORLD)))
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

    def row(other: str, keeps: bool) -> table.Row:
        measured = turns.take(
            arguments.rounds,
            lambda: loading_seconds(programs, where, weights),
            lambda: reading_seconds(weights, keeps),
            TARGET,
            name="readers",
        )
        gigabytes = weights.stat().st_size / 1e9
        return {"model": MODEL.name, "GB": gigabytes, "ranks": WORLD, "readers fill": other} | measured

    table.report([row("one buffer", keeps=False), row("fresh memory", keeps=True)], arguments.json)


if __name__ == "__main__":
    main()
