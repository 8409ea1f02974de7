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


@contextlib.contextmanager
def exportable(module: torch.nn.Module) -> Iterator[None]:
    """A model of Hugging Face gives a plain dict, without the cache of a generation, while in this context."""
    transformers = sys.modules.get("transformers")
    if transformers is None or not isinstance(module, transformers.PreTrainedModel):
        yield
        return
    from meshplan.plain_outputs import plain_forward

    config = module.config.get_text_config()
    cached, config.use_cache = getattr(config, "use_cache", False), False
    try:
        with plain_forward(module, {}):
            yield
    finally:
        config.use_cache = cached


def export(
    module: torch.nn.Module,
    inputs: Mapping[str, object] | Sequence[object],
    path: str | os.PathLike[str],
    *,
    dynamic_shapes: Mapping[str, object] | Sequence[object] | None = None,
    weights: bool = True,
) -> Path:
    """Writes `module` as an archive that a plan can name, and returns its path.

    `inputs` are examples of what `forward` takes: a dict by name, or a sequence by position. Values that are no tensors
    become part of the program. `dynamic_shapes` is that of torch.export.export: dims that a plan gives their sizes. The
    mode of the module is kept: after `module.train()` dropout is active. `weights=False` leaves parameters and large
    buffers out, which the `--weights` of meshplan-run then has. A file at `path` is replaced when nothing has failed.
    """
    import torch

    from meshplan.archives import drop_weights, readable, replaced_on_success, shorten_traces

    path = Path(path)
    by_name = isinstance(inputs, Mapping)
    arguments, keywords = ((), dict(inputs)) if by_name else (tuple(inputs), None)
    with exportable(module):
        program = torch.export.export(module, arguments, keywords, dynamic_shapes=dynamic_shapes, strict=False)
    program = readable(program)
    shorten_traces(program)
    if not weights:
        drop_weights(program)
    with replaced_on_success(path) as temporary:
        torch.export.save(program, temporary)
    return path
