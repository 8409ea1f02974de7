"""Products in addends that are rounded to 16 bits, as row-parallel layers of PyTorch compute them.

A rank of a row-parallel layer multiplies its part of the input features, and rounds what it gets to the dtype of the
model; the sum over the ranks is made in float32 and rounded once. After a column-parallel layer the gradient of its
input is such a sum, over parts of the output features. Which layers are so follows from the layout of their weights:
those of a plan are in what `meshplan check --json` prints. Random models have products of all kinds, whose operands may
be made of weights in any way: there every product counts as divided (`RoundedProducts`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

import torch
from torch.utils._python_dispatch import TorchDispatchMode

aten = torch.ops.aten
TURNS = (aten.t.default, aten.transpose.int, aten.permute.default)
CARRIERS = (*TURNS, aten.to.dtype, aten._to_copy.default, aten.detach.default, aten.alias.default)

Shards = dict[str, list[int]]  # of each parameter, by name: into how many parts each dim is divided


def narrow_shards(report: dict) -> Shards | None:
    """The divisions of the parameters in a report; None if its plan sends no partial sums in 16 bits."""
    if all(sums["dtype"] == "f32" for sums in report["activation_sums"]):
        return None
    sizes = {axis["name"]: axis["size"] for axis in report["axes"]}
    shards = {}
    for parameter in report["parameters"]:
        dims = re.split(r", (?=\d)", parameter["layout"].split("]")[0])
        counts = [math.prod(sizes[axis] for axis in re.findall(r"\w+", dim) if axis in sizes) for dim in dims]
        if math.prod(counts) > 1:
            shards |= dict.fromkeys(parameter["names"], counts)
    return shards


def in_parts(left: torch.Tensor, right: torch.Tensor, count: int) -> torch.Tensor:
    """left @ right in so many addends, each of them rounded, whose sum in float32 is rounded once."""
    parts = zip(left.tensor_split(count, -1), right.tensor_split(count, -2 if right.dim() > 1 else 0), strict=True)
    return sum((ours @ theirs).float() for ours, theirs in parts).to(left.dtype)


class Product(torch.autograd.Function):
    """x @ weight in `forward` addends, its gradient for x in `backward` addends; `weight` has input features first."""

    @staticmethod
    def forward(
        context: torch.autograd.function.FunctionCtx, x: torch.Tensor, weight: torch.Tensor, forward: int, backward: int
    ) -> torch.Tensor:
        context.save_for_backward(x, weight)
        context.addends = backward
        return in_parts(x, weight, forward)

    @staticmethod
    def backward(
        context: torch.autograd.function.FunctionCtx, gradient: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, None, None]:
        x, weight = context.saved_tensors
        return (
            in_parts(gradient, weight.t(), context.addends),
            x.flatten(0, -2).t() @ gradient.flatten(0, -2),
            None,
            None,
        )


def parameter_behind(node: object) -> tuple[str, bool] | None:
    """The parameter that the node is made of, and whether it is turned around; None if it is not a parameter."""
    turned = False
    while isinstance(node, torch.fx.Node) and node.op == "call_function" and node.target in CARRIERS:
        turned ^= node.target in TURNS
        node = node.args[0]
    return (str(node.target), turned) if isinstance(node, torch.fx.Node) and node.op == "get_attr" else None


def split_products(module: torch.nn.Module, shards: Shards) -> None:
    """Replaces the products with divided weights of an exported program's module."""
    for graph_module in module.modules():
        if not isinstance(graph_module, torch.fx.GraphModule):
            continue
        for node in graph_module.graph.nodes:
            if node.op == "call_function":
                split_product(node, shards)
        graph_module.recompile()


def split_product(node: torch.fx.Node, shards: Shards) -> None:
    places = {aten.linear.default: 1, aten.mm.default: 1, aten.matmul.default: 1, aten.addmm.default: 2}
    place = places.get(node.target)
    if place is None or not (found := parameter_behind(node.args[place])) or found[0] not in shards:
        return
    name, turned = found
    counts = shards[name]
    outer = node.target is aten.linear.default  # stores output features first
    if len(counts) != 2:
        return
    inputs, outputs = (counts[1], counts[0]) if outer ^ turned else (counts[0], counts[1])

    def linear(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
        if torch.is_autocast_enabled("cpu"):
            dtype = torch.get_autocast_dtype("cpu")
            x, weight, bias = x.to(dtype), weight.to(dtype), None if bias is None else bias.to(dtype)
        product = Product.apply(x, weight.t() if outer else weight, inputs, outputs)
        return product if bias is None else product + bias

    def addmm(bias: torch.Tensor, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return linear(x, weight, bias)

    node.target = addmm if place == 2 else linear


Reference = TypeVar("Reference")


class References(Generic[Reference]):
    """What PyTorch makes of a model, by how plans divide the weights of products that they send in 16 bits."""

    def __init__(self, half: bool, make: Callable[[Shards | None], Reference]) -> None:
        """`half` where the model has 16 bits: no other plan's report is made."""
        self.half, self.make = half, make
        self.made: dict[str, Reference] = {}

    def of(self, report: Callable[[], dict]) -> Reference:
        """That of a plan with this report."""
        shards = narrow_shards(report()) if self.half else None
        key = str(shards)
        if key not in self.made:
            self.made[key] = self.make(shards)
        return self.made[key]


class RoundedProducts(TorchDispatchMode):
    """While it is on, every product of 16-bit matrices is computed in `count` addends, those of derivatives too."""

    PRODUCTS = (aten.mm.default, aten.bmm.default, aten.mv.default, aten.dot.default)
    SUMS = (aten.addmm.default, aten.baddbmm.default, aten.addmv.default)  # beta * addend + alpha * product

    def __init__(self, count: int) -> None:
        super().__init__()
        self.count = count

    def __torch_dispatch__(
        self,
        func: Callable[..., object],
        types: Sequence[type],
        args: tuple[object, ...] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        operands = args[func in self.SUMS :]
        if func not in (*self.PRODUCTS, *self.SUMS) or operands[0].dtype not in (torch.bfloat16, torch.float16):
            return func(*args, **(kwargs or {}))
        with torch.utils._python_dispatch._disable_current_modes():
            product = in_parts(operands[0], operands[1], self.count)
            if func not in self.SUMS:
                return product
            # The bias is added to the sum of all ranks.
            numbers = {"alpha": 1, "beta": 1} | dict(kwargs or {})
            return numbers["beta"] * args[0] + numbers["alpha"] * product
