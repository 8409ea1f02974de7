"""Writes damaged copies of a schedule: harness damage_schedule PLAN.sched FOLDER

truncated.sched is its first half, text.sched is not a schedule, empty.sched has no bytes, changed.sched has zeros in
its middle, flipped-0.sched to flipped-2.sched have one bit changed: near the begin, in the middle, in the last byte.
version.sched is as format 1 was.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

CHECKSUM_BYTES = 8
FLIPPED = 3


def as_format_1(content: bytes) -> bytes:
    """With the identifier of that format (runtime/artifact/artifact.cpp), and without the checksum."""
    return content[:4] + b"MPSC" + content[8:-CHECKSUM_BYTES]


def with_flipped_bit(content: bytes, number: int) -> bytes:
    """A bit after the identifier (bytes 4 to 7), the first case takes the first bit and the last case the last."""
    first = 8
    offset = first + (len(content) - 1 - first) * number // (FLIPPED - 1)
    changed = bytearray(content)
    changed[offset] ^= 1 << number % 8
    return bytes(changed)


def main(words: Sequence[str]) -> int:
    source, folder = Path(words[0]), Path(words[1])
    content = source.read_bytes()
    middle = len(content) // 2
    damaged = {
        "truncated": content[:middle],
        "text": b"this is not a schedule\n",
        "empty": b"",
        "changed": content[:middle] + bytes(4096) + content[middle + 4096 :],
        "version": as_format_1(content),
    }
    damaged |= {f"flipped-{number}": with_flipped_bit(content, number) for number in range(FLIPPED)}
    for name, damage in damaged.items():
        (folder / f"{name}.sched").write_bytes(damage)
    return 0
