"""Tests of the verdicts of reference/training.py, and of what trainings/training.py makes."""

from __future__ import annotations

import argparse
import contextlib
import functools
import io
import math
import tempfile
import unittest
from collections.abc import Callable
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from harness.arguments import parser_of
from harness.plans import with_statements
from harness.reference.deviations import rounding_of
from harness.reference.training import (
    Reference,
    Settings,
    Training,
    check_copies,
    check_states,
    compare,
    compare_losses,
    compare_parameters,
    held_as,
    microbatches,
    worst_parameter,
)
from harness.runs.memory import check_steps
from harness.tensors import Tensors
from harness.trainings.steps import add_training, make_batches, optimizer_of, settings_of, statements_of, with_loss_unit
from harness.trainings.training import later


class Tied(torch.nn.Module):
    """One weight under two names."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = torch.nn.Linear(3, 3, bias=False), torch.nn.Linear(3, 3, bias=False)
        self.second.weight = self.first.weight

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"loss": self.second(self.first(x)).square().mean()}


def arguments(*words: str) -> argparse.Namespace:
    """Those of a command line."""
    parser = parser_of(None, "runs")
    add_training(parser)
    needed = ["m", "--models", "m", "--work", "w", "--plan", "p", "--mesh", "dp=1", "--optimizer", "sgd"]
    return parser.parse_args([*needed, *words])


def quietly(verdict: Callable[..., bool], *values: object) -> bool:
    with contextlib.redirect_stdout(io.StringIO()):
        return verdict(*values)


class TrainingTest(unittest.TestCase):
    def setUp(self) -> None:
        torch.manual_seed(1)
        self.module, self.x = Tied(), {"x": torch.randn(4, 3)}
        self.names = {"first.weight": ["first.weight", "second.weight"]}

    def expect_step(self, expected: torch.Tensor, options: Settings) -> None:
        training = Training(self.module, self.names, options)
        training.step(self.x, ())
        torch.testing.assert_close(training.trained()["first.weight"], expected)

    def gradient(self) -> torch.Tensor:
        weight = self.module.first.weight
        return torch.autograd.grad(self.module(**self.x)["loss"], weight)[0]

    def test_a_tied_weight_is_trained_once(self) -> None:
        self.expect_step(self.module.first.weight.detach() - 0.1 * self.gradient(), Settings())

    def test_two_parameters_that_are_one(self) -> None:
        expected = self.module.first.weight.detach() - 0.1 * self.gradient()
        self.module.second.weight = torch.nn.Parameter(self.module.first.weight.detach())
        self.expect_step(expected, Settings())
        torch.testing.assert_close(self.module.second.weight, self.module.first.weight)

    def test_clipping(self) -> None:
        gradient = self.gradient()
        limit = gradient.norm().item() / 4
        self.expect_step(self.module.first.weight.detach() - 0.1 * gradient / 4, Settings(clip=limit))

    def test_the_mean_of_microbatches(self) -> None:
        """Of losses that are not means over samples."""
        self.module.forward = lambda x: {"loss": self.module.second(self.module.first(x)).sum(0).square().sum()}
        weight = self.module.first.weight
        parts = [self.module(x)["loss"] for x in self.x["x"].chunk(2)]
        gradients = [torch.autograd.grad(part, weight)[0] for part in parts]
        training = Training(self.module, self.names, Settings(microbatches=2))
        expected = weight.detach() - 0.1 * (gradients[0] + gradients[1]) / 2
        self.assertAlmostEqual(training.step(self.x, ()), sum(part.item() for part in parts) / 2, places=5)
        torch.testing.assert_close(training.trained()["first.weight"], expected)

    def test_inputs_of_microbatches(self) -> None:
        x, number = torch.arange(12).view(6, 2), torch.tensor(3)
        parts = microbatches({"x": x, "number": number}, 3)
        self.assertEqual([part["x"].tolist() for part in parts], [x[:2].tolist(), x[2:4].tolist(), x[4:].tolist()])
        self.assertTrue(all(part["number"] is number for part in parts))

    def copies_after_a_small_step(self, master: str) -> tuple[torch.Tensor, torch.Tensor]:
        """The weight before and after it, as it is trained; the module's own, of 16 bits, loses the step."""
        self.module.bfloat16()
        start = self.module.first.weight.detach().float()
        training = Training(self.module, self.names, Settings(master=master, numbers={"lr": 1e-6}))
        training.step({"x": self.x["x"].bfloat16()}, ())
        torch.testing.assert_close(self.module.first.weight.float(), start, rtol=0, atol=0)
        return start, training.trained()["first.weight"]

    def test_copies_are_trained_and_rounded(self) -> None:
        start, held = self.copies_after_a_small_step("float32")
        self.assertEqual(held.dtype, torch.float32)
        self.assertFalse(torch.equal(held, start))

    def test_copies_may_be_wider_still(self) -> None:
        start, held = self.copies_after_a_small_step("float64")
        self.assertEqual(held.dtype, torch.float64)
        self.assertFalse(torch.equal(held, held.float().double()))
        torch.testing.assert_close(held, start.double(), rtol=1e-4, atol=1e-4)

    def test_what_is_wider_than_its_copy_stays(self) -> None:
        training = Training(self.module.double(), self.names, Settings(master="float32"))
        training.step({"x": self.x["x"].double()}, ())
        self.assertEqual(training.trained()["first.weight"].dtype, torch.float64)

    def test_what_is_gathered_is_rounded_and_gradients_are_not(self) -> None:
        start = self.module.first.weight.detach().clone()
        rounded = Tied()
        with torch.no_grad():
            rounded.first.weight.copy_(start.bfloat16())
        gradient = torch.autograd.grad(rounded(**self.x)["loss"], rounded.first.weight)[0]
        self.assertFalse(torch.equal(gradient, gradient.bfloat16().float()))
        training = Training(self.module, self.names, Settings(gather="bfloat16"))
        torch.testing.assert_close(self.module.first.weight, rounded.first.weight, rtol=0, atol=0)
        training.step(self.x, ())
        held = training.trained()["first.weight"]
        torch.testing.assert_close(held, start - 0.1 * gradient)
        torch.testing.assert_close(self.module.second.weight, held.bfloat16().float(), rtol=0, atol=0)

    def test_what_is_frozen_stays(self) -> None:
        start = self.module.first.weight.detach().clone()
        other = Tied()
        other.second.weight = torch.nn.Parameter(start.clone())
        training = Training(
            other, {name: [name] for name in ("first.weight", "second.weight")}, Settings(frozen=["second"])
        )
        training.step(self.x, ())
        torch.testing.assert_close(training.trained()["second.weight"], start, rtol=0, atol=0)
        self.assertFalse(torch.equal(other.first.weight, self.module.first.weight))

    def test_numbers(self) -> None:
        options = Settings("adam", {"lr": 0.5, "beta1": 0.25, "beta2": 0.75})
        group = Training(self.module, self.names, options).optimizer.param_groups[0]
        self.assertEqual((group["lr"], group["betas"]), (0.5, (0.25, 0.75)))


class Draws(Reference):
    """Errors that are given: of each loss and parameter, draw after draw."""

    def __init__(
        self,
        exact: Tensors,
        losses: list[float],
        draws: list[tuple[list[float], dict[str, float]]],
        half: bool,
        names: dict[str, list[str]] | None = None,
    ) -> None:
        self.given, self.given_exact, self.given_losses = draws, exact, losses
        names = names or {name: [name] for name in exact}
        super().__init__(lambda exact: self.fail(), names, [], (), half)

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
        tensors = {f"step{number}.loss": torch.tensor(loss) for number, loss in enumerate(ours)}
        return quietly(compare_losses, tensors, reference, "loss")

    def test_losses(self) -> None:
        self.assertTrue(self.losses([2.0, 1.0], [[0.0, 0.0]], [2.0, 1.0]))
        self.assertTrue(self.losses([2.00001], [[0.0]], [2.0]))
        self.assertFalse(self.losses([2.0001], [[0.0]], [2.0]))
        self.assertTrue(self.losses([2.003], [[0.001]], [2.0]))
        self.assertFalse(self.losses([2.005], [[0.001]], [2.0]))
        self.assertFalse(self.losses([math.nan], [[0.0]], [2.0]))

    def test_losses_of_16_bits_are_held_against_draws(self) -> None:
        self.assertTrue(self.losses([2.14, 1.0], [[0.1, 0.01]], [2.0, 1.0], half=True))
        # Each loss against PyTorch's errors of that loss.
        self.assertTrue(self.losses([2.0, 1.014], [[0.1, 0.01]], [2.0, 1.0], half=True))
        self.assertFalse(self.losses([2.0, 1.14], [[0.1, 0.01]], [2.0, 1.0], half=True))
        self.assertTrue(self.losses([2.14], [[0.01], [0.02], [0.1]], [2.0], half=True))
        self.assertFalse(self.losses([2.16], [[0.01], [0.02], [0.1]], [2.0], half=True))
        self.assertFalse(self.losses([math.nan], [[0.1]], [2.0], half=True))

    def parameters(self, ours: Tensors, half: bool = False, errors: tuple[float, ...] = (0.0,)) -> bool:
        exact = {"a": torch.ones(2, dtype=torch.float64), "b": torch.zeros(2, dtype=torch.float64)}
        draws: list[tuple[list[float], dict[str, float]]] = [([], {"a": error, "b": error}) for error in errors]
        return quietly(compare_parameters, ours, Draws(exact, [], draws, half, {"a": ["a", "tied"], "b": ["b"]}))

    def test_parameters(self) -> None:
        a, b = torch.ones(2), torch.zeros(2)
        self.assertTrue(self.parameters({"tied": a, "b": b + 9e-7}))
        self.assertFalse(self.parameters({"a": a, "b": b + 2e-6}))
        self.assertFalse(self.parameters({"a": a * math.nan, "b": b}))
        self.assertTrue(self.parameters({"a": a, "b": b + 0.14}, half=True, errors=(0.05, 0.1)))
        self.assertFalse(self.parameters({"a": a, "b": b + 0.16}, half=True, errors=(0.05, 0.1)))

    def test_what_a_change_is_rounded_by(self) -> None:
        # Between 2 and 4 bfloat16 has steps of 2 ** -6, and float16 of 2 ** -9.
        self.assertEqual(rounding_of(torch.tensor([0.5, -3.0], dtype=torch.bfloat16)), 2**-7)
        self.assertEqual(rounding_of(torch.tensor([0.5, -3.0], dtype=torch.float16)), 2**-10)
        self.assertEqual(rounding_of(torch.tensor([0.5, -3.0])), 0)
        self.assertEqual(rounding_of(torch.zeros(2, dtype=torch.bfloat16)), 0)
        self.assertEqual(rounding_of(torch.zeros(0, dtype=torch.bfloat16)), 0)

    def test_the_copy_is_compared(self) -> None:
        a, rounded = torch.ones(2), torch.full((2,), 1.01)
        self.assertIs(held_as(["x", "a"], {"a": rounded, "a.master": a}), a)
        self.assertIs(held_as(["x", "a"], {"a": rounded}), rounded)

    def test_the_worst_parameter_is_named(self) -> None:
        exact = {name: torch.ones(2, dtype=torch.float64) for name in ("a", "b")}
        reference = Draws(exact, [], [([], {"a": 0.1, "b": 0.1})], half=False)
        name, share = worst_parameter({"a": torch.ones(2) + 0.1, "b": torch.ones(2) - 0.2}, reference)
        self.assertEqual(name, "b")
        self.assertAlmostEqual(share, 0.5, places=6)

    def copies(self, ours: Tensors, dtype: torch.dtype = torch.float32, frozen: tuple[str, ...] = ()) -> bool:
        return quietly(check_copies, ours, {"a": ["a"]}, frozen, dtype)

    def test_copies(self) -> None:
        wide = torch.tensor([1.001, 2.003])
        self.assertTrue(self.copies({"a": wide}))
        self.assertTrue(self.copies({"a": wide.bfloat16(), "a.master": wide}))
        self.assertFalse(self.copies({"a": wide.bfloat16() + 1, "a.master": wide}))
        self.assertFalse(self.copies({"a": wide.bfloat16()}))
        self.assertTrue(self.copies({"a": wide.bfloat16()}, frozen=("a",)))

    def test_copies_have_the_dtype_that_is_named(self) -> None:
        wide = torch.tensor([1.001, 2.003])
        for dtype in (torch.float64, torch.float16):
            self.assertFalse(self.copies({"a": wide.bfloat16(), "a.master": wide}, dtype))
        self.assertTrue(self.copies({"a": wide, "a.master": wide.double()}, torch.float64))
        self.assertFalse(self.copies({"a": wide, "a.master": wide.double() + 1}, torch.float64))

    def states(self, ours: Tensors, frozen: tuple[str, ...] = ()) -> bool:
        held = {"tied": torch.ones(2), "b": torch.ones(2)}
        return quietly(check_states, held | ours, {"a": ["a", "tied"], "b": ["b"]}, frozen, torch.bfloat16)

    def test_states(self) -> None:
        half, wide = torch.zeros(2, dtype=torch.bfloat16), torch.zeros(2)
        momentum = {"tied.momentum_buffer": half, "b.momentum_buffer": half}
        self.assertTrue(self.states(momentum))
        self.assertFalse(self.states(momentum | {"b.momentum_buffer": wide}))
        self.assertTrue(self.states({f"{name}.exp_avg{end}": half for name in ("tied", "b") for end in ("", "_sq")}))
        self.assertFalse(self.states(momentum | {"tied.exp_avg": half, "tied.exp_avg_sq": wide}))
        # One has none.
        self.assertFalse(self.states({"tied.momentum_buffer": half}))
        self.assertTrue(self.states({"tied.momentum_buffer": half}, frozen=("b",)))

    def whole(self, ours: Tensors, **options: object) -> bool:
        """Of a weight that is 1.5, with a loss of 2."""
        reference = Draws({"a": torch.tensor([1.5], dtype=torch.float64)}, [2.0], [([0.0], {"a": 0.0})], half=False)
        return quietly(compare, {"step0.loss": torch.tensor(2.0)} | ours, reference, Settings(**options))

    def test_what_is_asked_for_is_compared(self) -> None:
        one = torch.tensor([1.5])
        self.assertTrue(self.whole({"a": one + 1}))
        self.assertFalse(self.whole({"a": one, "step0.loss": torch.tensor(3.0)}))
        self.assertTrue(self.whole({"a": one}, parameters=True))
        self.assertFalse(self.whole({"a": one + 1}, parameters=True))
        self.assertFalse(self.whole({"a": one}, master="float64"))
        self.assertTrue(self.whole({"a": one, "a.master": one.double()}, master="float64"))
        self.assertFalse(self.whole({"a": one}, states="float32"))
        self.assertTrue(self.whole({"a": one, "a.exp_avg": one}, states="float32"))


class CheckTest(unittest.TestCase):
    def test_numbers_of_a_statement(self) -> None:
        numbers = {"lr": 0.01, "weight_decay": 0.1}
        self.assertEqual(optimizer_of("adamw { lr 1e-2; weight_decay 0.1 }"), ("adamw", numbers))
        self.assertEqual(optimizer_of("adam { betas (0.9, 0.95) }"), ("adam", {"beta1": 0.9, "beta2": 0.95}))
        self.assertEqual(optimizer_of("sgd { lr 0.1; nesterov }"), ("sgd", {"lr": 0.1, "nesterov": 1}))
        self.assertEqual(optimizer_of("sgd"), ("sgd", {}))

    def test_the_largest_rank_is_within_a_twentieth(self) -> None:
        fits = functools.partial(quietly, check_steps)
        self.assertTrue(fits("rank 0: peak 5 planned 100\nrank 1: peak 105 planned 100\n"))
        self.assertTrue(fits("rank 0: peak 95 planned 100\n"))
        self.assertFalse(fits("rank 0: peak 106 planned 100\nrank 1: peak 100 planned 100\n"))
        self.assertFalse(fits("rank 0: peak 94 planned 100\n"))

    def test_what_lasts_is_exact(self) -> None:
        fits = functools.partial(quietly, check_steps)
        line = "rank 0: peak 99 planned 100 kept {} planned 70\n"
        self.assertTrue(fits(line.format(70)))
        self.assertTrue(fits(line.format(70) + line.format(69)), "the largest rank")
        self.assertFalse(fits(line.format(71)))

    def test_the_host_holds_what_was_said_exactly(self) -> None:
        fits = functools.partial(quietly, check_steps)
        line = "rank 0: peak 99 planned 100 host {} planned 100 parameters {} planned 30 states {} planned 20\n"
        self.assertTrue(fits(line.format(96, 30, 20)))
        self.assertTrue(fits(line.format(96, 29, 20) + line.format(80, 30, 18)))
        self.assertFalse(fits(line.format(94, 30, 20)))
        self.assertFalse(fits(line.format(96, 29, 20)))
        self.assertFalse(fits(line.format(96, 30, 21)))

    def test_statements_of_a_training(self) -> None:
        self.assertEqual(statements_of(arguments()), ["optimizer sgd"])
        full = arguments("--clip", "2", "--statement", "microbatches 2", "--frozen", "a", "--frozen", "b")
        expected = ["optimizer sgd", "microbatches 2", "freeze a, b", "clip_grad_norm 2.0"]
        self.assertEqual(statements_of(full), expected)

    def test_statements_stand_behind_those_of_the_plan(self) -> None:
        plan = "plan p {\n  model.layers.* {\n    rest: replicate\n  }\n}\n"
        expected = "plan p {\n  model.layers.* {\n    rest: replicate\n  }\n  loss loss\n  freeze a\n}\n"
        self.assertEqual(with_statements(plan, ["loss loss", "freeze a"]), expected)
        self.assertEqual(with_statements(plan, []), plan)

    def test_the_reference_trains_with_the_same_numbers(self) -> None:
        words = ("--optimizer", "adamw { lr 1e-2 }", "--clip", "0.5", "--master", "float64")
        expected = Settings(optimizer="adamw", numbers={"lr": 0.01}, clip=0.5, master="float64", frozen=[])
        self.assertEqual(settings_of(arguments(*words)), expected)
        self.assertEqual(settings_of(arguments("--seed", "7")).seed, 7)

    def test_copies_are_float32_if_no_dtype_is_named(self) -> None:
        masters = [arguments(*words).master for words in ([], ["--master"], ["--master", "bfloat16"])]
        self.assertEqual(masters, [None, "float32", "bfloat16"])

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
            hidden = load_file(make_batches(folder / "i.safetensors", folder, 1, hides=True)[0])["labels"]
            self.assertEqual((hidden == -100).sum(1).tolist(), [0, 2, 4])

    def test_the_plan_redefines_its_loss(self) -> None:
        text = "plan p {\n  loss  loss\n  loss_free: replicate\n}\n"
        self.assertEqual(with_loss_unit(text, None), text)
        self.assertEqual(with_loss_unit(text, "token"), text.replace("loss  loss\n", "loss  loss per token\n"))

    def test_steps_after_a_checkpoint_have_the_numbers_of_the_whole(self) -> None:
        one = torch.ones(1)
        found = later({"step0.loss": one, "step11.loss": one, "stepper.weight": one, "a.master": one}, 10)
        self.assertEqual([*found], ["step10.loss", "step21.loss", "stepper.weight", "a.master"])
