#!/usr/bin/env python3
"""Tests of what demo_support.py does with tokens, on models that are a table of what follows what."""

from __future__ import annotations

import unittest

import demo_support
import torch
from demo_support import IGNORED, DemoError, Shape, Tensors

SHAPE = Shape(batch=2, sequence=5)


def successor_model(inputs: Tensors) -> Tensors:
    """A model in which the likeliest token after n is n + 1."""
    return {"logits": torch.nn.functional.one_hot(inputs["input_ids"] + 1, 50).double()}


class Text(unittest.TestCase):
    def test_paragraphs_join_lines(self) -> None:
        self.assertEqual(demo_support.paragraphs("one\ntwo\n\n\nthree \n"), ["one two", "three"])

    def test_inputs_are_padded_and_padding_has_no_label(self) -> None:
        inputs = demo_support.model_inputs([[7, 8], [1, 2, 3, 4, 5]], SHAPE)
        self.assertEqual(inputs["input_ids"].tolist(), [[7, 8, 0, 0, 0], [1, 2, 3, 4, 5]])
        self.assertEqual(inputs["labels"].tolist(), [[7, 8, IGNORED, IGNORED, IGNORED], [1, 2, 3, 4, 5]])
        self.assertEqual({tensor.dtype for tensor in inputs.values()}, {torch.int64})

    def test_another_number_of_samples_is_refused(self) -> None:
        with self.assertRaisesRegex(DemoError, "the model takes 2 samples, there are 1"):
            demo_support.model_inputs([[1]], SHAPE)

    def test_a_long_sample_is_refused(self) -> None:
        with self.assertRaisesRegex(DemoError, "a sample has 6 tokens, the model takes 5"):
            demo_support.model_inputs([[1], [1, 2, 3, 4, 5, 6]], SHAPE)


class Prompts(unittest.TestCase):
    def test_the_choice_is_read_at_the_last_token_of_each_row(self) -> None:
        rows = [[7, 20], [3]]
        logits = successor_model(demo_support.model_inputs(rows, SHAPE))["logits"]
        self.assertEqual(demo_support.last_choices(logits, rows), [21, 4])

    def test_rows_grow_by_one_token_a_run(self) -> None:
        self.assertEqual(
            demo_support.continued(successor_model, [[7, 20], [3]], 3, SHAPE), [[7, 20, 21, 22, 23], [3, 4, 5, 6]]
        )

    def test_rows_that_outgrow_the_model_are_refused(self) -> None:
        with self.assertRaisesRegex(DemoError, "has 6 tokens"):
            demo_support.continued(successor_model, [[1, 2, 3], [3]], 4, SHAPE)

    def test_only_tokens_after_the_prompt_are_compared(self) -> None:
        rows = [[7, 20, 21, 9], [3, 4]]
        logits = successor_model(demo_support.model_inputs(rows, SHAPE))["logits"]
        self.assertEqual(demo_support.agreeing(logits, rows, [[7, 20], [3]]), 2)


class Differences(unittest.TestCase):
    def test_largest_difference(self) -> None:
        self.assertEqual(demo_support.largest_difference(torch.tensor([1.0, -2.0]), torch.tensor([1.5, 1.0])), 3.0)


if __name__ == "__main__":
    unittest.main()
