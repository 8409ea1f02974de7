"""Is a right gradient ever called wrong? Draws small models, and holds right gradients against reference/own_errors.py.

  harness bound_draws [--first N] [--draws N]

A draw is a model of random layers, sizes, scales and dtypes, with a loss. What PyTorch computes of it on one rank is
the reference. Right, too, is what ranks make of it, whose products are sums of parts in another order: of features, of
outputs, and of samples, summed in float32 and rounded once; in every second draw those of 16-bit activations are
rounded before, as they are sent. Loss, gradients and their norm are compared. Prints what
is called wrong, and how many runs of PyTorch were needed (0 where its own have no numbers); status 1 if anything was
called wrong.
"""

from __future__ import annotations

import collections
import dataclasses
import math
import random
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch.autograd.function import FunctionCtx
from torch.nn import functional

from harness.arguments import parser_of
from harness.reference.own_errors import Anew, OwnErrors
from harness.tensors import Tensors


class Ranks(NamedTuple):
    """So many make each product; with `rounds` they send addends in the dtype of the activations."""

    count: int
    rounds: bool = False


ALONE = Ranks(1)
ACTIVATIONS = (torch.relu, functional.gelu, torch.tanh, functional.silu)


def parts_of(tensor: torch.Tensor, dim: int, count: int) -> tuple[torch.Tensor, ...]:
    return tensor.tensor_split(min(count, max(tensor.shape[dim], 1)), dim)


def sum_of_products(left: torch.Tensor, right: torch.Tensor, count: int, rounds: bool = False) -> torch.Tensor:
    """left @ right as ranks make it that have a part of the contracted dim each; with `rounds` they round it."""
    wide = torch.promote_types(left.dtype, torch.float32)
    pieces = zip(parts_of(left, -1, count), parts_of(right, -2, count), strict=True)
    addends = (a.to(wide) @ b.to(wide) for a, b in pieces)
    total = sum(addend.to(left.dtype).to(wide) if rounds else addend for addend in addends)
    return total.to(left.dtype)


class DividedProduct(torch.autograd.Function):
    """left @ right and its gradients, all as sums of parts; a matrix on the right may be one for all samples."""

    @staticmethod
    def forward(ctx: FunctionCtx, left: torch.Tensor, right: torch.Tensor, ranks: Ranks) -> torch.Tensor:
        ctx.save_for_backward(left, right)
        ctx.ranks = ranks
        return sum_of_products(left, right, *ranks)

    @staticmethod
    def backward(ctx: FunctionCtx, gradient: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, None]:
        left, right = ctx.saved_tensors
        for_left = sum_of_products(gradient, right.mT, *ctx.ranks)
        if right.dim() == 2:
            rows, columns = left.flatten(0, -2), gradient.flatten(0, -2)
            return for_left, sum_of_products(rows.T, columns, ctx.ranks.count), None
        return for_left, sum_of_products(left.mT, gradient, *ctx.ranks), None


def product(left: torch.Tensor, right: torch.Tensor, ranks: Ranks) -> torch.Tensor:
    return DividedProduct.apply(left, right, ranks) if ranks.count > 1 else left @ right


@dataclasses.dataclass
class Drawn:
    """A model with its weights and its batch."""

    layers: list[str]
    activation: int
    dtype: torch.dtype
    compute: torch.dtype
    weights: Tensors
    inputs: torch.Tensor
    labels: torch.Tensor
    names: list[str]

    def loss(self, weights: Tensors, ranks: Ranks) -> torch.Tensor:
        """In the dtype of the weights, or where that is float32 in the one that it computes in."""
        exact = next(iter(weights.values())).dtype == torch.float64
        compute = torch.float64 if exact else self.compute
        x = functional.embedding(self.inputs, weights["embed"]).to(compute)
        for number, layer in enumerate(self.layers):
            w = {name: weights[f"{number}.{name}"].to(compute) for name in ("w", "v", "b", "g")}
            if layer == "mlp":
                hidden = ACTIVATIONS[self.activation](product(x, w["w"], ranks) + w["b"])
                x = x + product(hidden, w["v"], ranks)
            elif layer == "norm":
                x = functional.layer_norm(x, x.shape[-1:], w["g"], None)
            elif layer == "rms":
                x = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * w["g"]
            else:
                scores = product(product(x, w["w"], ranks), x.mT, ranks) / x.shape[-1] ** 0.5
                x = x + product(product(torch.softmax(scores, -1), x, ranks), w["v"].T, ranks)
        logits = product(x, weights["head"].to(compute), ranks)
        wide = logits if exact else logits.float()
        return functional.cross_entropy(wide.flatten(0, 1), self.labels.flatten())


def draw(number: int) -> Drawn:
    chosen = random.Random(number)
    torch.manual_seed(number)
    features, classes, vocabulary = chosen.randint(1, 48), chosen.randint(2, 40), chosen.randint(2, 40)
    samples, positions = chosen.randint(1, 6), chosen.randint(1, 12)
    dtype = chosen.choice([torch.float32, torch.float32, torch.bfloat16, torch.float16])
    compute = torch.bfloat16 if dtype == torch.float32 and chosen.random() < 0.3 else dtype
    scale = 10 ** chosen.uniform(-2, -0.3 if dtype == torch.float16 else 0.3)  # f16 has no large numbers
    layers = [chosen.choice(["mlp", "norm", "rms", "attention"]) for _ in range(chosen.randint(0, 4))]
    weights = {"embed": torch.randn(vocabulary, features), "head": torch.randn(features, classes) * scale}
    for index, layer in enumerate(layers):
        inner = features if layer != "mlp" else chosen.randint(1, 64)
        weights[f"{index}.w"] = torch.randn(features, inner) * scale
        weights[f"{index}.v"] = torch.randn(inner, features) * scale
        weights[f"{index}.b"] = torch.randn(inner) * scale
        weights[f"{index}.g"] = 1 + 0.1 * torch.randn(features)
    inputs = torch.randint(vocabulary, (samples, positions))
    labels = torch.randint(classes, (samples, positions))
    own = {name: weight.to(dtype) for name, weight in weights.items()}
    return Drawn(layers, chosen.randrange(len(ACTIVATIONS)), dtype, compute, own, inputs, labels, list(own))


def results(drawn: Drawn, dtype: torch.dtype, ranks: Ranks = ALONE, anew: Anew = lambda gradient: gradient) -> Tensors:
    """Loss, gradients and their norm, with products in so many parts."""
    leaves = {name: weight.detach().to(dtype).requires_grad_() for name, weight in drawn.weights.items()}
    loss = drawn.loss(leaves, ranks)
    loss.backward()
    found = {name: anew(leaf.grad) for name, leaf in leaves.items() if leaf.grad is not None}
    norms = [torch.linalg.vector_norm(gradient) for gradient in found.values()]
    if ranks.count > 1:  # they sum squares in float32
        wide = torch.promote_types(dtype, torch.float32)
        norm = sum(gradient.to(wide).square().sum() for gradient in found.values()).sqrt()
    else:
        norm = torch.linalg.vector_norm(torch.stack(norms))
    return {"loss": loss.detach(), "norm": norm, **found}


def judge(number: int) -> tuple[list[str], int]:
    """What is wrong of a draw, and the runs that it took."""
    drawn = draw(number)
    exact = results(drawn, torch.float64)
    gradients = [tensor for name, tensor in exact.items() if name not in ("loss", "norm")]
    largest = max(tensor.abs().max().item() for tensor in gradients)

    def magnitude_of(name: str, tensor: torch.Tensor) -> float:
        return tensor.abs().item() if name in ("loss", "norm") else largest

    half = torch.float32 not in (drawn.dtype, drawn.compute) or drawn.compute != drawn.dtype
    own = OwnErrors(lambda anew: results(drawn, drawn.dtype, ALONE, anew), exact, half=half, magnitude_of=magnitude_of)
    if not all(math.isfinite(error) for error in own.errors.values()):
        return [], 0  # f16 has no such numbers, in PyTorch neither
    ranks = Ranks(random.Random(-number).choice([2, 3, 4, 8]), rounds=number % 2 == 1)
    found = own.deviations(results(drawn, drawn.dtype, ranks))
    said = []
    for name, each in found.items():
        if not each.share <= 1:
            said.append(
                f"draw {number}: {name} {tuple(exact[name].shape)} of {drawn.dtype} in {drawn.compute}, layers"
                f" {drawn.layers}, {ranks}: error {each.error:.3e}, PyTorch {each.own:.3e},"
                f" bound {each.bound:.3e}"
            )
    return said, own.draws


def main(words: Sequence[str]) -> int:
    parser = parser_of(__doc__)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--draws", type=int, default=200)
    arguments = parser.parse_args(words)
    torch.set_num_threads(1)
    wrong, runs = 0, collections.Counter()
    for number in range(arguments.first, arguments.first + arguments.draws):
        said, needed = judge(number)
        runs[needed] += 1
        wrong += bool(said)
        for line in said:
            print(line, flush=True)
    needed = ", ".join(f"{count} x {runs[count]}" for count in sorted(runs))
    print(f"{wrong} of {arguments.draws} draws are called wrong; runs of PyTorch x draws: {needed}")
    return 1 if wrong else 0
