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
from check_training import check_memory, make_batches, numbers_of, with_statements
from compare_forward import Tensors
from compare_training import Reference, Training, check_copies, compare_losses, compare_parameters, held_as
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
    return argparse.Namespace(
        **{"optimizer": "sgd", "set": ["lr=0.1"], "clip": 0.0, "loss": "loss", "master": False, "frozen": []} | values
    )


class TrainingTest(unittest.TestCase):
    def setUp(self) -> None:
        torch.manual_seed(1)
        self.module, self.x = Tied(), {"x": torch.randn(4, 3)}
        self.names = {"first.weight": ["first.weight", "second.weight"]}

    def expect_step(self, expected: torch.Tensor, options: argparse.Namespace) -> None:
        training = Training(self.module, self.names, options)
        training.step(self.x, ())
        torch.testing.assert_close(training.trained()["first.weight"], expected)

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

    def test_copies_are_trained_and_rounded(self) -> None:
        self.module.bfloat16()
        self.x = {"x": self.x["x"].bfloat16()}
        start = self.module.first.weight.detach().float()
        training = Training(self.module, self.names, arguments(master=True, set=["lr=1e-6"]))
        training.step(self.x, ())
        held = training.trained()["first.weight"]
        self.assertEqual(held.dtype, torch.float32)
        # So small a step is lost in 16 bits.
        self.assertFalse(torch.equal(held, start))
        torch.testing.assert_close(self.module.first.weight.float(), start, rtol=0, atol=0)

    def test_what_is_frozen_stays(self) -> None:
        start = self.module.first.weight.detach().clone()
        other = Tied()
        other.second.weight = torch.nn.Parameter(start.clone())
        training = Training(
            other, {name: [name] for name in ("first.weight", "second.weight")}, arguments(frozen=["second"])
        )
        training.step(self.x, ())
        torch.testing.assert_close(training.trained()["second.weight"], start, rtol=0, atol=0)
        self.assertFalse(torch.equal(other.first.weight, self.module.first.weight))

    def test_numbers(self) -> None:
        options = arguments(optimizer="adam", set=["lr=0.5", "beta1=0.25", "beta2=0.75"])
        group = Training(self.module, self.names, options).optimizer.param_groups[0]
        self.assertEqual((group["lr"], group["betas"]), (0.5, (0.25, 0.75)))


class Draws(Reference):
    """Errors that are given: of each loss and parameter, draw after draw."""

    def __init__(
        self, exact: Tensors, losses: list[float], draws: list[tuple[list[float], dict[str, float]]], half: bool
    ) -> None:
        self.given, self.given_exact, self.given_losses = draws, exact, losses
        super().__init__(lambda exact: self.fail(), [], (), half)

    def fail(self) -> Training:
        raise AssertionError("no training is needed")

    def add_draw(self) -> tuple[list[float], Tensors]:
        losses, errors = self.given[min(self.draws, len(self.given) - 1)]
        self.loss_errors = [max(pair) for pair in zip(self.loss_errors or losses, losses, strict=True)]
        self.errors = {name: max(self.errors.get(name, 0.0), error) for name, error in errors.items()}
        self.draws += 1
        return self.given_losses, self.given_exact


class VerdictTest(unittest.TestCase):
    def losses(self, ours: list[float], own: list[list[float]], exact: list[float], half: bool = False) -> bool:
        reference = Draws({}, exact, [(errors, {}) for errors in own], half)
        with contextlib.redirect_stdout(io.StringIO()):
            tensors = {f"step{number}.loss": torch.tensor(loss) for number, loss in enumerate(ours)}
            return compare_losses(tensors, reference, "loss")

    def test_losses(self) -> None:
        self.assertTrue(self.losses([2.0, 1.0], [[0.0, 0.0]], [2.0, 1.0]))
        self.assertTrue(self.losses([2.00001], [[0.0]], [2.0]))
        self.assertFalse(self.losses([2.0001], [[0.0]], [2.0]))
        self.assertTrue(self.losses([2.003], [[0.001]], [2.0]))
        self.assertFalse(self.losses([2.005], [[0.001]], [2.0]))
        self.assertFalse(self.losses([math.nan], [[0.0]], [2.0]))

    def test_losses_of_16_bits_are_held_against_draws(self) -> None:
        self.assertTrue(self.losses([2.14, 1.0], [[0.1, 0.01]], [2.0, 1.0], half=True))
        self.assertTrue(self.losses([2.0, 1.14], [[0.1, 0.01]], [2.0, 1.0], half=True))
        self.assertTrue(self.losses([2.14], [[0.01], [0.02], [0.1]], [2.0], half=True))
        self.assertFalse(self.losses([2.16], [[0.01], [0.02], [0.1]], [2.0], half=True))
        self.assertFalse(self.losses([math.nan], [[0.1]], [2.0], half=True))

    def parameters(self, ours: Tensors, half: bool = False, errors: tuple[float, ...] = (0.0,)) -> bool:
        exact = {"a": torch.ones(2, dtype=torch.float64), "b": torch.zeros(2, dtype=torch.float64)}
        reference = Draws(exact, [], [([], {"a": error, "b": error}) for error in errors], half)
        with contextlib.redirect_stdout(io.StringIO()):
            return compare_parameters(ours, reference, {"a": ["a", "tied"], "b": ["b"]})

    def test_parameters(self) -> None:
        a, b = torch.ones(2), torch.zeros(2)
        self.assertTrue(self.parameters({"tied": a, "b": b + 9e-7}))
        self.assertFalse(self.parameters({"a": a, "b": b + 2e-6}))
        self.assertFalse(self.parameters({"a": a * math.nan, "b": b}))
        self.assertTrue(self.parameters({"a": a, "b": b + 0.14}, half=True, errors=(0.05, 0.1)))
        self.assertFalse(self.parameters({"a": a, "b": b + 0.16}, half=True, errors=(0.05, 0.1)))

    def test_the_copy_is_compared(self) -> None:
        a, rounded = torch.ones(2), torch.full((2,), 1.01)
        self.assertIs(held_as(["x", "a"], {"a": rounded, "a.master": a}), a)
        self.assertIs(held_as(["x", "a"], {"a": rounded}), rounded)

    def copies(self, ours: Tensors, frozen: tuple[str, ...] = ()) -> bool:
        with contextlib.redirect_stdout(io.StringIO()):
            return check_copies(ours, {"a": ["a"]}, frozen)

    def test_copies(self) -> None:
        wide = torch.tensor([1.001, 2.003])
        self.assertTrue(self.copies({"a": wide}))
        self.assertTrue(self.copies({"a": wide.bfloat16(), "a.master": wide}))
        self.assertFalse(self.copies({"a": wide.bfloat16() + 1, "a.master": wide}))
        self.assertFalse(self.copies({"a": wide.bfloat16()}))
        self.assertTrue(self.copies({"a": wide.bfloat16()}, frozen=("a",)))


class CheckTest(unittest.TestCase):
    def test_numbers_of_a_statement(self) -> None:
        self.assertEqual(numbers_of("adamw { lr 1e-2; weight_decay 0.1 }"), ("adamw", ["lr=1e-2", "weight_decay=0.1"]))
        self.assertEqual(numbers_of("sgd { lr 0.1; nesterov }"), ("sgd", ["lr=0.1", "nesterov=1"]))
        self.assertEqual(numbers_of("sgd"), ("sgd", []))

    def test_the_largest_rank_is_within_a_tenth(self) -> None:
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertTrue(check_memory("rank 0: peak 5 planned 100\nrank 1: peak 109 planned 100\n"))
            self.assertTrue(check_memory("rank 0: peak 91 planned 100\n"))
            self.assertFalse(check_memory("rank 0: peak 111 planned 100\nrank 1: peak 100 planned 100\n"))
            self.assertFalse(check_memory("rank 0: peak 89 planned 100\n"))

    def test_statements_stand_behind_the_loss(self) -> None:
        plan = 'plan p {\n  model "model.pt2"\n  loss  loss\n  rest: replicate\n}\n'
        text = with_statements(
            plan,
            Path("/a/b.pt2"),
            argparse.Namespace(optimizer="sgd", clip=2.0, statement=["microbatches 2"], frozen=["a", "b"]),
        )
        lines = [
            "plan p {",
            '  model "/a/b.pt2"',
            "  loss  loss",
            "  optimizer sgd",
            "  microbatches 2",
            "  freeze a, b",
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
