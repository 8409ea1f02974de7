#!/usr/bin/env python3
"""Tests that addends make the sum that one piece makes."""

from __future__ import annotations

import unittest

import torch
from addends import Addends


class AddendsTest(unittest.TestCase):
    def test_addends_make_the_sum(self) -> None:
        torch.manual_seed(0)
        x, weight, bias = torch.randn(3, 5, 8), torch.randn(6, 8), torch.randn(6)
        image, window = torch.randn(2, 4, 5), torch.randn(3, 4, 3)
        for count in (1, 2, 3, 8):
            with Addends(count):
                made = [torch.nn.functional.linear(x, weight, bias), x.mean(1), x.sum((0, 2)), x.mean()]
                made += [x.sum(), x @ x.transpose(1, 2)]
                made.append(torch.nn.functional.conv1d(image, window, bias[:3]))
            wanted = [torch.nn.functional.linear(x, weight, bias), x.mean(1), x.sum((0, 2)), x.mean()]
            wanted += [x.sum(), x @ x.transpose(1, 2)]
            wanted.append(torch.nn.functional.conv1d(image, window, bias[:3]))
            for own, whole in zip(made, wanted, strict=True):
                torch.testing.assert_close(own, whole)


if __name__ == "__main__":
    unittest.main()
