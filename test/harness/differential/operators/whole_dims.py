"""Steps that turn, write, reduce or compare the elements of a dim by operators that need all of it."""

from __future__ import annotations

from collections.abc import Callable

import torch

from harness.differential.choices import Choices
from harness.differential.operators.elementwise import Step, bounded
from harness.differential.operators.reductions import apart
from harness.differential.operators.shapes import MOST_DIMS, MOST_ELEMENTS

aten = torch.ops.aten


def turned(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    dim, other = choices.dim(x), choices.dim(x)
    forms: dict[str, Callable[[], torch.Tensor]] = {
        "flip": lambda: aten.flip.default(x, [dim]),
        "roll": lambda: aten.roll.default(x, [1], [dim]),
        "roll_two": lambda: aten.roll.default(x, [1, 2], [dim, other]),
        "rot90": lambda: aten.rot90.default(x, 1, [0, 1]) if x.dim() > 1 else x,
        "tril": lambda: aten.tril.default(x) if x.dim() > 1 else x,
        "triu": lambda: aten.triu.default(x, -1) if x.dim() > 1 else x,
        "glu": lambda: aten.glu.default(x, dim) if x.size(dim) % 2 == 0 else x,
        "unfold": lambda: aten.unfold.default(x, dim, 2, 1) if x.size(dim) > 1 and x.dim() < MOST_DIMS else x,
        "diagonal": lambda: aten.diagonal.default(x, 0, 0, x.dim() - 1) if x.dim() > 2 else x,
        "diag_embed": lambda: (
            aten.diag_embed.default(x, 0, 0, x.dim())
            if x.dim() < MOST_DIMS and x.numel() * x.size(-1) <= MOST_ELEMENTS
            else x
        ),
    }
    return forms[choices.pick(tuple(forms))]()


def written(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    """Elements along a dim replaced or added to."""
    dim = choices.dim(x) % x.dim()
    size = x.size(dim)
    count = 1 + choices.number() % size
    position, source = torch.arange(count), aten.slice.Tensor(x, dim, 0, count).cos()
    shape = [1] * x.dim()
    shape[dim] = count
    index = position.view(shape).expand(source.shape)
    forms: dict[str, Callable[[], torch.Tensor]] = {
        "scatter": lambda: aten.scatter.src(x, dim, index, source),
        "scatter_value": lambda: aten.scatter.value(x, dim, index, 0.3),
        "scatter_add": lambda: aten.scatter_add.default(x, dim, index // 2, source),
        "scatter_reduce": lambda: aten.scatter_reduce.two(x, dim, index, source, "amax"),
        "index_add": lambda: aten.index_add.default(x, dim, position // 2, source),
        "index_copy": lambda: aten.index_copy.default(x, dim, position, source),
        "scatter_added": lambda: x + aten.scatter.reduce(x.detach(), dim, index // 2, source.detach(), reduce="add"),
        "scatter_scaled": lambda: x + aten.scatter.value_reduce(x.detach(), dim, index, 0.7, reduce="multiply"),
        "index_fill_tensor": lambda: aten.index_fill.int_Tensor(x, dim, position, x.mean()),
        "searchsorted": lambda: aten.searchsorted.Tensor((torch.arange(3) * 0.613 - 0.513).to(x.dtype), x) + x,
        "index_fill": lambda: aten.index_fill.int_Scalar(x, dim, position, 0.3),
        "take_along": lambda: aten.take_along_dim.default(x, position.view(shape), dim),
        "bucketize": lambda: aten.bucketize.Tensor(x, torch.arange(3) * 0.613 - 0.513).to(x.dtype) + x,
        "one_hot": lambda: (
            aten.one_hot.default(aten.argmax.default(apart(x, dim), dim), size).to(x.dtype)
            if x.dim() > 1 and size > 1
            else x
        ),
    }
    return forms[choices.pick(tuple(forms))]()


def with_majority(x: torch.Tensor, dim: int) -> torch.Tensor:
    """x with its first element in more than half of the positions along a dim."""
    shape = [1] * x.dim()
    shape[dim] = size = x.size(dim)
    return torch.where(torch.arange(size).view(shape) <= size // 2, aten.slice.Tensor(x, dim, 0, 1), x)


def reduced(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    """Reductions and scans of one dim beside sums, means and extrema."""
    dim = choices.dim(x)
    ramp = apart(x, dim % x.dim())
    correction = choices.pick((0, 1)) if x.size(dim) > 1 else 0
    forms: dict[str, Callable[[], torch.Tensor]] = {
        "std": lambda: aten.std.correction(ramp, [dim], correction=correction, keepdim=True),
        "var": lambda: aten.var.correction(ramp, [dim], correction=correction, keepdim=True),
        "std_mean": lambda: sum(aten.std_mean.correction(ramp, [dim], correction=correction, keepdim=True)),
        "var_mean": lambda: sum(aten.var_mean.correction(ramp, [dim], correction=correction, keepdim=True)),
        "logsumexp": lambda: aten.logsumexp.default(bounded(x), [dim], True),
        "vector_norm": lambda: aten.linalg_vector_norm.default(ramp, choices.pick((2, 1, 3)), [dim], True),
        "linalg_norm": lambda: aten.linalg_norm.default(ramp, None, [dim], True),
        "norm": lambda: aten.norm.ScalarOpt_dim(ramp, 2, [dim], True),
        "prod": lambda: aten.prod.dim_int(x.cos(), dim, True),
        "nansum": lambda: aten.nansum.default(x, [dim], True),
        "median": lambda: aten.median.dim(ramp, dim, True)[0],
        "kthvalue": lambda: aten.kthvalue.default(ramp, 1, dim, True)[0],
        "mode": lambda: aten.mode.default(
            with_majority(ramp, dim % x.dim()) if choices.distinct else bounded(x).round(), dim, True
        )[0],
        "aminmax": lambda: aten.aminmax.default(x, dim=dim, keepdim=True)[0],
        "count": lambda: aten.count_nonzero.default(x > 0.213, dim).to(x.dtype).unsqueeze(dim),
        "counts": lambda: aten.count_nonzero.dim_IntList(x > 0.213, [dim]).to(x.dtype).unsqueeze(dim),
        "any": lambda: aten.any.dims(x > 0.713, [dim], True),
        "all": lambda: aten.all.dims(x > -0.713, [dim], True),
        "cumprod": lambda: aten.cumprod.default(x.cos(), dim),
        "cummax": lambda: aten.cummax.default(x, dim)[0],
        "cummin": lambda: aten.cummin.default(x, dim)[0],
        "logcumsumexp": lambda: aten.logcumsumexp.default(bounded(x), dim),
    }
    return bounded(x) + 0.3 * forms[choices.pick(tuple(forms))]()


def compared(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    """Products, angles and distances of vectors."""
    x = bounded(x) + 0.0137 * torch.arange(x.size(-1))
    if x.dim() < 2 or x.size(-1) * x.numel() > MOST_ELEMENTS:
        return x
    matrix = x.flatten(0, -2)
    vector, column = matrix[0], matrix.mean(-1)
    forms: dict[str, Callable[[], torch.Tensor]] = {
        "cosine": lambda: aten.cosine_similarity.default(x, x.cos(), -1).unsqueeze(-1) * x,
        "pairwise": lambda: aten.pairwise_distance.default(x, x.cos(), 2.0, 1e-6, True) * x,
        "cdist": lambda: aten.cdist.default(x.float(), x.cos().float()).to(x.dtype),
        "mv": lambda: aten.mv.default(matrix, vector) * 0.3,
        "addmv": lambda: aten.addmv.default(column, matrix, vector, beta=0.5) * 0.3,
        "addmv_features": lambda: aten.addmv.default(vector, matrix.t(), column, beta=0.5) * 0.3,
        "dot": lambda: x * aten.dot.default(vector, vector.cos()) * 0.3,
        "vdot": lambda: x * aten.vdot.default(vector, vector.cos()) * 0.3,
        "outer": lambda: aten.outer.default(vector, column),
        "inner": lambda: aten.inner.default(x, matrix[:4]) * 0.3,
    }
    return forms[choices.pick(tuple(forms))]()


STEPS: dict[str, Step] = {"turned": turned, "written": written, "reduced": reduced, "compared": compared}
FORMS = {"turned": 40, "written": 22, "reduced": 34, "compared": 27}
