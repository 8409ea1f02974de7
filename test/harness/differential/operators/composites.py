"""Steps by operators that are several others, and by other names of them, which the importer takes apart."""

from __future__ import annotations

from collections.abc import Callable

import torch

from harness.differential.choices import Choices
from harness.differential.operators.elementwise import Step, bounded, positive
from harness.differential.operators.shapes import MOST_DIMS, MOST_ELEMENTS

aten = torch.ops.aten


def stacked(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    """Joins of tensors of up to three dims, and grids and blocks of them."""
    other = x.cos()
    rows = x.flatten(0, -2) if x.dim() > 1 else x
    row = rows[..., 0].flatten()[:8]
    forms: dict[str, Callable[[], torch.Tensor]] = {
        **{name: lambda name=name: getattr(aten, name).default([x, other]) for name in ("hstack", "vstack", "dstack")},
        "row_stack": lambda: torch.row_stack([x, other]),
        "column_stack": lambda: aten.column_stack.default([rows, rows[..., 0] if rows.dim() > 1 else rows]),
        "block_diag": lambda: aten.block_diag.default([rows[:6, :8] if rows.dim() > 1 else rows[:8], row]),
        "grid": lambda: sum(aten.meshgrid.default([row, row.sin()])),
        "grid_columns": lambda: sum(aten.meshgrid.indexing([row, row.sin(), row.cos()[:3]], indexing="xy")),
        "kron": lambda: aten.kron.default(x.contiguous(), torch.tensor([0.7, -0.3]).to(x.dtype)),
        "kron_of": lambda: aten.kron.default(torch.tensor([[0.7, -0.3]]).to(x.dtype), x.contiguous()),
    }
    return forms[choices.pick(tuple(forms))]() if 3 * x.numel() <= MOST_ELEMENTS else x


def named(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    """Copies of views, pieces by direction, diagonals, and dims that are added where there are too few."""
    dim = choices.dim(x) % x.dim()
    size = x.size(dim)
    forms: dict[str, Callable[[], torch.Tensor]] = {
        "transpose_copy": lambda: aten.transpose_copy.int(x, dim, 0),
        "permute_copy": lambda: aten.permute_copy.default(x, list(reversed(range(x.dim())))),
        "slice_copy": lambda: aten.slice_copy.Tensor(x, dim, size // 3, size),
        "select_copy": lambda: aten.select_copy.int(x, dim, size - 1) if x.dim() > 1 else x,
        "unsqueeze_copy": lambda: aten.unsqueeze_copy.default(x, dim) if x.dim() < MOST_DIMS else x,
        "squeeze_copy": lambda: aten.squeeze_copy.default(x),
        "view_copy": lambda: aten.view_copy.default(x.contiguous(), list(x.shape)),
        "expand_copy": lambda: aten.expand_copy.default(x, [2, *x.shape]) if x.dim() < MOST_DIMS else x,
        "unbind_copy": lambda: aten.unbind_copy.int(x, dim)[0] if x.dim() > 1 else x,
        "alias_copy": lambda: aten.alias_copy.default(x),
        "hsplit": lambda: aten.hsplit.int(x, 1)[0],
        "vsplit": lambda: aten.vsplit.array(x, [x.size(0) // 2])[-1] if x.dim() > 1 else x,
        "dsplit": lambda: aten.dsplit.array(x, [x.size(2) // 2])[-1] if x.dim() > 2 else x,
        "atleast_2d": lambda: aten.atleast_2d.default(x),
        "atleast_3d": lambda: aten.atleast_3d.default(x),
        "diag": lambda: aten.diag.default(x.flatten(0, -2)) if x.dim() > 1 else x,
        "diagflat": lambda: aten.diagflat.default(x[..., :4]) if 16 * x.numel() < MOST_ELEMENTS and x.dim() < 3 else x,
        "real": lambda: aten.resolve_neg.default(aten.resolve_conj.default(aten.real.default(x))),
    }
    return forms[choices.pick(tuple(forms))]()


def contracted(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    """Sums over dims of two tensors or more, and functions of a weight."""
    x = bounded(x) * 0.3 + 0.0137 * torch.arange(x.size(-1))
    if x.dim() < 2 or x.size(-1) * x.numel() > MOST_ELEMENTS:
        return x
    dim = choices.dim(x) % x.dim()
    matrix, last = x.flatten(0, -2), x.dim() - 1
    forms: dict[str, Callable[[], torch.Tensor]] = {
        "vecdot": lambda: aten.linalg_vecdot.default(x, x.cos(), dim=dim),
        "tensordot": lambda: aten.tensordot.default(x, matrix.cos(), [last], [1]),
        "tensordot_two": lambda: aten.tensordot.default(x, x.cos(), [0, last], [0, last]),
        "addr": lambda: aten.addr.default(matrix, matrix[:, 0], matrix[0], beta=0.5, alpha=2.0),
        "addr_alone": lambda: aten.addr.default(matrix, matrix[:, 0], matrix[0], beta=0.0),
        "addbmm": lambda: aten.addbmm.default(matrix[:1], matrix[None], matrix.t().cos()[None] @ matrix, beta=0.5),
        "multi_dot": lambda: aten.linalg_multi_dot.default([matrix, matrix.t().cos(), matrix.sin()]),
        "float_power": lambda: aten.float_power.Tensor_Scalar(positive(x), 1.5).to(x.dtype),
        "float_power_of": lambda: aten.float_power.Tensor_Tensor(positive(x), x).to(x.dtype),
        "weight_norm": lambda: aten._weight_norm.default(matrix, positive(matrix[:, :1]), 0),
        "weight_norm_last": lambda: aten._weight_norm.default(matrix, positive(matrix[:1]), 1),
    }
    return forms[choices.pick(tuple(forms))]()


STEPS: dict[str, Step] = {"stacked": stacked, "named": named, "contracted": contracted}
FORMS = {"stacked": 10, "named": 18, "contracted": 11}
