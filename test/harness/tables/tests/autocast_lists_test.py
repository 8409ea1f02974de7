"""Compares the compiler's lists of autocast with what PyTorch registers for it."""

from __future__ import annotations

import re
import unittest

import torch

from harness import ROOT

SOURCE = ROOT / "compiler" / "transforms" / "import" / "autocast" / "policies.cpp"
BANNED = "binary_cross_entropy"


def list_of(name: str) -> set[str]:
    """The operators of one list of the source."""
    found = re.search(rf"StringLiteral {name} =((?:\s*\"[^\"]*\")+);", SOURCE.read_text())
    assert found, name
    return set("".join(re.findall(r'"([^"]*)"', found[1])).split())


def of_source(device: str) -> dict[str, set[str]]:
    """PyTorch's lists for a device, by policy."""
    return {
        "narrow": list_of("narrowOnBoth") | list_of(f"narrowOn{device}"),
        "wide": list_of("wideOnBoth") | list_of(f"wideOn{device}"),
        "widest": list_of(f"widestOn{device}"),
    }


def registered(device: str) -> set[str]:
    """Without overloads."""
    names = torch._C._dispatch_get_registrations_for_dispatch_key(f"Autocast{device.upper()}")
    return {name.removeprefix("aten::").split(".")[0] for name in names}


class Lists(unittest.TestCase):
    def test_each_operator_of_pytorch_has_one_policy(self) -> None:
        for device in ("Cpu", "Cuda"):
            lists = of_source(device)
            banned = {BANNED} if device == "Cuda" else set()
            self.assertEqual(set.union(*lists.values()), registered(device) - banned, device)
            self.assertEqual(sum(map(len, lists.values())), len(registered(device) - banned), device)
        self.assertEqual(list_of("bannedOnCuda"), {BANNED})

    def test_policies_are_those_of_pytorch(self) -> None:
        """On CPUs, of operators of one tensor."""
        lists = of_source("Cpu")
        checked = 0
        for policy, operand, expected in (
            ("narrow", torch.float32, torch.bfloat16),
            ("wide", torch.bfloat16, torch.float32),
        ):
            for name in sorted(lists[policy]):
                made = self.make(name, torch.eye(4, dtype=operand)[None, None])
                if made is not None:
                    self.assertEqual(made, expected, name)
                    checked += 1
        self.assertGreater(checked, 8)

    def make(self, name: str, tensor: torch.Tensor) -> torch.dtype | None:
        """What an operator makes of a tensor, or of a tensor and itself; None if it needs others."""
        packet = getattr(torch.ops.aten, name)
        for operands in ((tensor,), (tensor, tensor), (tensor[0, 0],), (tensor[0, 0], tensor[0, 0]), (tensor[0],) * 2):
            try:
                with torch.autocast("cpu", dtype=torch.bfloat16):
                    made = packet(*operands)
            except (RuntimeError, TypeError, torch.linalg.LinAlgError):
                continue
            if isinstance(made, torch.Tensor) and made.is_floating_point():
                return made.dtype
        return None
