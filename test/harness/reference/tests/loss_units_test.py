"""Tests of the losses that others are held against."""

from __future__ import annotations

import unittest

import torch
from torch.nn import functional

from harness.reference.loss_units import IGNORED, hide_labels, mean_of, redefined


class LossUnitsTest(unittest.TestCase):
    def setUp(self) -> None:
        torch.manual_seed(0)
        self.logits = torch.randn(3, 4, 5, dtype=torch.float64)
        self.labels = hide_labels({"labels": torch.randint(5, (3, 4))})["labels"]

    def losses(self) -> list[list[float]]:
        """Those that count of each sample, one by one."""
        result = []
        for logits, labels in zip(self.logits, self.labels, strict=True):
            pairs = zip(logits[:-1], labels[1:], strict=True)
            result.append([-row.log_softmax(0)[label].item() for row, label in pairs if label != IGNORED])
        return result

    def loss(self, unit: str) -> float:
        outputs = {"logits": self.logits, "loss": torch.zeros((), dtype=torch.float64)}
        return redefined(outputs, self.labels, unit).item()

    def test_ever_more_labels_do_not_count(self) -> None:
        self.assertEqual((self.labels == IGNORED).sum(1).tolist(), [0, 2, 4])
        self.assertEqual((hide_labels({"labels": torch.ones(1, 4)})["labels"] == IGNORED).sum(), 0)

    def test_per_token_is_the_mean_over_all(self) -> None:
        losses = [loss for sample in self.losses() for loss in sample]
        self.assertEqual(len(losses), 5)
        self.assertAlmostEqual(self.loss("token"), sum(losses) / len(losses))
        rows, wanted = self.logits[:, :-1].flatten(0, 1), self.labels[:, 1:].flatten()
        self.assertAlmostEqual(self.loss("token"), functional.cross_entropy(rows, wanted).item())

    def test_per_sequence_is_the_mean_of_means(self) -> None:
        means = [sum(sample) / len(sample) if sample else 0 for sample in self.losses()]
        self.assertEqual(means[2], 0)
        self.assertAlmostEqual(self.loss("sequence"), sum(means) / 3)

    def test_means_of_losses_that_are_given(self) -> None:
        losses = torch.tensor([[1.0, 2.0, 6.0], [4.0, 0.0, 0.0], [0.0, 0.0, 0.0]]).bfloat16()
        counted = losses > 0
        self.assertEqual(mean_of(losses, counted, "token").item(), 13 / 4)
        per_sequence = mean_of(losses, counted, "sequence")
        self.assertAlmostEqual(per_sequence.item(), (3 + 4 + 0) / 3, places=6)
        self.assertEqual(per_sequence.dtype, torch.float32)
        self.assertEqual(mean_of(losses.double(), counted, "token").dtype, torch.float64)
        self.assertTrue(mean_of(losses, torch.zeros_like(counted), "token").isinf())

    def test_the_dtype_is_that_of_the_models_loss(self) -> None:
        outputs = {"logits": self.logits.bfloat16(), "loss": torch.zeros(())}
        self.assertEqual(redefined(outputs, self.labels, "token").dtype, torch.float32)
        outputs["loss"] = torch.zeros((), dtype=torch.bfloat16)
        rounded = redefined(outputs, self.labels, "sequence")
        self.assertEqual(rounded.dtype, torch.bfloat16)
        self.assertAlmostEqual(rounded.item(), self.loss("sequence"), places=1)
