#!/usr/bin/env python3
"""Writes damaged copies of a file into a folder.

damage.py archive  MODEL.pt2 FOLDER             truncated.pt2, text.pt2, version.pt2
damage.py schedule PROGRAM.sched FOLDER         truncated.sched, text.sched, damaged.sched, version.sched
damage.py tensors  TENSORS.safetensors FOLDER NAME
    truncated_, missing_, shape_ and dtype_ before the file's name: cut short, without the tensor NAME, with NAME
    transposed, and with NAME as bytes
"""

from __future__ import annotations

import struct
import sys
import zipfile
from pathlib import Path


def truncate_and_replace(source: Path, folder: Path) -> bytes:
    content = source.read_bytes()
    (folder / f"truncated{source.suffix}").write_bytes(content[: len(content) // 2])
    (folder / f"text{source.suffix}").write_text("neither a model nor a schedule\n")
    return content


def archive(source: Path, folder: Path) -> None:
    truncate_and_replace(source, folder)
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(folder / "version.pt2", "w") as new:
        for name in old.namelist():
            new.writestr(name, b"99" if name.endswith("/archive_version") else old.read(name))


def version_offset(content: bytes) -> int:
    """Where the first field of a FlatBuffers root table lies: the format number."""
    root = struct.unpack_from("<I", content)[0]
    vtable = root - struct.unpack_from("<i", content, root)[0]
    return root + struct.unpack_from("<H", content, vtable + 4)[0]


def schedule(source: Path, folder: Path) -> None:
    content = truncate_and_replace(source, folder)
    damaged = bytearray(content)
    damaged[len(content) // 2] ^= 0xFF
    (folder / "damaged.sched").write_bytes(damaged)
    other = bytearray(content)
    struct.pack_into("<I", other, version_offset(content), 9999)
    (folder / "version.sched").write_bytes(other)


def tensors(source: Path, folder: Path, name: str) -> None:
    import torch
    from safetensors.torch import load_file, save_file

    content = source.read_bytes()
    (folder / f"truncated_{source.name}").write_bytes(content[:-8])
    whole = load_file(source)
    save_file({key: value for key, value in whole.items() if key != name}, folder / f"missing_{source.name}")
    save_file(whole | {name: whole[name].T.contiguous()}, folder / f"shape_{source.name}")
    save_file(whole | {name: whole[name].to(torch.uint8)}, folder / f"dtype_{source.name}")


def main() -> int:
    kind, source, folder = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    {"archive": archive, "schedule": schedule, "tensors": tensors}[kind](source, folder, *sys.argv[4:])
    return 0


if __name__ == "__main__":
    sys.exit(main())
