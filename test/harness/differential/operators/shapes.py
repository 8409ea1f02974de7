"""Steps that move elements: orders of dims, reshapes, parts, joins, pads."""

from __future__ import annotations

import torch

from harness.differential.choices import Choices
from harness.differential.operators.elementwise import Step, bounded, part

aten = torch.ops.aten
MOST_ELEMENTS = 20000
MOST_DIMS = 5


def transpose(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    return aten.transpose.int(x, choices.dim(x), choices.dim(x))


def permute(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    dims = list(range(x.dim()))
    order = [dims.pop(choices.number() % len(dims)) for _ in range(x.dim())]
    return aten.permute.default(x, order)


def turn(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    return choices.pick((aten.t.default, aten.numpy_T.default))(x) if x.dim() == 2 else aten.numpy_T.default(x)


def unsqueeze(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    return aten.unsqueeze.default(x, choices.dim(x)) if x.dim() < MOST_DIMS else x


def squeeze(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    form = choices.pick(("all", "dim", "dims"))
    if form == "all":
        return aten.squeeze.default(x)
    if form == "dim":
        return aten.squeeze.dim(x, choices.dim(x))
    return aten.squeeze.dims(x, sorted({0, x.dim() - 1}))


def view(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    """Merges a dim with the next one, or splits it, by every name that this has."""
    dim, divisor, split = choices.dim(x) % x.dim(), 1, choices.flag()
    if split and x.dim() < MOST_DIMS:
        divisor = choices.divisor(x.size(dim))
        shape = [*x.shape[:dim], divisor, x.size(dim) // divisor, *x.shape[dim + 1 :]]
    elif dim + 1 < x.dim():
        shape = [*x.shape[:dim], x.size(dim) * x.size(dim + 1), *x.shape[dim + 2 :]]
    else:
        shape = list(x.shape)
    form = choices.pick(("reshape", "view", "unsafe_view", "flatten"))
    if form == "view":
        return aten.view.default(x.contiguous(), shape)
    if form == "unsafe_view":
        return aten._unsafe_view.default(x.contiguous(), shape)
    if form == "flatten" and len(shape) < x.dim():
        return aten.flatten.using_ints(x, dim, dim + 1)
    if form == "flatten" and len(shape) > x.dim():
        return aten.unflatten.int(x, dim, [divisor, -1])
    return aten.reshape.default(x, shape)


def expand(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    count = choices.pick((2, 3))
    if x.dim() == MOST_DIMS or x.numel() * count > MOST_ELEMENTS:
        return x
    if choices.flag():
        return aten.expand.default(x, [count, *x.shape])
    dim = choices.dim(x) % x.dim()
    sizes = [*x.shape[: dim + 1], count, *x.shape[dim + 1 :]]
    return aten.expand.default(x.unsqueeze(dim + 1), sizes) * choices.pick((1.0, 0.5))


def cut(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    dim = choices.dim(x)
    size = x.size(dim)
    start = choices.number() % size
    end = start + 1 + choices.number() % (size - start)
    return aten.slice.Tensor(x, dim, start, end, choices.pick((1, 1, 1, 2)))


def select(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    dim = choices.dim(x)
    position = choices.number() % x.size(dim)
    return choices.pick((aten.select.int(x, dim, position), aten.unbind.int(x, dim)[position])) if x.dim() > 1 else x


def split(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    """Takes a dim apart, and joins the pieces in another order or sums those of one size."""
    dim = choices.pick((*[min(1, x.dim() - 1)] * 19, choices.dim(x)))
    size = x.size(dim)
    form = choices.pick(("split", "sizes", "chunk", "sections", "positions"))
    if form == "sections":
        return aten.tensor_split.sections(x, min(2, size), dim)[0]
    if form == "positions":
        return aten.tensor_split.indices(x, [size // 2], dim)[-1]
    if form == "sizes":
        first = 1 + choices.number() % size
        pieces = aten.split_with_sizes.default(x, [first, size - first], dim)
    elif form == "chunk":
        pieces = aten.chunk.default(x, choices.divisor(size), dim)
    else:
        pieces = aten.split.Tensor(x, choices.divisor(size), dim)
    even = all(piece.shape == pieces[0].shape for piece in pieces)
    after = choices.pick(("first", "join", "add", "stack") if even else ("first", "join"))
    if after == "first":
        return pieces[0]
    if after == "join":
        return aten.cat.default([piece.neg() for piece in reversed(pieces)], dim)
    if after == "stack" and x.dim() < MOST_DIMS:
        return aten.stack.default(list(pieces), choices.dim(x))
    return sum(pieces[1:], start=pieces[0])


def join(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    if 2 * x.numel() > MOST_ELEMENTS:
        return x
    dim = choices.dim(x)
    form = choices.pick(("cat", "halves", "stack"))
    if form == "stack" and x.dim() < MOST_DIMS:
        return aten.stack.default([x, x.sin()], dim)
    if form == "halves":  # as rotary embeddings
        half = x.size(dim) // 2
        return aten.cat.default([-part(x, dim, half, x.size(dim) - half), part(x, dim, 0, half)], dim)
    return aten.cat.default([x, x.cos()], dim)


def pad(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    dims = choices.pick((1, 1, 2)) if x.dim() > 1 else 1
    widths = [choices.number() % 3 for _ in range(2 * dims)]
    if x.numel() * 4 > MOST_ELEMENTS:
        return x
    if choices.flag():
        return aten.constant_pad_nd.default(x, widths, choices.pick((0.0, 0.3)))
    return aten.pad.default(x, widths, "constant", choices.pick((0.0, -0.7)))


def repeat(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    if 3 * x.numel() > MOST_ELEMENTS:
        return x
    dim, count = choices.dim(x), choices.pick((2, 3))
    if choices.flag():
        return aten.repeat_interleave.self_int(x, count, dim)
    counts = [1] * x.dim()
    counts[dim] = count
    return aten.repeat.default(x, counts)


def scatter(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    dim = choices.dim(x)
    position = choices.number() % x.size(dim)
    if choices.flag() and x.dim() > 1:
        return aten.select_scatter.default(x, x.select(dim, 0).cos(), dim, position)
    return aten.slice_scatter.default(x, bounded(part(x, dim, 0, x.size(dim) - position)).exp(), dim, position)


STEPS: dict[str, Step] = {
    "transpose": transpose,
    "permute": permute,
    "turn": turn,
    "unsqueeze": unsqueeze,
    "squeeze": squeeze,
    "view": view,
    "expand": expand,
    "slice": cut,
    "select": select,
    "split": split,
    "join": join,
    "pad": pad,
    "repeat": repeat,
    "scatter": scatter,
}
