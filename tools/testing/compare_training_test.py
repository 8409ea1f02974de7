#!/usr/bin/env python3
"""Tests of the verdicts of compare_training.py, and of what check_training.py makes."""

from __future__ import annotations

import argparse
import contextlib
import io
import math
import tempfile
import unittest
from pathlib import Path

import torch
from check_training import make_batches, numbers_of, with_statements
from compare_training import Training, compare_losses, compare_parameters
from safetensors.torch import load_file, save_file


class Tied(torch.nn.Module):
    """One weight under two names."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = torch.nn.Linear(3, 3, bias=False), torch.nn.Linear(3, 3, bias=False)
        self.second.weight = self.first.weight

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"loss": self.second(self.first(x)).square().mean()}


def arguments(**values: object) -> argparse.Namespace:
    return argparse.Namespace(**{"optimizer": "sgd", "set": ["lr=0.1"], "clip": 0.0, "loss": "loss"} | values)


class TrainingTest(unittest.TestCase):
    def setUp(self) -> None:
        torch.manual_seed(1)
        self.module, self.x = Tied(), {"x": torch.randn(4, 3)}
        self.names = {"first.weight": ["first.weight", "second.weight"]}

    def expect_step(self, expected: torch.Tensor, options: argparse.Namespace) -> None:
        training = Training(self.module, self.names, options)
        training.step(self.x, ())
        torch.testing.assert_close(training.parameters()["first.weight"], expected)

    def gradient(self) -> torch.Tensor:
        weight = self.module.first.weight
        return torch.autograd.grad(self.module(**self.x)["loss"], weight)[0]

    def test_a_tied_weight_is_trained_once(self) -> None:
        self.expect_step(self.module.first.weight.detach() - 0.1 * self.gradient(), arguments())

    def test_two_parameters_that_are_one(self) -> None:
        expected = self.module.first.weight.detach() - 0.1 * self.gradient()
        self.module.second.weight = torch.nn.Parameter(self.module.first.weight.detach())
        self.expect_step(expected, arguments())
        torch.testing.assert_close(self.module.second.weight, self.module.first.weight)

    def test_clipping(self) -> None:
        gradient = self.gradient()
        limit = gradient.norm().item() / 4
        self.expect_step(self.module.first.weight.detach() - 0.1 * gradient / 4, arguments(clip=limit))

    def test_numbers(self) -> None:
        options = arguments(optimizer="adam", set=["lr=0.5", "beta1=0.25", "beta2=0.75"])
        group = Training(self.module, self.names, options).optimizer.param_groups[0]
        self.assertEqual((group["lr"], group["betas"]), (0.5, (0.25, 0.75)))


class VerdictTest(unittest.TestCase):
    def losses(self, ours: list[float], own: list[float], exact: list[float]) -> bool:
        with contextlib.redirect_stdout(io.StringIO()):
            tensors = {f"step{number}.loss": torch.tensor(loss) for number, loss in enumerate(ours)}
            return compare_losses(tensors, own, exact, "loss")

    def test_losses(self) -> None:
        self.assertTrue(self.losses([2.0, 1.0], [2.0, 1.0], [2.0, 1.0]))
        self.assertTrue(self.losses([2.00001], [2.0], [2.0]))
        self.assertFalse(self.losses([2.0001], [2.0], [2.0]))
        self.assertTrue(self.losses([2.003], [2.001], [2.0]))
        self.assertFalse(self.losses([2.005], [2.001], [2.0]))
        self.assertFalse(self.losses([math.nan], [2.0], [2.0]))

    def test_parameters(self) -> None:
        exact = {"a": torch.ones(2, dtype=torch.float64), "b": torch.zeros(2, dtype=torch.float64)}
        own = {name: tensor.float() for name, tensor in exact.items()}
        names = {"a": ["a", "tied"], "b": ["b"]}
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertTrue(compare_parameters({"tied": own["a"], "b": own["b"] + 9e-7}, own, exact, names))
            self.assertFalse(compare_parameters({"a": own["a"], "b": own["b"] + 2e-6}, own, exact, names))
            self.assertFalse(compare_parameters({"a": own["a"] * math.nan, "b": own["b"]}, own, exact, names))


class CheckTest(unittest.TestCase):
    def test_numbers_of_a_statement(self) -> None:
        self.assertEqual(numbers_of("adamw { lr 1e-2; weight_decay 0.1 }"), ("adamw", ["lr=1e-2", "weight_decay=0.1"]))
        self.assertEqual(numbers_of("sgd { lr 0.1; nesterov }"), ("sgd", ["lr=0.1", "nesterov=1"]))
        self.assertEqual(numbers_of("sgd"), ("sgd", []))

    def test_statements_stand_behind_the_loss(self) -> None:
        plan = 'plan p {\n  model "model.pt2"\n  loss  loss\n  rest: replicate\n}\n'
        text = with_statements(
            plan, Path("/a/b.pt2"), argparse.Namespace(optimizer="sgd", clip=2.0, statement=["freeze a"])
        )
        lines = [
            "plan p {",
            '  model "/a/b.pt2"',
            "  loss  loss",
            "  optimizer sgd",
            "  freeze a",
            "  clip_grad_norm 2.0",
        ]
        expected = "\n".join([*lines, "  rest: replicate", "}", ""])
        self.assertEqual(text, expected)

    def test_batches_keep_labels_with_their_tokens(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            ids = torch.arange(12).view(3, 4)
            save_file({"input_ids": ids, "labels": ids + 100, "pixels": torch.rand(2)}, folder / "i.safetensors")
            first, second = (load_file(path) for path in make_batches(folder / "i.safetensors", folder, 2))
            for batch in (first, second):
                self.assertTrue(torch.equal(batch["labels"], batch["input_ids"] + 100))
                self.assertTrue(torch.equal(batch["input_ids"].flatten().sort().values, torch.arange(12)))
            self.assertFalse(torch.equal(first["input_ids"], second["input_ids"]))


if __name__ == "__main__":
    unittest.main()
