"""What blocks are made of: the base of blocks, weights in several forms, walks through operators."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import nn

from harness.differential import case
from harness.differential.choices import Choices
from harness.differential.operators import (
    composites,
    elementwise,
    functions,
    others,
    reductions,
    shapes,
    vocabulary,
    whole_dims,
    windows,
)

STEPS = elementwise.STEPS | shapes.STEPS | reductions.STEPS | others.STEPS
STEPS |= functions.STEPS | whole_dims.STEPS | windows.STEPS
STEPS |= composites.STEPS | vocabulary.STEPS
KEEPING = elementwise.STEPS | functions.STEPS  # steps that keep the shape
# How many operators a step chooses from, where it is more than one.
FORMS = {"logic": 12, "made": 16, "converted": 12, "compare": 8, "where": 6, "div": 6, "pow": 4, "clamp": 3, "add": 2}
FORMS |= {"sub": 2, "rsub": 2, "mul": 2, "look_up": 8, "product": 12, "pool": 28, "norm": 16, "order": 7, "softmax": 7}
FORMS |= {"view": 4, "split": 4, "select": 2, "squeeze": 3, "join": 2, "pad": 4, "repeat": 2, "scatter": 2, "turn": 2}
FORMS |= {"sum": 2, "mean": 3, "amax": 2, "max_position": 2, "min_position": 2, "any": 2, "all": 2, "scan": 2}
FORMS |= functions.FORMS | whole_dims.FORMS | windows.FORMS
FORMS |= composites.FORMS | vocabulary.FORMS
# Steps that may take groups of a dim: parts of a weight that cut them are refused.
GROUPED = {"turned", "view", "dim_shuffled", "stacked", "named"}
WINDOWED = {
    "pool",
    "spread",
    "dim_shuffled",
    "resized",
    "scaled",
}  # steps that read windows of the last one to three dims
LEAST_RESULT = 8  # the error of fewer numbers is a draw of luck
MOST_RESULT = 2 * shapes.MOST_ELEMENTS


@dataclass
class Context:
    """What blocks read besides the hidden state, and what they give besides it."""

    mask: torch.Tensor  # [batch, sequence], true where a token counts
    dropout: float = 0.0  # of the hidden state, and of what attention reads
    trains: bool = False
    outputs: dict[str, torch.Tensor] = field(default_factory=dict)


class Layer(nn.Module):
    """A block: takes and gives a hidden state of the same shape.

    Its modules may carry `units`, the number of pieces into which their features may be split, `parts`, how a plan must
    say that the weight is several ones, and `role`, which of the two sides of a pair they are.
    """

    def __init__(self, block: case.Block, sizes: case.Sizes) -> None:
        super().__init__()
        self.steps = block.steps
        self.name = block.name
        self.choices = Choices(block.numbers)

    def walk(self, x: torch.Tensor) -> torch.Tensor:
        """x through the steps; one that leaves too little, or too much, is left out."""
        for step in self.steps:
            result = STEPS[step.name](x, Choices(step.numbers, step.distinct)) if x.dim() else x
            result = result if result.dtype == x.dtype else result.to(x.dtype)
            if LEAST_RESULT <= result.numel() <= MOST_RESULT and result.dim() <= shapes.MOST_DIMS:
                x = result
        return x


class Turned(nn.Module):
    """A linear layer with its weight stored as [in, out], by one of the operators that may read it so."""

    def __init__(self, inputs: int, outputs: int, bias: bool, form: str) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(inputs, outputs) / inputs**0.5)
        self.bias = nn.Parameter(torch.zeros(outputs)) if bias else None
        self.form = form

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.form == "addmm" and self.bias is not None:
            product = torch.addmm(self.bias, x.reshape(-1, x.size(-1)), self.weight)
            return product.view(*x.shape[:-1], self.weight.size(1))
        if self.form == "mm":
            product = torch.mm(x.reshape(-1, x.size(-1)), self.weight).view(*x.shape[:-1], self.weight.size(1))
        elif self.form == "einsum":
            letters = "abcd"[: x.dim() - 1]
            product = torch.einsum(f"{letters}i,io->{letters}o", x, self.weight)
        elif self.form == "linear":
            product = nn.functional.linear(x, self.weight.t())
        else:
            product = torch.matmul(x, self.weight)
        return product if self.bias is None else product + self.bias


def linear(inputs: int, outputs: int, choices: Choices, role: str, units: int = 0, parts: str = "") -> nn.Module:
    bias = choices.flag()
    form = choices.pick(("module", "module", "module", "module", "addmm", "mm", "einsum", "linear", "matmul"))
    made = nn.Linear(inputs, outputs, bias) if form == "module" else Turned(inputs, outputs, bias, form)
    made.units, made.parts, made.role = units or min(inputs, outputs), parts, role
    return made
