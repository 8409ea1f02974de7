"""Tests of the names of stacks."""

from __future__ import annotations

import unittest

import torch

from harness.reference.stacked import Stacks

NAMES = [f"experts.{expert}.{layer}.weight" for expert in range(2) for layer in (0, 2)]


class StacksTest(unittest.TestCase):
    def test_elements_have_the_names_of_their_modules(self) -> None:
        stacks = Stacks([*NAMES, "gate.weight"])
        # `experts.0.weight` is the stack of the first layers, and not one of layers of expert 0.
        self.assertEqual(stacks.elements("experts.0.weight"), ["experts.0.0.weight", "experts.1.0.weight"])
        self.assertEqual(stacks.elements("experts.2.weight"), ["experts.0.2.weight", "experts.1.2.weight"])

    def test_other_names_stay(self) -> None:
        stacks = Stacks([*NAMES, "gate.weight", "norms.0.weight", "norms.2.weight"])
        for name in ("gate.weight", "experts.0.2.weight", "loss", "norms.weight"):
            self.assertEqual(stacks.elements(name), [name])

    def test_tensors_are_taken_apart(self) -> None:
        stack, gate = torch.arange(6).view(2, 3), torch.zeros(3)
        found = Stacks([*NAMES, "gate.weight"]).unstacked({"experts.2.weight": stack, "gate.weight": gate})
        self.assertEqual(list(found), ["experts.0.2.weight", "experts.1.2.weight", "gate.weight"])
        self.assertTrue(torch.equal(found["experts.1.2.weight"], torch.tensor([3, 4, 5])))
