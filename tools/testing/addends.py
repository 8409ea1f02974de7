"""PyTorch's own run with every sum taken in addends, as ranks that divide the sum take it.

In 16 bits each addend is rounded, which a product in one piece is not. So the error that is right for a divided program
is that of PyTorch with as many addends, not that with one.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.utils._python_dispatch import TorchDispatchMode

aten = torch.ops.aten


# Sums of all elements, by those of some dims.
WHOLE = {aten.sum.default: aten.sum.dim_IntList, aten.mean.default: aten.mean.dim}


class Addends(TorchDispatchMode):
    def __init__(self, count: int) -> None:
        super().__init__()
        self.count = count

    def __torch_dispatch__(
        self, function: Callable, types: object, arguments: tuple = (), named: dict | None = None
    ) -> object:
        named = named or {}
        if function in (aten.mm.default, aten.bmm.default):
            return self.product(function, *arguments)
        if function is aten.addmm.default and not named:
            return arguments[0] + self.product(aten.mm.default, *arguments[1:])
        if function is aten.convolution.default and not arguments[6] and arguments[8] == 1:
            return self.convolution(*arguments)
        if function in WHOLE and arguments[0].is_floating_point():
            return self.sum(WHOLE[function], arguments[0].flatten(), [0], **named)
        if function in WHOLE.values() and arguments[0].is_floating_point() and arguments[1]:
            return self.sum(function, *arguments, **named)
        return function(*arguments, **named)

    def product(self, function: Callable, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        pieces = zip(left.tensor_split(self.count, -1), right.tensor_split(self.count, -2), strict=True)
        return self.added([function(*pair) for pair in pieces if pair[0].size(-1)])

    def sum(
        self, function: Callable, x: torch.Tensor, dims: list[int], *others: object, **named: object
    ) -> torch.Tensor:
        pieces = [piece for piece in x.tensor_split(self.count, dims[0]) if piece.numel()]
        weights = [1.0] * len(pieces)
        if function is aten.mean.dim:
            weights = [piece.size(dims[0]) / x.size(dims[0]) for piece in pieces]
        made = [function(piece, dims, *others, **named) * weight for piece, weight in zip(pieces, weights, strict=True)]
        return self.added(made) if made else function(x, dims, *others, **named)

    def convolution(
        self, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, *others: object
    ) -> torch.Tensor:
        pieces = zip(x.tensor_split(self.count, 1), weight.tensor_split(self.count, 1), strict=True)
        made = self.added([aten.convolution.default(*pair, None, *others) for pair in pieces if pair[0].size(1)])
        return made if bias is None else made + bias.view(-1, *[1] * (x.dim() - 2))

    @staticmethod
    def added(pieces: list[torch.Tensor]) -> torch.Tensor:
        total = pieces[0]
        for piece in pieces[1:]:
            total = total + piece
        return total
