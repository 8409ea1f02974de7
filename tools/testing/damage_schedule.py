#!/usr/bin/env python3
"""Writes damaged copies of a schedule: damage_schedule.py PLAN.sched FOLDER

truncated.sched is its first half, text.sched is no schedule, empty.sched has no bytes, changed.sched has zeros in its
middle, version.sched says that it is of another version of the format.
"""

from __future__ import annotations

import struct
import sys
from pathlib import Path


def with_other_version(content: bytes) -> bytes:
    """The root table's first field is the version (runtime/schema/schedule.fbs)."""
    changed = bytearray(content)
    (root,) = struct.unpack_from("<I", content, 0)
    (back,) = struct.unpack_from("<i", content, root)
    (field,) = struct.unpack_from("<H", content, root - back + 4)
    struct.pack_into("<I", changed, root + field, 99)
    return bytes(changed)


def main() -> int:
    source, folder = Path(sys.argv[1]), Path(sys.argv[2])
    content = source.read_bytes()
    middle = len(content) // 2
    damaged = {
        "truncated": content[:middle],
        "text": b"this is no schedule\n",
        "empty": b"",
        "changed": content[:middle] + bytes(4096) + content[middle + 4096 :],
        "version": with_other_version(content),
    }
    for name, damage in damaged.items():
        (folder / f"{name}.sched").write_bytes(damage)
    return 0


if __name__ == "__main__":
    sys.exit(main())
