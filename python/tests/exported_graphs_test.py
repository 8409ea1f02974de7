#!/usr/bin/env python3
"""Tests of exported_graphs.py on small modules."""

from __future__ import annotations

import unittest

import torch
from meshplan.exported_graphs import is_functional, is_under_autocast, stop_gradients


def exported(module: torch.nn.Module, x: torch.Tensor) -> torch.export.ExportedProgram:
    return torch.export.export(module, (x,), strict=False)


class ExportedGraphs(unittest.TestCase):
    def test_what_writes_an_operand_is_not_functional(self) -> None:
        class Writes(torch.nn.Module):
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                return (x * 2).add_(1)

        x = torch.randn(2, 4, 6)
        self.assertTrue(is_functional(exported(torch.nn.Linear(6, 4), x)))
        self.assertFalse(is_functional(exported(Writes(), x)))
        self.assertFalse(is_functional(exported(torch.nn.BatchNorm1d(4), x)))
        self.assertTrue(is_functional(exported(torch.nn.BatchNorm1d(4).eval(), x)))

    def test_regions_under_autocast(self) -> None:
        class Autocast(torch.nn.Module):
            def __init__(self, enabled: bool) -> None:
                super().__init__()
                self.enabled = enabled

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=self.enabled):
                    return x @ x

        x = torch.randn(4, 4)
        self.assertTrue(is_under_autocast(exported(Autocast(True), x)))
        self.assertFalse(is_under_autocast(exported(Autocast(False), x)))
        self.assertFalse(is_under_autocast(exported(torch.nn.Linear(4, 4), x)))

    def test_regions_without_gradients_outlive_decompositions(self) -> None:
        class Regions(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.first, self.second = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)

            def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
                with torch.no_grad():
                    stopped = self.first(x)
                    largest = stopped.argmax(-1)
                return (stopped * self.second(x)).sum() + self.first(x).mean(), stopped, largest

        model, x = Regions(), torch.randn(2, 4)
        model(x)[0].backward()
        program = exported(model, x)
        stop_gradients(program)
        program.validate()
        decomposed = program.run_decompositions({}).module()
        outputs = decomposed(x)
        outputs[0].backward()
        for name, parameter in model.named_parameters():
            torch.testing.assert_close(decomposed.get_parameter(name).grad, parameter.grad)
        self.assertFalse(outputs[1].requires_grad)


if __name__ == "__main__":
    unittest.main()
