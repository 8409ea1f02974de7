"""Tests of the verdicts of reference/gradients.py."""

from __future__ import annotations

import contextlib
import io
import math
import tempfile
import unittest
from pathlib import Path

import torch

from harness.reference.archives import load_program
from harness.reference.deviations import MOST_DRAWS
from harness.reference.gradients import PREFIX, GradientReference
from harness.tensors import Tensors


class Tied(torch.nn.Module):
    """A table that is read twice, a bias, and a parameter that the loss does not reach."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = torch.nn.Embedding(8, 4)
        self.head = torch.nn.Linear(4, 8)
        self.head.weight = self.embed.weight
        self.unused = torch.nn.Parameter(torch.ones(2))

    def forward(self, ids: torch.Tensor) -> Tensors:
        logits = self.head(self.embed(ids))
        return {"loss": logits.square().sum(), "logits": logits, "other": self.unused.sum()}


class Scaled(torch.nn.Module):
    """The loss is the first output, which has no name."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = torch.nn.Parameter(torch.arange(64) / 64)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x * self.scale).sin().sum()


def reference_of(module: torch.nn.Module, inputs: Tensors, loss: str = "loss") -> GradientReference:
    with tempfile.TemporaryDirectory() as folder:
        torch.export.save(torch.export.export(module.eval(), (), inputs), Path(folder) / "m.pt2")
        return GradientReference(load_program(Path(folder) / "m.pt2"), inputs, loss)


class Checks(unittest.TestCase):
    reference: GradientReference

    def check(self, outputs: Tensors, right: bool, said: str = "") -> None:
        with contextlib.redirect_stdout(io.StringIO()) as text:
            self.assertEqual(self.reference.compare(outputs, "run"), right)
        self.assertIn(said, text.getvalue())


class Verdicts(Checks):
    @classmethod
    def setUpClass(cls) -> None:
        torch.manual_seed(0)
        cls.reference = reference_of(Tied(), {"ids": torch.tensor([[1, 2, 5], [1, 1, 7]])})

    def outputs(self, **changes: torch.Tensor) -> Tensors:
        """Those of PyTorch, with some gradients or the loss changed."""
        named = {name if name == "loss" else f"{PREFIX}head.{name}": tensor for name, tensor in changes.items()}
        return {**self.reference.own, **named}

    def test_pytorch_itself_is_right(self) -> None:
        self.check(self.outputs(), True, "run: loss: error")

    def test_what_the_loss_does_not_reach_has_no_gradient(self) -> None:
        names = {"loss", f"{PREFIX}embed.weight", f"{PREFIX}head.bias"}
        self.assertEqual(set(self.reference.own), names)
        extra = {**self.outputs(), f"{PREFIX}unused": torch.zeros(2)}
        self.check(extra, False, "gradients.unused has no gradient in PyTorch")

    def test_a_tie_has_one_gradient_under_any_of_its_names(self) -> None:
        outputs = self.outputs()
        tied = outputs.pop(f"{PREFIX}embed.weight")
        self.check({**outputs, f"{PREFIX}head.weight": tied}, True)
        # It is the sum of both readers': rows that no id tells have that of the product alone.
        self.assertTrue((tied[[0, 3]] != 0).all())
        exact = self.reference.wide[f"{PREFIX}embed.weight"]
        ids = torch.tensor([[1, 2, 5], [1, 1, 7]])
        weight = self.reference.exact.state_dict()["embed.weight"].clone().requires_grad_()
        bias = self.reference.exact.state_dict()["head.bias"]
        torch.nn.functional.linear(weight[ids], weight, bias).square().sum().backward()
        torch.testing.assert_close(weight.grad, exact)

    def test_other_gradients_are_wrong(self) -> None:
        bias = self.outputs()[f"{PREFIX}head.bias"]
        self.check({"loss": self.outputs()["loss"]}, False, "gradients.embed.weight is missing")
        self.check(self.outputs(bias=bias.double()), False, "gradients.head.bias is torch.float64 [8], in PyTorch")
        self.check(self.outputs(bias=bias[:4]), False, "gradients.head.bias is torch.float32 [4]")
        self.check(self.outputs(bias=2 * bias), False, "gradients.head.bias: error")
        self.check(self.outputs(loss=2 * self.outputs()["loss"]), False, "loss: error")

    def test_no_number_is_wrong(self) -> None:
        for value in (math.nan, math.inf):
            self.check(self.outputs(bias=torch.full((8,), value)), False, "gradients.head.bias: error")
            self.check(self.outputs(loss=torch.tensor(value)), False, "loss: error")

    def test_a_gradient_may_err_by_a_millionth_of_the_largest_of_all(self) -> None:
        name = f"{PREFIX}head.bias"
        exact, magnitude = self.reference.wide[name], self.reference.magnitude
        self.assertEqual(
            magnitude, max(self.reference.wide[f"{PREFIX}{n}"].abs().max() for n in ("embed.weight", "head.bias"))
        )
        bound = max(3 * self.reference.errors.errors[name], 1e-6 * magnitude)
        self.check(self.outputs(bias=(exact + 0.8 * bound).float()), True)
        self.check(self.outputs(bias=(exact + 8 * bound).float()), False)

    def test_steps_do_not_add_to_each_other(self) -> None:
        first, again = self.reference.own_step(), self.reference.own_step()
        for name, tensor in first.items():
            self.assertTrue(torch.equal(tensor, again[name]), name)


class Halves(Checks):
    @classmethod
    def setUpClass(cls) -> None:
        torch.manual_seed(3)
        cls.inputs = {"x": torch.randn(4, 64).bfloat16()}

    def setUp(self) -> None:
        self.reference = reference_of(Scaled().bfloat16(), self.inputs, "0")

    def off(self, error: float) -> Tensors:
        """The exact gradient, but that one element is off by this, and rounded."""
        exact = self.reference.wide[f"{PREFIX}scale"].clone()
        exact[9] += error
        return {"0": self.reference.own["0"], f"{PREFIX}scale": exact.bfloat16()}

    def test_what_is_right_needs_no_other_draw(self) -> None:
        self.check(self.off(0), True)
        self.assertEqual(self.reference.errors.draws, 1)

    def test_an_error_is_held_against_the_largest_of_several_draws(self) -> None:
        name = f"{PREFIX}scale"
        first = self.reference.errors.errors[name]
        self.check(self.off(2.9 * first), True)
        self.assertEqual(self.reference.errors.draws, 1)
        self.check(self.off(1), False, "gradients.scale: error")
        self.assertEqual(self.reference.errors.draws, MOST_DRAWS)
        largest = self.reference.errors.errors[name]
        self.assertGreater(largest, 1.1 * first)
        self.assertLess(largest, 8 * first)
        self.check(self.off(2.9 * largest), True)

    def test_what_is_rounded_once_is_right(self) -> None:
        self.reference.errors.errors[f"{PREFIX}scale"] = 0.0  # as if PyTorch had been lucky
        self.check(self.off(0), True)
