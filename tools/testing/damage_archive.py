#!/usr/bin/env python3
"""Writes damaged copies of an exported model: damage_archive.py MODEL.pt2 FOLDER

truncated.pt2 is its first half, text.pt2 is no zip archive, version.pt2 says that it is of another version,
operator.pt2 has an operator of another library in place of one of PyTorch.
"""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path


def main() -> int:
    source, folder = Path(sys.argv[1]), Path(sys.argv[2])
    content = source.read_bytes()
    (folder / "truncated.pt2").write_bytes(content[: len(content) // 2])
    (folder / "text.pt2").write_text("this is no model\n")
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(folder / "version.pt2", "w") as new:
        for name in old.namelist():
            new.writestr(name, b"99" if name.endswith("/archive_version") else old.read(name))
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(folder / "operator.pt2", "w") as new:
        for name in old.namelist():
            new.writestr(
                name, old.read(name).replace(b"torch.ops.aten.silu.default", b"torch.ops.elsewhere.silu.default")
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
