"""Layers whose weight is made of parameters by a function: scaled, normalized, masked, a product of factors.

Each form says what a plan must find of its parameters: the dims that `colwise` and `rowwise` divide, and their fans. A
weight is [outputs, inputs] unless the form says otherwise.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import torch
from torch import nn
from torch.nn import functional

from harness.differential import case
from harness.differential.choices import Choices
from harness.differential.models.layers import Context, Layer

Tensors = dict[str, torch.Tensor]
RANK = 4  # of products of factors


@dataclass(frozen=True)
class Use:
    """The dims of a parameter that hold output and input features, and how many elements are on either side of one.

    A dim in `inner` is of features that only another factor of a product has, or that are minor ones beside those of
    another: a style leaves it whole beside others.
    """

    output: int | None
    input: int | None
    fans: tuple[int, int] | None = None  # in, out
    inner: tuple[str, ...] = ()  # "output", "input"


@dataclass
class Form:
    shapes: dict[str, tuple[int, ...]]
    uses: dict[str, Use]
    make: Callable[[Tensors], torch.Tensor]
    buffers: Tensors = field(default_factory=dict)
    turned: bool = False  # the weight is [inputs, outputs]
    parts: str = ""  # that a plan has to state for the output features
    is_apart: bool = False  # parts of the output features are parameters: a step takes the gradient apart there


def plain(out: int, inp: int) -> Use:
    return Use(0, 1, (inp, out))


def of_weight(out: int, inp: int, make: Callable[[Tensors], torch.Tensor], **buffers: torch.Tensor) -> Form:
    """A function of one weight and buffers."""
    return Form({"w": (out, inp)}, {"w": plain(out, inp)}, make, buffers)


def factors(out: int, inp: int) -> tuple[dict[str, tuple[int, ...]], dict[str, Use]]:
    uses = {"a": Use(0, 1, (inp, RANK), ("output",)), "b": Use(0, 1, (RANK, out), ("input",))}
    return {"a": (RANK, inp), "b": (out, RANK)}, uses


def adapted(out: int, inp: int, make: Callable[[Tensors], torch.Tensor]) -> Form:
    """A weight and a product that is added to it."""
    shapes, uses = factors(out, inp)
    return Form({"w": (out, inp), **shapes}, {"w": plain(out, inp), **uses}, make)


def chained(out: int, inp: int, make: Callable[[Tensors], torch.Tensor]) -> Form:
    shapes, uses = factors(out, inp)
    middle = Use(0, 1, (RANK, RANK), ("output", "input"))
    return Form({**shapes, "m": (RANK, RANK)}, {**uses, "m": middle}, make)


def straight_through(w: torch.Tensor) -> torch.Tensor:
    return w + ((w * 8).round().clamp(-8, 8) / 8 - w).detach()


def standardised(w: torch.Tensor) -> torch.Tensor:
    return (w - w.mean(1, keepdim=True)) / (w.var(1, keepdim=True) + 1e-3).sqrt()


def crossed(p: Tensors) -> torch.Tensor:
    """A Kronecker product, written out."""
    a, b = p["a"], p["b"]
    return (a[:, None, :, None] * b[None, :, None, :]).reshape(a.size(0) * b.size(0), a.size(1) * b.size(1))


FORMS: dict[str, Callable[[int, int], Form]] = {
    "scaled": lambda o, i: of_weight(o, i, lambda p: p["w"] * 0.5),
    "rows": lambda o, i: of_weight(o, i, lambda p: functional.normalize(p["w"], dim=1)),
    "columns": lambda o, i: of_weight(o, i, lambda p: functional.normalize(p["w"], dim=0)),
    "masked": lambda o, i: of_weight(o, i, lambda p: p["w"] * p["mask"], mask=(torch.rand(o, i) > 0.3).float()),
    "chosen": lambda o, i: of_weight(o, i, lambda p: torch.where(p["mask"], p["w"], 0.0), mask=torch.rand(o, i) > 0.3),
    "over_norm": lambda o, i: of_weight(o, i, lambda p: 4 * p["w"] / p["w"].norm()),
    "over_sigma": lambda o, i: of_weight(
        o,
        i,
        lambda p: p["w"] / (1 + torch.dot(p["u"], torch.mv(p["w"], p["v"])).square()).sqrt(),
        u=torch.randn(o),
        v=torch.randn(i),
    ),
    "noisy": lambda o, i: Form(
        {"w": (o, i), "s": (o, i)},
        {"w": plain(o, i), "s": plain(o, i)},
        lambda p: p["w"] + 0.1 * p["s"] * torch.rand(o, i).to(p["w"].dtype),
    ),
    "softmax": lambda o, i: of_weight(o, i, lambda p: p["w"].softmax(1)),
    "softmax_columns": lambda o, i: of_weight(o, i, lambda p: p["w"].softmax(0)),
    "rounded": lambda o, i: of_weight(o, i, lambda p: straight_through(p["w"])),
    "standardised": lambda o, i: of_weight(o, i, lambda p: standardised(p["w"])),
    "normed": lambda o, i: of_weight(o, i, lambda p: functional.layer_norm(p["w"], [i])),
    "shuffled": lambda o, i: of_weight(o, i, lambda p: p["w"][p["order"]] * 2, order=torch.randperm(o)),
    "shuffled_columns": lambda o, i: of_weight(o, i, lambda p: p["w"][:, p["order"]] * 2, order=torch.randperm(i)),
    "converted": lambda o, i: of_weight(o, i, lambda p: (p["w"].double() * 2).to(p["w"].dtype)),
    "triangle": lambda o, i: of_weight(o, i, lambda p: p["w"].tril(2) + 0.5 * p["w"].triu(3)),
    "triangle_of_rows": lambda o, i: of_weight(o, i, lambda p: p["w"].triu(-2) * 1.5),
    "reflected": lambda o, i: of_weight(
        o, i, lambda p: p["w"] - 2 * torch.outer(p["v"], p["v"] @ p["w"]), v=0.2 * torch.randn(o)
    ),
    "turned": lambda o, i: Form(
        {"w": (i, o)},
        {"w": Use(1, 0, (i, o))},
        lambda p: torch.tanh(p["w"]) * p["s"],
        {"s": torch.rand(o)},
        turned=True,
    ),
    "transposed": lambda o, i: Form({"w": (i, o)}, {"w": Use(1, 0, (i, o))}, lambda p: (p["w"] * 0.5).t()),
    "weight_norm": lambda o, i: Form(
        {"v": (o, i), "g": (o, 1)},
        {"v": plain(o, i), "g": Use(0, None)},
        lambda p: p["g"] * p["v"] / p["v"].norm(dim=1, keepdim=True),
    ),
    "gated": lambda o, i: Form(
        {"w": (o, i), "m": (o, i)}, {"w": plain(o, i), "m": plain(o, i)}, lambda p: p["w"] * p["m"].sigmoid()
    ),
    "scaled_columns": lambda o, i: Form(
        {"w": (o, i), "s": (i,)}, {"w": plain(o, i), "s": Use(None, 0)}, lambda p: p["w"] * (1 + p["s"])
    ),
    "outer": lambda o, i: Form(
        {"u": (o,), "v": (i,)}, {"u": Use(0, None), "v": Use(None, 0)}, lambda p: p["u"][:, None] * p["v"][None, :]
    ),
    "joined": lambda o, i: Form(
        {"w": (o - o // 2, i), "v": (o // 2, i)},
        {"w": plain(o - o // 2, i), "v": plain(o // 2, i)},
        lambda p: torch.cat([p["w"], p["v"].neg()], 0),
        is_apart=True,
    ),
    "joined_columns": lambda o, i: Form(
        {"w": (o, i - i // 2), "v": (o, i // 2)},
        {"w": Use(0, None, (i - i // 2, o)), "v": Use(0, None, (i // 2, o))},  # its input would be taken apart
        lambda p: torch.cat([p["w"], p["v"].neg()], 1),
    ),
    "stacked": lambda o, i: Form(
        {"w": (o, i), "v": (o, i)},
        {"w": plain(o, i), "v": plain(o, i)},
        lambda p: torch.stack([p["w"], p["v"]]).mean(0),
    ),
    "mixed": lambda o, i: Form(
        {"w": (3, o, i)},
        {"w": Use(1, 2, (i, o))},
        lambda p: (p["c"].softmax(0)[:, None, None] * p["w"]).sum(0),
        {"c": torch.randn(3)},
    ),
    "mixed_learned": lambda o, i: Form(
        {"w": (3, o, i), "c": (3,)},
        {"w": Use(1, 2, (i, o)), "c": Use(None, None)},
        lambda p: torch.einsum("k,koi->oi", p["c"].softmax(0), p["w"]),
    ),
    "half": lambda o, i: Form(
        {"w": (2 * o, i)},
        {"w": Use(0, 1, (i, 2 * o))},
        lambda p: torch.sub(*(p["w"] * 0.5).chunk(2, 0)),
        parts="parts 2",
    ),
    "flat": lambda o, i: Form({"w": (o * i,)}, {"w": Use(0, None, (i, o))}, lambda p: p["w"].sin().view(o, i)),
    "heads": lambda o, i: Form(
        {"w": (i, 2, o // 2)},
        {"w": Use(1, 0, (i, o // 2 * 2))},
        lambda p: functional.pad((p["w"] * 0.5).permute(1, 2, 0).reshape(o // 2 * 2, i), (0, 0, 0, o % 2)),
    ),
    "crossed": lambda o, i: Form(
        {"a": (o // 2, 2), "b": (2, i // 2)},
        {"a": plain(o // 2, 2), "b": Use(0, 1, (i // 2, 2), ("output", "input"))},
        lambda p: functional.pad(crossed(p), (0, i % 2, 0, o % 2)),
    ),
    "adapted": lambda o, i: adapted(o, i, lambda p: p["w"] + 0.5 * p["b"] @ p["a"]),
    "adapted_addmm": lambda o, i: adapted(o, i, lambda p: torch.addmm(p["w"], p["b"], p["a"])),
    "adapted_linear": lambda o, i: adapted(o, i, lambda p: p["w"] + functional.linear(p["b"], p["a"].t())),
    "factors": lambda o, i: Form(*factors(o, i), lambda p: p["b"] @ p["a"]),
    "scaled_factors": lambda o, i: Form(
        {**factors(o, i)[0], "s": (RANK,)}, factors(o, i)[1], lambda p: (p["b"] * p["s"]) @ p["a"]
    ),
    "chain_left": lambda o, i: chained(o, i, lambda p: p["b"] @ p["m"] @ p["a"]),
    "chain_right": lambda o, i: chained(o, i, lambda p: p["b"] @ (p["m"] @ p["a"])),
    "chain_multi": lambda o, i: chained(o, i, lambda p: torch.einsum("or,rs,si->oi", p["b"], p["m"], p["a"])),
}


def by_output(weight: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    slopes = torch.arange(weight.size(-2)).to(x.dtype) * 0.13 + 0.4
    return (x.mean((1, 2), keepdim=True) * slopes[:, None]).sigmoid()


# Of a weight [outputs, inputs] and activations [samples, sequence, inputs]: factors of a weight for each sample.
MODULATIONS: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "inputs": lambda weight, x: 1 + x.mean(1, keepdim=True),
    "outputs": by_output,
    "gate": lambda weight, x: x.mean((1, 2), keepdim=True).sigmoid(),
    "both": lambda weight, x: by_output(weight, x) * (1 + x.amax(1, keepdim=True)),
}


class MadeLinear(nn.Module):
    """A linear layer with such a weight. Its own bias, if it has one, is read as it is or through a function."""

    def __init__(self, inputs: int, outputs: int, choices: Choices, role: str) -> None:
        super().__init__()
        self.kind = choices.pick(tuple(FORMS))
        self.form, self.role = FORMS[self.kind](outputs, inputs), role
        self.doubles = choices.flag()
        for name, shape in self.form.shapes.items():
            self.register_parameter(name, nn.Parameter(0.4 * torch.randn(shape)))
        for name, tensor in self.form.buffers.items():
            self.register_buffer(name, tensor)
        if choices.flag() and not self.form.turned:
            self.bias = nn.Parameter(torch.zeros(outputs))
        self.modulation = "" if self.form.turned else choices.pick(("", "", "", *MODULATIONS))
        self.demodulates = choices.flag()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        tensors = {**dict(self.named_parameters()), **dict(self.named_buffers())}
        bias = tensors.pop("bias", None)
        weight = self.form.make(tensors)
        if self.form.turned:
            return x @ weight
        if self.modulation:
            product = torch.einsum("bsi,boi->bso", x, self.modulated(weight, x))
            return product if bias is None else product + bias
        return functional.linear(x, weight, 2 * bias if bias is not None and self.doubles else bias)

    def modulated(self, weight: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        """A weight for each sample, scaled by what its activations say."""
        weight = weight * MODULATIONS[self.modulation](weight, x)
        if self.demodulates:
            weight = weight * (weight.square().sum(2, keepdim=True) + 1e-2).rsqrt()
        return weight

    def divided(self, side: str) -> dict[str, int]:
        """The dims of parameters that a style divides: of features that meet an activation, or else the inner ones."""
        uses = {name: (getattr(use, side), side in use.inner) for name, use in self.form.uses.items()}
        # A bias that is added to activations is not part of a product.
        if hasattr(self, "bias") and side == "output" and not self.modulation:
            uses["bias"] = (0, False)
        met = {name: dim for name, (dim, inner) in uses.items() if dim is not None and not inner}
        return met or {name: dim for name, (dim, _) in uses.items() if dim is not None}

    def limit(self, side: str) -> int:
        """The most ranks that a style can divide it over."""
        parts = 2 if self.form.parts else 1
        sizes = [self.get_parameter(name).size(dim) for name, dim in self.divided(side).items() if name != "bias"]
        return min(sizes, default=0) // parts


class Made(Layer):
    """Up and down by weights that are made of others."""

    def __init__(self, block: case.Block, sizes: case.Sizes) -> None:
        super().__init__(block, sizes)
        self.up = MadeLinear(sizes.features, sizes.inner, self.choices, "wide")
        self.down = MadeLinear(sizes.inner, sizes.features, self.choices, "narrow")

    def forward(self, x: torch.Tensor, context: Context) -> torch.Tensor:
        return x + 0.5 * torch.tanh(self.down(torch.tanh(self.up(torch.tanh(x)))))


def made_layers(model: nn.Module) -> Iterator[tuple[str, MadeLinear]]:
    return ((path, module) for path, module in model.named_modules() if isinstance(module, MadeLinear))


#
# What the compiler reports about them
#


def layout_faults(drawn: case.Case, model: nn.Module, report: dict) -> list[str]:
    """Parameters that are divided otherwise than their style says. `report` is that of `meshplan check --json`."""
    styles = {entry.path: entry.clauses[0] for entry in drawn.entries}
    layouts = {name: row["layout"] for row in report["parameters"] for name in row["names"]}
    faults = []
    for path, module in made_layers(model):
        style = styles.get(path, "replicate").split()[0]
        if style not in ("colwise", "rowwise", "replicate"):
            continue
        wanted = module.divided("output" if style == "colwise" else "input") if style != "replicate" else {}
        axes = [size for name, size in drawn.axes if re.search(rf"\b{name}\b", styles.get(path, ""))]
        for name, parameter in module.named_parameters():
            expected = [wanted[name]] if name in wanted and math.prod(axes) > 1 else []
            dims = re.findall(r"\d+(?: over (?:\([^)]*\)|\w+)[^,\]]*)?", layouts[f"{path}.{name}"])
            found = [dim for dim, text in enumerate(dims) if " over " in text]
            if found != expected or len(dims) != parameter.dim():
                faults.append(f"{path}.{name} ({module.kind}) under {style}: {layouts[f'{path}.{name}']}")
    return faults


def init_items(model: nn.Module, choices: Choices) -> list[str]:
    """Entries of `init` whose widths follow from fans, for what has some, and the rest."""
    items = []
    for path, module in made_layers(model):
        for name, use in module.form.uses.items():
            if use.fans:
                kind = choices.pick(("kaiming normal fan in", "kaiming normal fan out", "xavier normal"))
                items.append(f"{path}.{name} {kind}")
    return [*items, "rest normal 0.02"] if items else []


def fan_faults(items: list[str], model: nn.Module, schedule: str) -> list[str]:
    """Entries that are drawn with another deviation than torch.nn.init has. `schedule` is that of `compile --emit`."""
    layers, faults = dict(made_layers(model)), []
    for item in items:
        name, _, kind = item.partition(" ")
        path, _, leaf = name.rpartition(".")
        if path not in layers:
            continue
        inside, outside = layers[path].form.uses[leaf].fans
        wanted = math.sqrt(
            2 / {"kaiming normal fan in": inside, "kaiming normal fan out": outside}.get(kind, inside + outside)
        )
        found = re.search(rf'\["{re.escape(name)}"\][^\n]*? init <[^>]*std = ([-+.\de]+)', schedule)
        if not found or abs(float(found[1]) / wanted - 1) > 1e-6:
            faults.append(f"{name} ({layers[path].kind}), {kind}: {found and found[1]} for {wanted:.6g}")
    return faults
