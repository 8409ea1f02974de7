"""Tests of reference/addends.py, against products that are split by hand."""

from __future__ import annotations

import unittest

import torch
from torch import nn

from harness.reference.addends import Product, References, RoundedProducts, narrow_shards, split_products


class Layers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(6, 8), nn.Linear(8, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(self.up(x).tanh())


class AddendsTest(unittest.TestCase):
    def setUp(self) -> None:
        torch.manual_seed(0)

    def test_a_report_says_how_dims_are_divided(self) -> None:
        parameters = [
            {"names": ["a", "b"], "layout": "[8 over tp, 4]"},
            {"names": ["c"], "layout": "[8, 6 over dp, tp unit 2] on the host"},
            {"names": ["d"], "layout": "[8, 4]"},
        ]
        axes = [{"name": "dp", "size": 2}, {"name": "tp", "size": 3}]
        for dtype, expected in (("bf16", {"a": [3, 1], "b": [3, 1], "c": [1, 6]}), ("f32", None)):
            report = {"axes": axes, "parameters": parameters, "activation_sums": [{"dtype": dtype}]}
            self.assertEqual(narrow_shards(report), expected)

    def test_each_division_has_a_reference_of_its_own(self) -> None:
        def report(dtype: str, layout: str) -> dict:
            parameters = [{"names": ["a"], "layout": layout}]
            return {"axes": axes, "parameters": parameters, "activation_sums": [{"dtype": dtype}]}

        axes = [{"name": "tp", "size": 2}]
        first = report("bf16", "[8 over tp, 4]")
        others = [report("f32", "[8 over tp, 4]"), report("bf16", "[8, 4 over tp]"), report("f32", "[8, 4]")]
        made: list[object] = []
        references = References(True, lambda shards: made.append(shards) or len(made))
        self.assertEqual([references.of(lambda said=said: said) for said in (first, *others, first)], [1, 2, 3, 2, 1])
        self.assertEqual(made, [{"a": [2, 1]}, None, {"a": [1, 2]}])
        wide = References(False, lambda shards: shards)
        self.assertIsNone(wide.of(lambda: self.fail("no report is needed")))

    def test_addends_are_rounded_and_their_sum_is_rounded_once(self) -> None:
        x, weight = torch.randn(5, 8).bfloat16(), torch.randn(8, 4).bfloat16()
        x.requires_grad_()
        result = Product.apply(x, weight, 2, 2)
        halves = [(x[:, :4] @ weight[:4]), (x[:, 4:] @ weight[4:])]
        self.assertTrue(torch.equal(result, (halves[0].float() + halves[1].float()).bfloat16()))
        gradient = torch.randn(5, 4).bfloat16()
        result.backward(gradient)
        halves = [gradient[:, :2] @ weight[:, :2].t(), gradient[:, 2:] @ weight[:, 2:].t()]
        self.assertTrue(torch.equal(x.grad, (halves[0].float() + halves[1].float()).bfloat16()))

    def test_products_and_those_of_derivatives_are_made_in_rounded_addends(self) -> None:
        x, weight, bias = torch.randn(3, 5, 8).bfloat16(), torch.randn(4, 8).bfloat16(), torch.randn(4).bfloat16()
        x.requires_grad_()

        def halves(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
            middle = right.size(-2) // 2
            return (left[..., :middle] @ right[:middle]).float() + (left[..., middle:] @ right[middle:]).float()

        with RoundedProducts(2):
            product, sum_of = x @ weight.t(), torch.nn.functional.linear(x[0], weight, bias)
            product.backward(gradient := torch.randn(3, 5, 4).bfloat16())
            wide = weight.double() @ weight.double().t()
        self.assertTrue(torch.equal(product, halves(x, weight.t()).bfloat16()))
        self.assertTrue(torch.equal(sum_of, halves(x[0], weight.t()).bfloat16() + bias))
        self.assertTrue(torch.equal(x.grad, halves(gradient, weight).bfloat16()))
        self.assertTrue(torch.equal(wide, weight.double() @ weight.double().t()))

    def test_divided_weights_are_found_in_both_forms_of_a_graph(self) -> None:
        module, x = Layers().double(), torch.randn(3, 6, dtype=torch.float64)
        whole = torch.export.export(module, (x,))
        expected = module(x)
        for program in (whole, whole.run_decompositions({})):
            split = program.module()
            split_products(split, {"up.weight": [4, 1], "down.weight": [1, 4]})
            targets = [str(node.target) for node in split.graph.nodes if node.op == "call_function"]
            self.assertFalse([each for each in targets if "linear.default" in each or "mm.default" in each], targets)
            torch.testing.assert_close(split(x), expected, rtol=1e-6, atol=1e-6)
