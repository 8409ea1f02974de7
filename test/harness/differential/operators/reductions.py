"""Steps that read all of a dim: reductions, scans, sorts, softmax, norms, pools."""

from __future__ import annotations

import torch

from harness.differential.choices import Choices
from harness.differential.operators.elementwise import Step, bounded

aten = torch.ops.aten


def apart(x: torch.Tensor, dim: int) -> torch.Tensor:
    """x with no two equal elements along a dim, so that an order of them means something."""
    shape = [1] * x.dim()
    shape[dim] = x.size(dim)
    return bounded(x) + torch.arange(x.size(dim)).view(shape) * 0.0173


def reduction(name: str) -> Step:
    def step(x: torch.Tensor, choices: Choices) -> torch.Tensor:
        operator, dim, keep = getattr(aten, name), choices.dim(x), choices.flag()
        dims = [dim] if choices.flag() or x.dim() < 2 else sorted({dim % x.dim(), choices.dim(x) % x.dim()})
        if choices.pick((False, False, False, True)):
            whole = operator.default(x.square() if name in ("sum", "mean") else x)
            return x * (0.1 * whole if name != "sum" else whole / x.numel())
        if name in ("sum", "mean"):
            reduced = (operator.dim_IntList if name == "sum" else operator.dim)(x, dims, keep)
            return reduced if x.dim() > 1 else x + reduced
        reduced = operator.default(x, dims, keep) if name in ("amax", "amin") else operator.dim(x, dim, keep)[0]
        return reduced if x.dim() > 1 else x - reduced

    return step


def position(name: str) -> Step:
    def step(x: torch.Tensor, choices: Choices) -> torch.Tensor:
        dim = choices.dim(x)
        return getattr(aten, name).default(apart(x, dim), dim, True).to(x.dtype) * 0.1 + x

    return step


def quantifier(name: str) -> Step:
    def step(x: torch.Tensor, choices: Choices) -> torch.Tensor:
        condition, form = x > choices.pick((0.0017, -0.9)), choices.pick(("dim", "default"))
        if form == "default":
            return x + getattr(aten, name).default(condition)
        return x + getattr(aten, name).dim(condition, choices.dim(x), True)

    return step


def scan(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    dim = choices.dim(x)
    if choices.flag() and x.size(dim) > 1:
        return aten.diff.default(x, 1, dim)
    return aten.cumsum.default(x, dim) * 0.3


def order(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    dim, descending = choices.dim(x), choices.flag()
    form = choices.pick(("sort", "stable", "argsort", "positions", "topk"))
    x = apart(x, dim)
    if form == "positions":
        return aten.argsort.stable(x, stable=True, dim=dim, descending=descending).to(x.dtype) * 0.1 + x
    if form == "argsort":
        return aten.argsort.default(x, dim, descending).to(x.dtype) * 0.1 + x
    if form == "topk":
        values, positions = aten.topk.default(x, 1 + choices.number() % x.size(dim), dim, descending)
    elif form == "sort":
        values, positions = aten.sort.default(x, dim, descending)
    else:
        values, positions = aten.sort.stable(x, stable=True, dim=dim, descending=descending)
    return values + 0.1 * positions.to(x.dtype) if choices.flag() else values


def histogram(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    bounds = choices.pick(((-1.03, 1.07), (0.0, 0.0)))
    return aten.histc.default(x, 8, *bounds) / x.numel()


def softmax(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    dim, logarithm, native = choices.dim(x), choices.flag(), choices.flag()
    if choices.pick((False, False, False, True)):
        return aten._safe_softmax.default(x, dim)
    if native:
        return (aten._log_softmax if logarithm else aten._softmax).default(x, dim, False)
    return (aten.log_softmax if logarithm else aten.softmax).int(x, dim)


def norm(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    """Norms without weights over the last dims, or of a batch over all but dim 1; a ramp keeps rows of equal elements
    from being nothing but errors."""
    count = 2 if x.dim() > 2 and choices.flag() else 1
    shape = list(x.shape[-count:])
    form = choices.pick(("layer", "rms", "native_layer", "native_rms", "written", "batch"))
    ramp = torch.arange(x.size(-1)) * 0.0731
    x = bounded(x) + ramp
    if form == "batch" and x.dim() > 2:
        return aten.batch_norm.default(x, None, None, None, None, True, 0.1, 1e-2, False)
    if form == "layer":
        return aten.layer_norm.default(x, shape)
    if form == "native_layer":
        return aten.native_layer_norm.default(x, shape, None, None, 1e-3)[0]
    if form == "rms":
        return aten.rms_norm.default(x, shape, None, 1e-3)
    if form == "native_rms":
        return aten._fused_rms_norm.default(x, shape, None, 1e-3)[0]
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-3)


def pool(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    """Pools over lines, images and volumes, which have a dim of channels: what windows cut is refused if divided."""
    count = x.dim() - 2
    if count not in (1, 2, 3):
        return x
    form = choices.pick(("max", "average", "adaptive", "indices"))
    sizes = x.shape[-count:]
    kernel = [min(choices.pick((2, 3)), size) for size in sizes]
    stride = choices.pick((kernel, [1] * count, [2] * count))
    padding = [choices.flag() * (size // 2) for size in kernel]
    if form == "adaptive" and count < 3:
        wanted = [choices.divisor(size) if choices.flag() else min(2, size) for size in sizes]
        return (
            aten.adaptive_avg_pool1d.default,
            choices.pick((aten.adaptive_avg_pool2d.default, aten._adaptive_avg_pool2d.default)),
        )[count - 1](x, wanted)
    if form == "average" and count == 3 and x.dtype == torch.bfloat16:
        return x  # PyTorch has no kernel for it
    if form == "indices":
        return getattr(aten, f"max_pool{count}d_with_indices").default(x, kernel, stride, padding)[0]
    name = f"{'avg' if form == 'average' else 'max'}_pool{count}d"
    return getattr(aten, name).default(x, kernel, stride, padding)


STEPS: dict[str, Step] = {
    **{name: reduction(name) for name in ("sum", "mean", "amax", "amin")},
    **{f"{name}_position": reduction(name) for name in ("max", "min")},
    **{name: position(name) for name in ("argmax", "argmin")},
    **{name: quantifier(name) for name in ("any", "all")},
    "scan": scan,
    "order": order,
    "histogram": histogram,
    "softmax": softmax,
    "norm": norm,
    "pool": pool,
}
