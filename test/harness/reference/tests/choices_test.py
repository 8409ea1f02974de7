"""Tests of choices that the run in float64 takes from PyTorch's own run."""

from __future__ import annotations

import unittest

import torch

from harness.reference.choices import Choices, Count, use_topk


class Chosen(torch.nn.Module):
    def forward(self, scores: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        values, chosen = scores.topk(2, -1)
        return values, chosen


def modules_of(choices: Choices) -> tuple[torch.nn.Module, torch.nn.Module]:
    """PyTorch's own, and the other one."""
    own, other = (torch.export.export(Chosen(), (torch.zeros(2, 4),)).module() for _ in range(2))
    assert use_topk(own, choices.record)
    assert use_topk(other, choices.replay)
    return own, other


NEAR = torch.tensor([[0.1, 0.5, 0.5 + 1e-6, 0.3], [0.9, 0.2, 0.4, 0.7]], dtype=torch.float64)
OTHER = torch.tensor([[0.1, 0.5 + 1e-6, 0.5, 0.3], [0.9, 0.2, 0.4, 0.7]], dtype=torch.float64)
FAR = torch.tensor([[0.1, 0.6, 0.5, 0.3], [0.9, 0.2, 0.4, 0.7]], dtype=torch.float64)


class ChoicesTest(unittest.TestCase):
    def chosen(self, choices: Choices, first: torch.Tensor, second: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        own, other = modules_of(choices)
        choices.begin_own()
        own(first)
        choices.begin_again()
        return other(second)

    def test_equal_choices_stay(self) -> None:
        choices = Choices(half=False)
        _, chosen = self.chosen(choices, NEAR, NEAR)
        self.assertEqual(chosen.tolist(), [[2, 1], [0, 3]])
        self.assertEqual(choices.count, Count(2, 0, 0))

    def test_near_choices_are_replayed_with_their_own_scores(self) -> None:
        choices = Choices(half=False)
        values, chosen = self.chosen(choices, NEAR, OTHER)
        self.assertEqual(chosen.tolist(), [[2, 1], [0, 3]])
        self.assertTrue(torch.equal(values, OTHER.gather(-1, chosen)))
        self.assertEqual(choices.count, Count(2, 1, 1))
        self.assertFalse(choices.compare())  # half of all is more than rounding does

    def test_other_choices_are_not(self) -> None:
        choices = Choices(half=False)
        _, chosen = self.chosen(choices, NEAR, FAR)
        self.assertEqual(chosen.tolist(), [[1, 2], [0, 3]])
        self.assertEqual(choices.count, Count(2, 1, 0))

    def test_in_sixteen_bits_nothing_is(self) -> None:
        choices = Choices(half=True)
        _, chosen = self.chosen(choices, NEAR, OTHER)
        self.assertEqual(chosen.tolist(), [[1, 2], [0, 3]])
        self.assertEqual(choices.count, Count(2, 1, 0))
        self.assertTrue(choices.compare())

    def test_a_model_without_choices(self) -> None:
        self.assertFalse(
            use_topk(torch.export.export(torch.nn.ReLU(), (torch.zeros(2),)).module(), Choices(False).record)
        )
        self.assertTrue(Choices(half=False).compare())
