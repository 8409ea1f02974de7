"""The random numbers of compiled programs, drawn by PyTorch: what references of tests are given in place of its own.

Element n of a tensor, in row-major order, has word n % 4 of Philox 4x32-10 under the key `seed` for the counter
(n / 4, number, step), where `number` counts the random operators of a graph that are read, in its order. Numbers of
other distributions than even ones are inverses of their functions. See docs/gradients.md, "Random numbers".
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence

import torch
from torch.autograd.function import BackwardCFunction, FunctionCtx

aten = torch.ops.aten
MULTIPLIERS, INCREMENTS, ROUNDS = (0xD2511F53, 0xCD9E8D57), (0x9E3779B9, 0xBB67AE85), 10
WORD = 0xFFFFFFFF
HALF = 2.0**-33  # of the distance of words as numbers from 0 to 1
DIGITS = {torch.float64: 32, torch.float32: 24, torch.float16: 11, torch.bfloat16: 8}


@dataclasses.dataclass
class Draws:
    """What the numbers of one run follow from. Step and microbatch may be changed between calls of a module."""

    seed: int = 0
    step: int = 1
    microbatch: int = 0  # of those that have a mean of their own: its numbers follow those of the one before


@dataclasses.dataclass(frozen=True)
class Stream:
    """The numbers of one operator."""

    draws: Draws
    number: int

    def words(self, shape: Sequence[int]) -> torch.Tensor:
        """The word of each element of a tensor, in i64."""
        numbers = torch.arange(math.prod(shape)) + self.draws.microbatch * math.prod(shape)
        counter = [numbers >> 2 & WORD, numbers >> 34, torch.tensor(self.number), torch.tensor(self.draws.step)]
        words = torch.stack(torch.broadcast_tensors(*philox(counter, self.draws.seed)))
        return words.gather(0, (numbers & 3).unsqueeze(0))[0].view(tuple(shape))

    def kept(self, shape: Sequence[int], p: float) -> torch.Tensor:
        """True for the elements that a dropout with this probability leaves."""
        return self.words(shape) >= math.ceil(p * 2**32)

    def uniform(self, shape: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
        return ((self.words(shape) >> 32 - DIGITS[dtype]).double() * 2.0 ** -DIGITS[dtype]).to(dtype)


class Around(torch.autograd.Function):
    """Numbers that are drawn around parameters, whose gradients are zeros: PyTorch's derivatives.yaml."""

    @staticmethod
    def forward(ctx: FunctionCtx, drawn: torch.Tensor, *parameters: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(*parameters)
        return drawn.clone()

    @staticmethod
    def backward(ctx: BackwardCFunction, *gradients: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        return (None, *map(torch.zeros_like, ctx.saved_tensors))


def around(drawn: torch.Tensor, *parameters: torch.Tensor) -> torch.Tensor:
    return Around.apply(drawn.detach(), *parameters)


def philox(counter: Sequence[torch.Tensor], seed: int) -> list[torch.Tensor]:
    """The four words of each counter, whose words and results are in i64. Products wrap, which keeps their low bits."""
    a, b, c, d = counter
    first, second = seed & WORD, seed >> 32
    for _ in range(ROUNDS):
        left, right = a * MULTIPLIERS[0], c * MULTIPLIERS[1]
        a, b, c, d = (right >> 32 & WORD) ^ b ^ first, right & WORD, (left >> 32 & WORD) ^ d ^ second, left & WORD
        first, second = first + INCREMENTS[0] & WORD, second + INCREMENTS[1] & WORD
    return [a, b, c, d]


class Replay:
    """Random operators of ATen with the numbers of a stream; 16-bit elements are multiplied in f32.

    `dtype` is that of the operator's result in the archive, which may be widened here.
    """

    def __init__(self, stream: Stream, dtype: torch.dtype) -> None:
        self.stream, self.dtype = stream, dtype

    def factor(self, shape: Sequence[int], p: float, dtype: torch.dtype) -> torch.Tensor:
        return self.stream.kept(shape, p).to(dtype) * (1 / (1 - p) if p < 1 else 0.0)

    def dropout(self, input: torch.Tensor, p: float, train: bool | None = True) -> torch.Tensor:
        wide = torch.promote_types(input.dtype, torch.float32)
        return (input.to(wide) * self.factor(input.shape, p, wide)).to(input.dtype)

    def native_dropout(self, input: torch.Tensor, p: float, train: bool | None) -> tuple[torch.Tensor, torch.Tensor]:
        return self.dropout(input, p), self.stream.kept(input.shape, p)

    def feature_dropout(self, input: torch.Tensor, p: float, train: bool) -> torch.Tensor:
        return input * self.factor(feature_shape(input), p, input.dtype)

    def alpha_dropout(self, input: torch.Tensor, p: float, train: bool) -> torch.Tensor:
        return self.alpha(input, p, input.shape)

    def feature_alpha_dropout(self, input: torch.Tensor, p: float, train: bool) -> torch.Tensor:
        return self.alpha(input, p, feature_shape(input))

    def alpha(self, input: torch.Tensor, p: float, shape: Sequence[int]) -> torch.Tensor:
        """As aten/src/ATen/native/Dropout.cpp has it."""
        if p == 1:
            return input * 0
        alpha = 1.7580993408473766
        slope = 1 / math.sqrt((alpha * alpha * p + 1) * (1 - p))
        noise = (self.stream.uniform(shape, torch.float32) >= p).to(input.dtype)
        return input * (noise * slope) + ((noise - 1) * (alpha * slope) + alpha * slope * p)

    def bernoulli_p(self, input: torch.Tensor, p: float, **_: object) -> torch.Tensor:
        return (self.stream.uniform(input.shape, torch.float32) < p).to(input.dtype)

    def bernoulli(self, input: torch.Tensor, **_: object) -> torch.Tensor:
        uniform = self.stream.uniform(input.shape, torch.promote_types(self.dtype, torch.float32))
        return around((uniform < input).to(input.dtype), input)

    def bernoulli_of_tensor(self, input: torch.Tensor, p: torch.Tensor, **_: object) -> torch.Tensor:
        uniform = self.stream.uniform(input.shape, torch.promote_types(self.dtype, torch.float32))
        return around((uniform < p).to(input.dtype), p)

    def rand(self, size: Sequence[int], **options: torch.dtype) -> torch.Tensor:
        return self.stream.uniform(size, self.dtype).to(options.get("dtype") or self.dtype)

    def rand_like(self, input: torch.Tensor, **options: torch.dtype) -> torch.Tensor:
        return self.stream.uniform(input.shape, self.dtype).to(options.get("dtype") or input.dtype)

    def rounded(self, drawn: torch.Tensor, like: torch.Tensor | None = None) -> torch.Tensor:
        """In the type of the archive, and then in the one that the module computes in."""
        drawn = drawn.to(self.dtype)
        return drawn if like is None or not like.is_floating_point() else drawn.to(like.dtype)

    def even(self, shape: Sequence[int]) -> torch.Tensor:
        """Numbers in f64 between 0 and 1, which are none of them."""
        return self.stream.uniform(shape, torch.float64) + HALF

    def gauss(self, shape: Sequence[int]) -> torch.Tensor:
        return (2 * self.even(shape) - 1).erfinv() * math.sqrt(2)

    def randn(self, size: Sequence[int], **options: torch.dtype) -> torch.Tensor:
        return self.rounded(self.gauss(size)).to(options.get("dtype") or self.dtype)

    def randn_like(self, input: torch.Tensor, **options: torch.dtype) -> torch.Tensor:
        return self.rounded(self.gauss(input.shape)).to(options.get("dtype") or input.dtype)

    def normal(self, input: torch.Tensor, mean: float = 0.0, std: float = 1.0, **_: object) -> torch.Tensor:
        return self.rounded(self.gauss(input.shape) * std + mean, input)

    def normal_of_size(self, mean: float, std: float, size: Sequence[int], **options: torch.dtype) -> torch.Tensor:
        return self.rounded(self.gauss(size) * std + mean).to(options.get("dtype") or self.dtype)

    def normal_around(self, mean: torch.Tensor, std: float = 1.0, **_: object) -> torch.Tensor:
        return around(self.rounded(self.gauss(mean.shape) * std, mean) + mean.detach(), mean)

    def normal_within(self, mean: float, std: torch.Tensor, **_: object) -> torch.Tensor:
        return around(self.rounded(self.gauss(std.shape), std) * std.detach() + mean, std)

    def normal_of_tensors(self, mean: torch.Tensor, std: torch.Tensor, **_: object) -> torch.Tensor:
        shape = torch.broadcast_shapes(mean.shape, std.shape)
        return around(self.rounded(self.gauss(shape), mean) * std.detach() + mean.detach(), mean, std)

    def log_normal(self, input: torch.Tensor, mean: float = 1.0, std: float = 2.0, **_: object) -> torch.Tensor:
        return self.rounded((self.gauss(input.shape) * std + mean).exp(), input)

    def exponential(self, input: torch.Tensor, lambd: float = 1.0, **_: object) -> torch.Tensor:
        least = 2**-14 if self.dtype == torch.float16 else 0.0
        return self.rounded((self.even(input.shape).log() * (-1 / lambd)).clamp_min(least), input)

    def cauchy(self, input: torch.Tensor, median: float = 0.0, sigma: float = 1.0, **_: object) -> torch.Tensor:
        return self.rounded(((self.even(input.shape) - 0.5) * math.pi).tan() * sigma + median, input)

    def geometric(self, input: torch.Tensor, p: float, **_: object) -> torch.Tensor:
        return self.rounded((self.even(input.shape).log() * (1 / math.log1p(-p))).ceil(), input)

    def uniform(self, input: torch.Tensor, start: float = 0.0, to: float = 1.0, **_: object) -> torch.Tensor:
        return (self.stream.uniform(input.shape, self.dtype) * (to - start) + start).to(input.dtype)

    def integers(self, low: int, high: int, size: Sequence[int]) -> torch.Tensor:
        drawn = self.stream.uniform(size, torch.float64) * (high - low)
        return (drawn.floor() + low).to(self.dtype)

    def randint(self, high: int, size: Sequence[int], **_: object) -> torch.Tensor:
        return self.integers(0, high, size)

    def randint_from(self, low: int, high: int, size: Sequence[int], **_: object) -> torch.Tensor:
        return self.integers(low, high, size)

    def randint_like(self, input: torch.Tensor, high: int, **_: object) -> torch.Tensor:
        return self.integers(0, high, input.shape)

    def randint_like_from(self, input: torch.Tensor, low: int, high: int, **_: object) -> torch.Tensor:
        return self.integers(low, high, input.shape)

    def attention(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        attn_mask: torch.Tensor | None = None,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        scale: float | None = None,
        enable_gqa: bool = False,
    ) -> torch.Tensor:
        kept = self.stream.kept([*query.shape[:-1], key.shape[-2]], dropout_p)
        if attn_mask is not None and attn_mask.dtype == torch.bool:
            # The function that implements the operator adds its mask, whatever type it has.
            attn_mask = torch.zeros_like(attn_mask, dtype=query.dtype).masked_fill(~attn_mask, -math.inf)
        arguments = (query, key, value, attn_mask, dropout_p, is_causal, kept)
        return aten._scaled_dot_product_attention_math(*arguments, scale=scale, enable_gqa=enable_gqa)[0]


def feature_shape(input: torch.Tensor) -> list[int]:
    return [*input.shape[:2], *(1 for _ in input.shape[2:])]


OPERATORS: dict[torch._ops.OpOverload, Callable[..., object]] = {
    aten.dropout.default: Replay.dropout,
    aten.native_dropout.default: Replay.native_dropout,
    aten.feature_dropout.default: Replay.feature_dropout,
    aten.alpha_dropout.default: Replay.alpha_dropout,
    aten.feature_alpha_dropout.default: Replay.feature_alpha_dropout,
    aten.bernoulli.p: Replay.bernoulli_p,
    aten.bernoulli.default: Replay.bernoulli,
    aten.bernoulli.Tensor: Replay.bernoulli_of_tensor,
    aten.rand.default: Replay.rand,
    aten.rand_like.default: Replay.rand_like,
    aten.randn.default: Replay.randn,
    aten.randn_like.default: Replay.randn_like,
    aten.normal_functional.default: Replay.normal,
    aten.normal.float_float: Replay.normal_of_size,
    aten.normal.Tensor_float: Replay.normal_around,
    aten.normal.float_Tensor: Replay.normal_within,
    aten.normal.Tensor_Tensor: Replay.normal_of_tensors,
    aten.log_normal.default: Replay.log_normal,
    aten.exponential.default: Replay.exponential,
    aten.cauchy.default: Replay.cauchy,
    aten.geometric.default: Replay.geometric,
    aten.uniform.default: Replay.uniform,
    aten.randint.default: Replay.randint,
    aten.randint.low: Replay.randint_from,
    aten.randint_like.default: Replay.randint_like,
    aten.randint_like.low_dtype: Replay.randint_like_from,
    aten.scaled_dot_product_attention.default: Replay.attention,
}


def draws_numbers(node: torch.fx.Node) -> bool:
    """False for operators that are switched off or not read."""
    if node.op != "call_function" or node.target not in OPERATORS or not node.users:
        return False
    schema = node.target._schema  # type: ignore[union-attr]
    given = {argument.name: value for argument, value in zip(schema.arguments, node.args, strict=False)} | node.kwargs
    if node.target is aten.scaled_dot_product_attention.default:
        return given.get("dropout_p", 0.0) != 0
    return "dropout" not in schema.name or (given["p"] != 0 and given["train"] is not False)


def replay(module: torch.nn.Module, draws: Draws) -> None:
    """Gives the random operators of an exported module the numbers that a compiled program draws."""
    number = 0
    for graph_module in module.modules():
        if not isinstance(graph_module, torch.fx.GraphModule):
            continue
        found = [node for node in graph_module.graph.nodes if draws_numbers(node)]
        if found and number:
            raise NotImplementedError("random operators in several graphs of one module, whose order is not known")
        for node in found:
            value = node.meta["val"]
            dtype = (value[0] if isinstance(value, (tuple, list)) else value).dtype
            operator = OPERATORS[node.target]  # type: ignore[index]
            node.target = operator.__get__(Replay(Stream(draws, number), dtype))  # type: ignore[attr-defined]
            number += 1
        if found:
            graph_module.recompile()
