"""Writes damaged copies of an exported model: harness damage_archive MODEL.pt2 FOLDER

truncated.pt2 is its first half, text.pt2 is not a zip archive, version.pt2 says that it is of another version,
operator.pt2 has an operator of another library in place of one of PyTorch, input.pt2 lacks its last input
specification, argument.pt2 has a node without the tensor that it slices, derived.pt2 has twice as many labels as
inputs.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any


def copy_archive(source: Path, target: Path, change: Callable[[str, bytes], bytes]) -> None:
    """Copies an archive with what `change` makes of the content of each member."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            new.writestr(name, change(name, old.read(name)))


def change_model(source: Path, target: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Copies an archive, its graph_module changed."""

    def changed(name: str, content: bytes) -> bytes:
        if not name.endswith("/models/model.json"):
            return content
        document = json.loads(content)
        change(document["graph_module"])
        return json.dumps(document).encode()

    copy_archive(source, target, changed)


def drop_input(module: dict[str, Any]) -> None:
    del module["signature"]["input_specs"][-1]


def double_labels(module: dict[str, Any]) -> None:
    values = module["graph"]["tensor_values"]
    symbol = values["input_ids"]["sizes"][0]["as_expr"]["expr_str"]
    values["labels"]["sizes"][0] = {"as_expr": {"expr_str": f"Mul(Integer(2), {symbol})", "hint": None}}


def drop_sliced(module: dict[str, Any]) -> None:
    node = next(node for node in module["graph"]["nodes"] if node["target"] == "torch.ops.aten.slice.Tensor")
    node["inputs"][0]["arg"] = {"as_none": True}


def main(words: Sequence[str]) -> int:
    source, folder = Path(words[0]), Path(words[1])
    content = source.read_bytes()
    (folder / "truncated.pt2").write_bytes(content[: len(content) // 2])
    (folder / "text.pt2").write_text("this is not a model\n")
    copy_archive(source, folder / "version.pt2", lambda name, old: b"99" if name.endswith("/archive_version") else old)
    silu = b"torch.ops.%s.silu.default"
    copy_archive(source, folder / "operator.pt2", lambda _, old: old.replace(silu % b"aten", silu % b"elsewhere"))
    change_model(source, folder / "input.pt2", drop_input)
    change_model(source, folder / "argument.pt2", drop_sliced)
    change_model(source, folder / "derived.pt2", double_labels)
    return 0
