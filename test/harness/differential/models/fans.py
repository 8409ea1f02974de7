"""A block in which many operators read one divided value, each alone.

A walk loses its division at the first operator that needs all of a dim; here every operator meets the division that the
style of one module makes.
"""

from __future__ import annotations

import torch
from torch import nn

from harness.differential import case
from harness.differential.choices import Choices
from harness.differential.models.layers import (
    GROUPED,
    LEAST_RESULT,
    MOST_RESULT,
    STEPS,
    WINDOWED,
    Context,
    Layer,
    linear,
)


def arranged(x: torch.Tensor, step: case.Step) -> torch.Tensor:
    """What an operator reads of x, [batch, sequence, features].

    Operators want certain dims whole: the one that a style divides comes first, in the middle or last, or is the
    channels of lines, images and volumes. What splits dim 1 takes it apart across its division if the style divides it.
    """
    number = step.numbers[-1]
    if step.name == "split":
        return x
    if step.name not in WINDOWED:
        return (x, x.transpose(1, 2), x.transpose(0, 1), x.movedim(-1, 0), x.select(0, 0), x.flatten(0, 1))[number % 6]
    lines = (x[:, :4].transpose(1, 2), x[..., :4])[number % 2]
    for _ in range(number // 2 % 3):
        lines = torch.stack([lines, lines.cos()], -1)
    return lines


def results_of(x: torch.Tensor, steps: list[case.Step]) -> list[torch.Tensor]:
    """What each operator makes of x; what is too little to be compared, or too much, is left out."""
    made = [STEPS[step.name](arranged(x, step), Choices(step.numbers, step.distinct)).to(x.dtype) for step in steps]
    return [result for result in made if LEAST_RESULT <= result.numel() <= MOST_RESULT]


class Inside(nn.Module):
    """A product and operators on the same input: a style that divides the input divides what they read."""

    def __init__(self, inputs: int, outputs: int, steps: list[case.Step]) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(outputs, inputs) / inputs**0.5)
        self.steps = steps
        self.units, self.parts, self.role = min(inputs, outputs), "", "inside"

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return nn.functional.linear(x, self.weight), *results_of(x, self.steps)


class Fan(Layer):
    """What its operators make is an output of the model each."""

    def __init__(self, block: case.Block, sizes: case.Sizes) -> None:
        super().__init__(block, sizes)
        inner = 2 * (self.choices.pick((sizes.inner, sizes.features)) // 2)
        self.is_inside, tied = self.choices.pick((False, False, True)), self.choices.flag()
        if self.is_inside:
            # Its addends are summed to the division that the next module wants, for all that read them there.
            self.before = linear(sizes.features, sizes.features, self.choices, "addends")
            self.first: nn.Module = Inside(sizes.features, inner, self.steps)
        else:
            self.first = linear(sizes.features, inner, self.choices, "source")
            self.first.readers, self.first.grouped = self.steps, GROUPED
        if tied and self.first.weight.shape == (inner, sizes.features):
            self.again = nn.Linear(sizes.features, inner, bias=False)
            self.again.weight = self.first.weight

    def forward(self, x: torch.Tensor, context: Context) -> torch.Tensor:
        start = torch.tanh(x)
        if hasattr(self, "again"):
            x = x + self.again(x).mean(-1, keepdim=True)
        if self.is_inside:
            made, *results = self.first(self.before(start))
        else:
            made = self.first(start)
            results = results_of(made, self.steps)
        for index, result in enumerate(results):
            context.outputs[f"{self.name}_{index}"] = result
        return x + made.mean(-1, keepdim=True)
