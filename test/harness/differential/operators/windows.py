"""Steps that pad images, cut them into windows, rearrange their elements or resize them; vectors of three."""

from __future__ import annotations

from collections.abc import Callable

import torch

from harness.differential.choices import Choices
from harness.differential.operators.elementwise import Step, bounded, part
from harness.differential.operators.shapes import MOST_ELEMENTS

aten = torch.ops.aten


def spread(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    """Pads that repeat what lies at the border, in one to three dims."""
    count = min(choices.pick((1, 2, 3)), x.dim() - 1)
    kind = choices.pick(("reflection", "replication"))
    sizes = x.shape[-count:] if count > 0 else ()
    if count < 1 or x.dim() > count + 2 or min(sizes) < 2 or 4 * x.numel() > MOST_ELEMENTS:
        return x
    widths = [choices.pick((1, 0)) for _ in range(2 * count)]
    return getattr(aten, f"{kind}_pad{count}d").default(x, widths)


def as_images(x: torch.Tensor) -> torch.Tensor:
    """x as [_, channels, rows, columns]; merges its dims in the middle, or adds some of one."""
    if x.dim() > 4:
        return x.flatten(1, x.dim() - 3)
    return x[(slice(None),) + (None,) * (4 - x.dim())] if x.dim() > 1 else x[None, None, None]


def dim_shuffled(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    """Elements of channels moved to positions, or back; images of fitting sizes are made of a part of x."""
    x = as_images(x)
    channels, rows, columns = x.shape[1:]
    size = choices.pick((2, 3))
    fitting = x if channels % size**2 == 0 else x[:, :1].expand(-1, size**2, -1, -1)
    wide = x[..., : rows // 2 * 2, : columns // 2 * 2]
    groups = choices.divisor(channels)
    # Of features most other numbers are refused where these are divided.
    sets = choices.pick((1, columns, choices.divisor(columns)))
    windows = [min(2, rows), min(2, columns)]
    stride, padding = choices.pick(([1, 1], windows)), choices.pick(([0, 0], [size // 2 for size in windows]))
    forms: dict[str, Callable[[], torch.Tensor]] = {
        "shuffle": lambda: aten.pixel_shuffle.default(fitting, size),
        "unshuffle": lambda: aten.pixel_unshuffle.default(wide, 2) if wide.numel() else x,
        "channels": lambda: aten.channel_shuffle.default(x, groups),
        "features": lambda: aten.channel_shuffle.default(x.transpose(1, 3), sets).transpose(1, 3),
        "cut": lambda: aten.im2col.default(x, windows, [1, 1], padding, stride),
        "joined": lambda: aten.col2im.default(
            aten.im2col.default(x, windows, [1, 1], padding, stride).cos(),
            [rows, columns],
            windows,
            [1, 1],
            padding,
            stride,
        ),
    }
    return forms[choices.pick(tuple(forms))]() if 9 * x.numel() <= MOST_ELEMENTS else x


def resized(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    """Adaptive pools over one to three dims."""
    count = x.dim() - 2
    if count not in (1, 2, 3):
        return x
    form = f"max{count}" if count < 3 else choices.pick(("average3", "average3_kernel", "max3"))
    x = x.float() if count == 3 and x.dtype == torch.bfloat16 else x  # of which PyTorch has no average in volumes
    wanted = [choices.divisor(size) if choices.flag() else min(2, size) for size in x.shape[-count:]]
    make = {
        "average3": aten.adaptive_avg_pool3d.default,
        "average3_kernel": aten._adaptive_avg_pool3d.default,
        "max1": aten.adaptive_max_pool1d.default,
        "max2": aten.adaptive_max_pool2d.default,
        "max3": aten.adaptive_max_pool3d.default,
    }[form]
    result = make(x, wanted)
    return result[0] if isinstance(result, tuple) else result


def scaled(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    """Lines, images and volumes made larger or smaller, by sizes or by factors."""
    count = x.dim() - 2
    if count not in (1, 2, 3) or 8 * x.numel() > MOST_ELEMENTS:
        return x
    smooth = ("upsample_linear", "upsample_bilinear", "upsample_trilinear")[count - 1]
    names = ["upsample_nearest", "_upsample_nearest_exact", smooth, *(["upsample_bicubic"] if count == 2 else [])]
    name = choices.pick(names)
    larger = choices.pick((2.0, 1.0, 1.5))
    sizes = [max(1, int(size * larger)) for size in x.shape[-count:]] if choices.flag() else None
    factors = None if sizes else [larger] * count
    resize = getattr(aten, f"{name}{count}d").vec
    return resize(x, sizes, factors) if "nearest" in name else resize(x, sizes, choices.flag(), factors)


def crossed(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    """Products of vectors of three, forms of two vectors, and distances by their kernel."""
    x = bounded(x)
    last, features = x.dim() - 1, x.size(-1)
    triple = part(x, last, 0, 3) if features > 2 else x[..., :1].expand(*x.shape[:-1], 3)
    factors = 0.1 * (torch.arange(2 * features * 3) % 7).to(x.dtype).view(2, features, 3)
    forms: dict[str, Callable[[], torch.Tensor]] = {
        "linalg": lambda: aten.linalg_cross.default(triple, triple.cos()),
        "cross": lambda: aten.cross.default(triple, triple.cos(), -1),
        "bilinear": lambda: aten.bilinear.default(x, triple.contiguous(), factors),
        "distance": lambda: aten._cdist_forward.default(x.float(), x.cos().float(), 2.0, 2).to(x.dtype),
    }
    return forms[choices.pick(tuple(forms))]() if x.dim() > 1 and x.numel() * features < MOST_ELEMENTS else x


STEPS: dict[str, Step] = {
    "spread": spread,
    "dim_shuffled": dim_shuffled,
    "resized": resized,
    "scaled": scaled,
    "crossed": crossed,
}
FORMS = {"spread": 22, "dim_shuffled": 16, "resized": 10, "scaled": 24, "crossed": 9}
