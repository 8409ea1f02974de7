"""Steps that look up, make or convert tensors, and products of a tensor with itself."""

from __future__ import annotations

import torch

from harness.differential.choices import Choices
from harness.differential.operators.elementwise import Step, bounded, part
from harness.differential.operators.shapes import MOST_ELEMENTS

aten = torch.ops.aten


def positions(size: int, count: int, choices: Choices) -> torch.Tensor:
    """Numbers of rows below size, some of them twice."""
    return torch.arange(count) * choices.pick((1, 3, 5)) % size


def bag(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    """Three bags of rows of a table, of one size or of several."""
    if x.dim() < 2:
        return x
    table, offsets = x.flatten(0, -2), torch.arange(0, 6, 2) if choices.flag() else torch.arange(3) ** 2
    indices, mode = positions(table.size(0), 6, choices), choices.pick((0, 1))
    if choices.flag():
        return aten.embedding_bag.padding_idx(table, indices, offsets, False, mode, False, None, False, 0)[0]
    return aten.embedding_bag.default(table, indices, offsets, False, mode)[0]


def look_up(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    dim = choices.dim(x) % x.dim()
    size = x.size(dim)
    count = 1 + choices.number() % size
    rows = positions(size, count, choices)
    form = choices.pick(("index_select", "gather", "index", "two", "put", "bag"))
    if form == "bag":
        return bag(x, choices)
    if form == "index_select":
        return aten.index_select.default(x, dim, rows)
    if form == "gather":
        sizes = [*x.shape[:dim], count, *x.shape[dim + 1 :]]
        shape = [1] * x.dim()
        shape[dim] = count
        return aten.gather.default(x, dim, rows.view(shape).expand(sizes))
    indices: list[torch.Tensor | None] = [None] * dim + [rows]
    if form == "put":
        values = part(x, dim, 0, count).cos()
        unique = [None] * dim + [torch.arange(count)]
        return aten.index_put.default(x, unique, values)
    if form == "two" and dim + 1 < x.dim():
        return aten.index.Tensor(x, [*indices, positions(x.size(dim + 1), count, choices)])
    if form == "two":
        rows = torch.stack([rows, rows.flip(0)])
        return aten.index.Tensor(x, [None] * dim + [rows]) if 2 * x.numel() < MOST_ELEMENTS and x.dim() < 5 else x
    return aten.index.Tensor(x, indices)


def made(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    """Adds a tensor that does not depend on x but for its shape."""
    shape = list(x.shape)
    form = choices.pick(("zeros", "ones", "full", "empty", "arange", "scalar", "fill", "fill_tensor"))
    origin = choices.pick(("size", "like", "new"))
    if form in ("zeros", "ones", "empty"):
        make = {
            "size": aten.empty.memory_format if form == "empty" else getattr(aten, form).default,
            "like": getattr(aten, f"{form}_like").default,
            "new": getattr(aten, f"new_{form}").default,
        }[origin]
        tensor = make(shape) if origin == "size" else make(x) if origin == "like" else make(x, shape)
        return x + (aten.fill.Scalar(tensor, 0.5) if form == "empty" else tensor)
    if form == "full":
        tensors = {
            "size": lambda: aten.full.default(shape, 0.3),
            "like": lambda: aten.full_like.default(x, 0.3),
            "new": lambda: aten.new_full.default(x, shape, 0.3),
        }
        return x - tensors[origin]()
    if form == "arange":
        size = x.size(-1)
        counts = {
            "size": lambda: aten.arange.default(size),
            "like": lambda: aten.arange.start(2, size + 2),
            "new": lambda: aten.arange.start_step(1, 2 * size + 1, 2),
        }
        return x + 0.1 * counts[origin]()
    if form == "scalar":
        return x * aten.scalar_tensor.default(0.7)
    if form == "fill":
        return x + aten.fill.Scalar(x, 0.25)
    return x + aten.fill.Tensor(x, x.sum() * 0.01)


def converted(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    forms = {
        "to": lambda: x.to(torch.float64).cos().to(x.dtype),
        "layout": lambda: aten.to.dtype_layout(x, dtype=torch.float64, layout=torch.strided).cos().to(x.dtype),
        "device": lambda: aten.to.device(x, torch.device("cpu"), torch.float64).cos().to(x.dtype),
        "type_as": lambda: aten.type_as.default((x > 0.019).long() * 3, x) + x,
        "other": lambda: aten.to.other((x > 0.019).int() * 2, x) + x,
        "contiguous": lambda: aten.contiguous.default(x),
        "copy": lambda: aten._to_copy.default(x, dtype=torch.float64).sin().to(x.dtype),
        "clone": lambda: aten.clone.default(x),
        "lift": lambda: aten.lift_fresh_copy.default(x),
        "alias": lambda: aten.alias.default(x),
        "detach": lambda: aten.detach.default(x),
        "copied": lambda: aten.copy.default(torch.zeros_like(x), x),
        "dropout": lambda: aten.dropout.default(x, 0.3, False),
    }
    return forms[choices.pick(tuple(forms))]()


def product(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    """The product of a tensor with itself turned, over the last dim or the one before, by every operator."""
    if x.dim() < 2 or x.numel() > 4096:
        return x
    x = bounded(x) * 0.5
    left, right = x, x.cos().transpose(-1, -2)
    if choices.flag():
        left, right = right, left
    form = choices.pick(("matmul", "mm", "bmm", "einsum", "baddbmm", "addmm", "vector", "ellipsis"))
    if x.dim() == 3 and form in ("bmm", "baddbmm"):
        if form == "bmm":
            return aten.bmm.default(left, right)
        addend = left[:, :, :1].expand(-1, -1, right.size(2))
        return aten.baddbmm.default(addend, left, right, beta=choices.pick((1, 0.5)), alpha=choices.pick((1, 0.25)))
    if x.dim() == 2 and form in ("mm", "addmm"):
        return aten.mm.default(left, right) if form == "mm" else aten.addmm.default(right.new_ones(1), left, right)
    if form == "vector":
        return (
            aten.matmul.default(left, right.flatten(0, -2)[:, 0])
            if right.size(-2) == left.size(-1) == right[..., 0].numel()
            else aten.matmul.default(left, right)
        )
    if form == "ellipsis":
        return torch.einsum("...ij,...jk->...ki", left, right)
    if form == "einsum" and x.dim() == 3:
        return torch.einsum(choices.pick(("bij,bjk->bik", "bij,ajk->baik", "bij,bjk->ik")), left, right) * 0.2
    return aten.matmul.default(left, right)


STEPS: dict[str, Step] = {"look_up": look_up, "made": made, "converted": converted, "product": product}
