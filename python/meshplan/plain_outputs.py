"""Turns outputs of Hugging Face's classes into dicts."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping

import torch


def plain(value: object) -> object:
    """Output classes as dicts of their items, recursively."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items() if item is not None}
    if isinstance(value, (tuple, list)):
        return type(value)(plain(item) for item in value)
    return value


@contextlib.contextmanager
def plain_forward(model: torch.nn.Module, constants: Mapping[str, object]) -> Iterator[None]:
    """Makes forward() return a plain dict, and binds arguments that are not tensors.

    Archives with Hugging Face's output classes load only where those classes are registered. A
    wrapping module would change every module path, so the method is replaced instead.
    """
    original: Callable[..., object] = model.forward
    given = vars(model).get("forward")  # an attribute of the object: the method has been replaced before

    @functools.wraps(original)
    def forward(*positional: object, **keywords: object) -> object:
        return plain(original(*positional, **keywords, **constants))

    model.forward = forward  # type: ignore[method-assign]
    try:
        yield
    finally:
        del model.forward
        if given is not None:
            model.forward = given  # type: ignore[method-assign]
