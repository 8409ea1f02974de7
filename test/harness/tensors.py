"""Tensors by name, and whether they have the same bits."""

from __future__ import annotations

import torch

Tensors = dict[str, torch.Tensor]


def same(one: torch.Tensor, other: torch.Tensor) -> bool:
    """True for tensors of one dtype and shape with the same bits; a NaN is the same as itself, and 0 is not -0."""
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    return torch.equal(*(tensor.contiguous().reshape(-1).view(torch.uint8) for tensor in (one, other)))


def differing(ours: Tensors, others: Tensors) -> list[str]:
    """Names of the tensors that are not in both, or not the same."""
    names = sorted(ours.keys() | others.keys())
    return [name for name in names if name not in ours or name not in others or not same(ours[name], others[name])]


def contains(ours: Tensors, others: Tensors) -> bool:
    """True if each of the others is there, the same."""
    return others.keys() <= ours.keys() and all(same(ours[name], tensor) for name, tensor in others.items())
