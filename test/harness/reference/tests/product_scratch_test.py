"""Tests of reference/product_scratch.py: which products a model has, and what they hold."""

from __future__ import annotations

import unittest
from unittest import mock

import torch

from harness.reference import product_scratch
from harness.reference.product_scratch import held_by, largest_scratch, products_of, scratch_of


class Layers(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = torch.nn.Linear(8, 24), torch.nn.Linear(24, 8, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(self.up(x)) @ self.down.weight


def exported(dtype: torch.dtype) -> torch.export.ExportedProgram:
    return torch.export.export(Layers().to(dtype), (torch.zeros(2, 5, 8, dtype=dtype),))


class ProductScratch(unittest.TestCase):
    def test_products_of_a_model(self) -> None:
        for program in (exported(torch.bfloat16), exported(torch.bfloat16).run_decompositions({})):
            found = [product for dtype, product in products_of(program) if dtype == torch.bfloat16]
            self.assertEqual(found, [(10, 8, 24), (10, 24, 8), (10, 8, 24)])

    def test_what_is_held_besides_the_result(self) -> None:
        x = torch.zeros(1000)
        self.assertEqual(held_by(lambda: x.neg()), 0)
        self.assertEqual(held_by(lambda: x.neg() * x.abs()), 8000)
        self.assertEqual(held_by(lambda: x.neg().sum()), 4000)

    def test_wide_models_have_none(self) -> None:
        found = {"scratch_of": mock.Mock(return_value=7), "is_planned": mock.Mock(return_value=False)}
        with mock.patch.multiple(product_scratch, **found):
            self.assertEqual(largest_scratch(exported(torch.float32), threads=1), 0)
            self.assertEqual(largest_scratch(exported(torch.bfloat16), threads=1), 7)

    def test_none_where_it_is_planned(self) -> None:
        found = {"scratch_of": mock.Mock(return_value=7), "is_planned": mock.Mock(return_value=True)}
        with mock.patch.multiple(product_scratch, **found):
            self.assertEqual(largest_scratch(exported(torch.bfloat16), threads=1), 0)

    def test_threads_stay_as_they_were(self) -> None:
        before = torch.get_num_threads()
        self.assertGreaterEqual(scratch_of((64, 64, 64), torch.bfloat16, before + 1), 0)
        self.assertEqual(torch.get_num_threads(), before)
