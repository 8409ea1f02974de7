"""meshplan.export."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


def is_hugging_face(module: torch.nn.Module) -> bool:
    transformers = sys.modules.get("transformers")
    return transformers is not None and isinstance(module, transformers.PreTrainedModel)


@contextlib.contextmanager
def exportable(module: torch.nn.Module) -> Iterator[None]:
    """In this context models of Hugging Face, also inside another module, return plain dicts and use no key-value
    cache.
    """
    configs = [inner.config.get_text_config() for inner in module.modules() if is_hugging_face(inner)]
    if not configs:
        yield
        return
    from meshplan.plain_outputs import plain_forward

    cached = [(config, getattr(config, "use_cache", False)) for config in configs]
    for config in configs:
        config.use_cache = False
    try:
        with plain_forward(module, {}):
            yield
    finally:
        for config, value in reversed(cached):
            config.use_cache = value


def archive_path(path: str | os.PathLike[str]) -> Path:
    """Checked before the export, which takes long."""
    result = Path(path)
    if result.suffix != ".pt2":
        raise ValueError(f"the name of an archive ends with .pt2, and this one is '{os.fspath(path)}'")
    if not result.parent.is_dir():
        raise FileNotFoundError(f"no such folder: {result.parent}")
    return result


def export(
    module: torch.nn.Module,
    inputs: Mapping[str, object] | Sequence[object],
    path: str | os.PathLike[str],
    *,
    dynamic_shapes: Mapping[str, object] | Sequence[object] | None = None,
    weights: bool = True,
) -> Path:
    """Writes `module` as an archive that a plan can name, and returns its path.

    `inputs` are example arguments of `forward`: a dict by name, or a sequence by position. Values that are not tensors
    become part of the program. `dynamic_shapes` is that of torch.export.export: dims whose sizes the plan sets. The
    mode of the module is kept: after `module.train()` dropout is active. `weights=False` leaves out parameters and
    large buffers, which `--weights` of meshplan-run must then supply. `path` ends with .pt2; an existing file is
    replaced only on success.
    """
    import torch

    from meshplan.archives import drop_weights, readable, replaced_on_success, shorten_traces

    path = archive_path(path)
    if not isinstance(module, torch.nn.Module):
        raise TypeError(f"module is a torch.nn.Module, and this is {module!r}")
    if isinstance(inputs, torch.Tensor):
        raise TypeError("inputs are a dict or a sequence, and this is a tensor: write (tensor,) for one argument")
    module = getattr(module, "_orig_mod", module)  # of torch.compile
    by_name = isinstance(inputs, Mapping)
    arguments, keywords = ((), dict(inputs)) if by_name else (tuple(inputs), None)
    with exportable(module):
        program = torch.export.export(module, arguments, keywords, dynamic_shapes=dynamic_shapes, strict=False)
    program = readable(program)
    shorten_traces(program)
    if not weights:
        drop_weights(program)
    extra_files = None
    if is_hugging_face(module):
        from meshplan.parallel_plan import extra_files as files_of

        extra_files = files_of(module)
    with replaced_on_success(path) as temporary:
        torch.export.save(program, temporary, extra_files=extra_files)
    return path
