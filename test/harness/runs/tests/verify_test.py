"""Tests of what runs/verify.py finds fault with, without a run."""

from __future__ import annotations

import argparse
import unittest

import torch

from harness.runs.verify import fault, missing, trained_parameters

TRAINED = {"a": "a", "b": "b", "tied": "b"}


class Model(torch.nn.Module):
    """One weight under two names, and one that is frozen."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.frozen = (torch.nn.Linear(2, 2, bias=False) for _ in range(3))
        self.second.weight = self.first.weight
        self.frozen.weight.requires_grad_(False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.frozen(self.second(self.first(x)))


def found(*tensors: tuple[str, str], wrong: tuple[str, ...] = ()) -> dict:
    """What verify reports about these, (what, name)."""
    rows = [{"what": what, "name": name, "right": name not in wrong, "made_by": "an op"} for what, name in tensors]
    return {"right": not wrong, "tensors": rows}


class Missing(unittest.TestCase):
    gradients = ("gradient", "a"), ("gradient", "tied")
    parameters = ("parameter", "a"), ("parameter", "b")

    def test_gradients_and_parameters_are_those_that_are_trained(self) -> None:
        both = found(("output", "loss"), *self.gradients, *self.parameters)
        self.assertIsNone(missing(["optimizer sgd"], TRAINED, both))
        self.assertIsNone(missing([], {}, found(("output", "logits"))))
        for what, rows in (
            ("gradients of ['a']", found(self.gradients[1], *self.parameters)),
            ("gradients of ['c']", found(*self.gradients, ("gradient", "c"), *self.parameters)),
            ("parameters of ['a', 'b']", found(*self.gradients)),
            ("parameters of ['b']", found(*self.gradients, self.parameters[0])),
        ):
            self.assertEqual(missing(["optimizer sgd"], TRAINED, rows), f"{what} are missing or too many")

    def test_masters_are_there_where_the_plan_says_so(self) -> None:
        statements = ["optimizer sgd", "precision { reduce f32; master f32 }"]
        both = *self.gradients, *self.parameters
        masters = ("master", "a.master"), ("master", "tied.master")
        self.assertIsNone(missing(statements, TRAINED, found(*both, *masters)))
        self.assertEqual(
            missing(statements, TRAINED, found(*both, masters[0])), "masters of ['b'] are missing or too many"
        )
        self.assertIn("parameters of", missing(statements, TRAINED, found(*self.gradients, *masters)))
        # What is stored otherwise is changed itself.
        storage = ["precision { storage f32 }"]
        self.assertIsNone(missing(storage, TRAINED, found(*both)))
        self.assertIn("masters of", missing(storage, TRAINED, found(*both, *masters)))

    def test_what_is_tied_or_frozen(self) -> None:
        program = torch.export.export(Model(), (torch.ones(1, 2),))
        expected = {"first.weight": "first.weight", "second.weight": "first.weight"}
        self.assertEqual(trained_parameters(program), expected)


class Fault(unittest.TestCase):
    def fault(self, status: int, said: dict, *wrong: str, made_by: str = "") -> str | None:
        return fault(argparse.Namespace(wrong=list(wrong), made_by=made_by), status, said)

    def test_all_is_right(self) -> None:
        right = found(("gradient", "a"))
        self.assertIsNone(self.fault(0, right))
        self.assertEqual(self.fault(1, right), "exit status 1, right True, 0 wrong")
        self.assertEqual(self.fault(0, right, "gradient=a"), "nothing is reported about gradient=a")

    def test_what_is_wrong_is_named(self) -> None:
        wrong = found(("gradient", "a"), ("gradient", "b"), wrong=("a",))
        self.assertEqual(self.fault(1, wrong), "gradient=a is wrong")
        self.assertEqual(self.fault(0, wrong, "gradient=a"), "exit status 0, right False, 1 wrong")
        self.assertIsNone(self.fault(1, wrong, "gradient=*"))
        self.assertIsNone(self.fault(1, wrong, "gradient=a", made_by="an op"))
        self.assertEqual(self.fault(1, wrong, "gradient=a", made_by="another"), "gradient=a is made by an op")
