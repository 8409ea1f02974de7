"""Rewrites of an exported program before it is saved, so that `meshplan` can read it."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from meshplan.exported_graphs import is_functional, is_under_autocast, stop_gradients

# Size limit for buffers that stay in an archive without weights: the limit for buffers that meshplan reads.
MOST_KEPT_BUFFER = 64 << 20


def readable(program: torch.export.ExportedProgram, decompose: bool = False) -> torch.export.ExportedProgram:
    """The program, decomposed if it writes in place or hides conversions of autocast."""
    if decompose or not is_functional(program) or is_under_autocast(program):
        stop_gradients(program)
        program = program.run_decompositions({})
    return program


def shorten_traces(program: torch.export.ExportedProgram) -> None:
    """Makes source paths start at the package, so that archives do not contain this machine's folders."""
    for module in program.graph_module.modules():
        for node in module.graph.nodes if isinstance(module, torch.fx.GraphModule) else ():
            if trace := node.meta.get("stack_trace"):
                node.meta["stack_trace"] = re.sub(r'(File ")[^"]*/(?:site|dist)-packages/', r"\1", trace)


def drop_weights(program: torch.export.ExportedProgram) -> None:
    """Drops parameters and large buffers. Training that initializes its weights starts from the small buffers."""
    mode = FakeTensorMode()
    for name, tensor in program.state_dict.items():
        is_parameter = isinstance(tensor, torch.nn.Parameter)
        if hasattr(tensor, "fake_mode") or (not is_parameter and tensor.nbytes <= MOST_KEPT_BUFFER):
            continue
        fake = mode.from_tensor(tensor.detach(), static_shapes=True)
        program.state_dict[name] = torch.nn.Parameter(fake, tensor.requires_grad) if is_parameter else fake


@contextlib.contextmanager
def replaced_on_success(path: Path) -> Iterator[Path]:
    """A path beside `path`, or beside the target of a link, which replaces it if the context succeeds."""
    path = path.resolve()
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".export-") as folder:
        # The archive's top folder has the name of the file that is written.
        temporary = Path(folder) / path.name
        yield temporary
        os.replace(temporary, path)


def deflate(path: Path) -> None:
    plain = path.with_name("plain.zip")
    path.rename(plain)
    with zipfile.ZipFile(plain) as source, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as target:
        for name in source.namelist():
            # A fixed date keeps the bytes of equal archives equal.
            target.writestr(zipfile.ZipInfo(name), source.read(name), zipfile.ZIP_DEFLATED)
