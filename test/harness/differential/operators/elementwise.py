"""Steps that compute one element from one element of each operand.

A step takes a tensor of floats and its choices, and gives a tensor of floats. What would leave the domain of a
function, or grow without end, is brought back first.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from harness.differential.choices import Choices

Step = Callable[[torch.Tensor, Choices], torch.Tensor]
aten = torch.ops.aten

UNARY = (
    *("neg", "abs", "square", "exp", "erf", "cos", "sin", "tanh", "sigmoid", "silu", "relu", "softplus", "relu6"),
    *("hardtanh", "hardswish", "hardsigmoid", "elu", "selu", "celu", "mish", "log_sigmoid", "exp2", "expm1"),
    *("floor", "ceil", "round", "trunc", "sign"),
)
POSITIVE = ("sqrt", "rsqrt", "reciprocal", "log", "log1p", "log2")
CONSTANTS = (0.0, 1.0, 0.37, -0.61, 1.83)


def bounded(x: torch.Tensor) -> torch.Tensor:
    return aten.clamp.default(x, -3.0, 3.0)


def positive(x: torch.Tensor) -> torch.Tensor:
    return aten.add.Scalar(x.abs(), 0.5)


def part(x: torch.Tensor, dim: int, start: int, count: int) -> torch.Tensor:
    return torch.ops.aten.slice.Tensor(x, dim, start, start + count)


def companion(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    """A tensor that broadcasts to x and depends on it."""
    kind = choices.pick(("self", "row", "part", "mean", "turned"))
    if x.dim() == 0 or kind == "self":
        return x.cos()
    dim = choices.dim(x)
    if kind == "row":
        return x.select(dim, 0).unsqueeze(dim)
    if kind == "part":
        return part(x, dim, x.size(dim) - 1, 1)
    if kind == "mean":
        return x.mean(dim, keepdim=True)
    other = choices.dim(x)
    return x.transpose(dim, other).sin() if x.size(dim) == x.size(other) else x.sin()


def unary(name: str) -> Step:
    def step(x: torch.Tensor, choices: Choices) -> torch.Tensor:
        return getattr(aten, name).default(bounded(x))

    return step


def of_positive(name: str) -> Step:
    def step(x: torch.Tensor, choices: Choices) -> torch.Tensor:
        return getattr(aten, name).default(positive(x))

    return step


def gelu(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    return torch.nn.functional.gelu(x, approximate=choices.pick(("none", "tanh")))


def leaky_relu(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    return aten.leaky_relu.default(x, choices.pick((0.01, 0.3)))


def arithmetic(name: str) -> Step:
    """Sums and products with a tensor on either side, or with a number."""

    def step(x: torch.Tensor, choices: Choices) -> torch.Tensor:
        operator = getattr(aten, name)
        if choices.flag():
            return operator.Scalar(x, choices.pick(CONSTANTS[1:]))
        other = companion(x, choices)
        if name == "mul":
            x, other = bounded(x), bounded(other)
        alpha = choices.pick((1, 1, 2, -1)) if name in ("add", "sub", "rsub") else 1
        left, right = (x, other) if choices.flag() else (other, x)
        return operator.Tensor(left, right, alpha=alpha) if alpha != 1 else operator.Tensor(left, right)

    return step


def divide(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    form = choices.pick(("tensor", "scalar", "tensor_mode", "scalar_mode", "floor", "remainder", "remainder_scalar"))
    mode = choices.pick(("trunc", "floor", None))
    if form == "scalar":
        return aten.div.Scalar(x, 1.7)
    if form == "scalar_mode":
        return aten.div.Scalar_mode(x, 0.29, rounding_mode=mode)
    if form == "remainder_scalar":
        return aten.remainder.Scalar(x, 0.83)
    other = positive(bounded(companion(x, choices)))
    if form == "tensor_mode":
        return aten.div.Tensor_mode(x, other, rounding_mode=mode)
    forms = {"tensor": aten.div.Tensor, "floor": aten.floor_divide.default, "remainder": aten.remainder.Tensor}
    return forms[form](x, other)


def power(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    form = choices.pick(("square", "tensor", "scalar", "root"))
    if form == "square":
        return aten.pow.Tensor_Scalar(bounded(x), choices.pick((2, 3)))
    if form == "root":
        return aten.pow.Tensor_Scalar(positive(bounded(x)), choices.pick((0.5, -0.5, 1.5)))
    if form == "scalar":
        return aten.pow.Scalar(1.5, bounded(x))
    return aten.pow.Tensor_Tensor(positive(bounded(x)), bounded(companion(x, choices)))


def clamp(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    form = choices.pick(("both", "min", "max"))
    low, high = choices.pick((-0.5, 0.1)), choices.pick((0.7, 1.3))
    if form == "min":
        return aten.clamp_min.default(x, low)
    return aten.clamp_max.default(x, high) if form == "max" else aten.clamp.default(x, low, high)


def extremum(name: str) -> Step:
    def step(x: torch.Tensor, choices: Choices) -> torch.Tensor:
        operator = getattr(aten, name)
        other = companion(x, choices)
        return (operator.other if name in ("max", "min") else operator.default)(x, other)

    return step


def truth(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    """Truth values by a comparison of either form."""
    operator = getattr(aten, choices.pick(("gt", "ge", "lt", "le", "ne", "eq")))
    if choices.flag():
        return operator.Tensor(x, companion(x, choices) * 0.9 + 0.017)
    return operator.Scalar(x, choices.pick((0.113, -0.217)))


def compare(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    return x * truth(x, choices)


def logic(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    left, right = truth(x, choices), x > 0.251
    binary = {
        "logical_and": aten.logical_and.default,
        "logical_or": aten.logical_or.default,
        "logical_xor": aten.logical_xor.default,
        "bitwise_and": aten.bitwise_and.Tensor,
        "bitwise_or": aten.bitwise_or.Tensor,
        "bitwise_xor": aten.bitwise_xor.Tensor,
        "and": aten.__and__.Tensor,
        "or": aten.__or__.Tensor,
    }
    form = choices.pick((*binary, "and_scalar", "not", "bitwise_not", "isnan", "isinf"))
    if form in binary:
        return binary[form](left, right) * x
    if form == "and_scalar":
        return aten.__and__.Scalar(left, choices.flag()) + x
    if form in ("isnan", "isinf"):
        return getattr(aten, form).default(x).logical_or(left) * x
    return (aten.logical_not.default if form == "not" else aten.bitwise_not.default)(left) * x


def where(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    form = choices.pick(("self", "scalar_other", "scalar_self", "scalars", "fill", "fill_tensor"))
    condition, value = truth(x, choices), choices.pick(CONSTANTS)
    if form == "self":
        return aten.where.self(condition, x, companion(x, choices))
    if form == "scalar_other":
        return aten.where.ScalarOther(condition, x, value)
    if form == "scalar_self":
        return aten.where.ScalarSelf(condition, value, x)
    if form == "scalars":
        return aten.where.Scalar(condition, 0.7, value) * x
    if form == "fill":
        return aten.masked_fill.Scalar(x, condition, value)
    return aten.masked_fill.Tensor(x, condition, x.mean())


STEPS: dict[str, Step] = {
    **{name: unary(name) for name in UNARY},
    **{name: of_positive(name) for name in POSITIVE},
    **{name: arithmetic(name) for name in ("add", "sub", "rsub", "mul")},
    **{name: extremum(name) for name in ("maximum", "minimum", "max", "min")},
    "gelu": gelu,
    "leaky_relu": leaky_relu,
    "div": divide,
    "pow": power,
    "clamp": clamp,
    "compare": compare,
    "logic": logic,
    "where": where,
}
