"""Convolutions, pools and norms, on sequences and on images."""

from __future__ import annotations

import torch
from torch import nn

from harness.differential import case
from harness.differential.models.layers import Context, Layer

CONVOLUTIONS = {1: nn.Conv1d, 2: nn.Conv2d, 3: nn.Conv3d}
TURNED = {1: nn.ConvTranspose1d, 2: nn.ConvTranspose2d, 3: nn.ConvTranspose3d}


class Convolution(Layer):
    """The sequence as a line, an image or a volume; convolved, and mixed back with one of windows of 1."""

    def __init__(self, block: case.Block, sizes: case.Sizes) -> None:
        super().__init__(block, sizes)
        pick, features = self.choices.pick, sizes.features
        self.dims = pick((1, 2, 3))
        kind = pick(("whole", "depth", "grouped", "same", "same", "transposed", "transposed", "narrow"))
        size = pick((3, 1))
        self.groups = {"depth": features, "grouped": sizes.heads}.get(kind, 1)
        wide = features * pick((1, 2)) if self.groups > 1 else pick((features, sizes.inner))
        is_turned = kind == "transposed" or (self.groups > 1 and self.choices.flag())
        padding: int | str = "same" if kind == "same" else size // 2
        make = TURNED if is_turned else CONVOLUTIONS
        self.wide = make[self.dims](features, wide, size, padding=padding, groups=self.groups, bias=self.choices.flag())
        if kind == "narrow":  # no pixel is read twice
            self.wide = CONVOLUTIONS[self.dims](
                features, wide, (2, *[1] * (self.dims - 1)), (2, *[1] * (self.dims - 1))
            )
        if kind in ("whole", "same", "transposed") and self.choices.flag():
            self.again = type(self.wide)(features, wide, size, padding=padding, bias=False)
            self.again.weight = self.wide.weight
        # Windows of 1 keep the shape in all forms.
        back = TURNED if kind == "transposed" else CONVOLUTIONS
        self.narrow = back[self.dims](wide, features, 1, padding="same" if kind == "same" else 0)
        self.narrow.role, self.narrow.units, self.narrow.parts = "narrow", wide, ""
        self.image = pick(("none", "batch", "group", "instance"))
        groups = pick((1, wide, sizes.heads if wide % sizes.heads == 0 else 1))
        fits = self.groups == 1 and wide % 2 == 0 and self.image != "group"
        parts = "parts 2" if fits and self.choices.flag() else ""
        units = [wide // (2 if parts else 1), *([self.groups] if self.groups > 1 else [])]
        if self.image == "group" and groups > 1:
            units.append(groups)
        self.wide.role, self.wide.units, self.wide.parts = "wide", min(units), parts
        self.narrow.units = min(units) if self.image == "group" or self.groups > 1 else wide
        if self.image == "batch":
            self.norm = {1: nn.BatchNorm1d, 2: nn.BatchNorm2d, 3: nn.BatchNorm3d}[self.dims](wide)
        elif self.image == "group":
            self.norm = nn.GroupNorm(groups, wide)
        elif self.image == "instance":
            norms = {1: nn.InstanceNorm1d, 2: nn.InstanceNorm2d, 3: nn.InstanceNorm3d}
            self.norm = norms[self.dims](wide, affine=self.choices.flag())
        self.shrinks = kind == "narrow"

    def forward(self, x: torch.Tensor, context: Context) -> torch.Tensor:
        sequence = x.size(1)
        lines = x.transpose(1, 2)
        rows = 2 if sequence % 2 == 0 else 1
        shape = {1: (sequence,), 2: (sequence // rows, rows), 3: (sequence // rows, rows, 1)}[self.dims]
        if self.shrinks and shape[0] < 2:
            return x
        start = lines.reshape(*lines.shape[:2], *shape)
        made = self.wide(start)
        if hasattr(self, "again"):
            made = made + self.again(start.cos())
        if self.image != "none":
            made = self.norm(made)
        made = self.narrow(torch.relu(made))
        if self.shrinks:
            context.outputs[self.name] = made
            return x
        return x + made.flatten(2).transpose(1, 2)


class Patches(nn.Module):
    """Images cut into patches that are a sequence."""

    def __init__(self, sizes: case.Sizes) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, sizes.features, 2, stride=2)
        self.stem.units, self.stem.parts, self.stem.role = sizes.features, "", "wide"

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        return self.stem(pixels).flatten(2).transpose(1, 2)
