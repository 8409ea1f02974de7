"""PyTorch's own samples of its operators (OpInfo), each as a module that is exported."""

from __future__ import annotations

import importlib.util
import itertools
import sys
import types
import unittest
from collections.abc import Iterator
from dataclasses import dataclass, field

import torch
from torch import nn
from torch.utils import _pytree as pytree

from harness.models.with_loss import weighted_sum

if importlib.util.find_spec("expecttest") is None:
    # The samples lie beside PyTorch's own test classes, one of which wants a base that nothing here uses.
    sys.modules["expecttest"] = types.ModuleType("expecttest")
    sys.modules["expecttest"].TestCase = unittest.TestCase  # type: ignore[attr-defined]

from torch.testing._internal.common_methods_invocations import op_db

LOOKED_AT = 24  # samples of an operator, of which two are taken
RANKS = 2
UNDEFINED = "empty"  # in the names of operators whose results are what was in memory


@dataclass
class Sample:
    """One call of an operator. `leaves` are its arguments without structure; some of them are tensors."""

    name: str
    operator: object
    leaves: list[object]
    structure: pytree.TreeSpec
    trained: list[int] = field(default_factory=list)  # of the tensors, those whose gradient is asked for

    def tensors(self) -> list[torch.Tensor]:
        return [leaf for leaf in self.leaves if isinstance(leaf, torch.Tensor)]

    def call(self, tensors: tuple[torch.Tensor, ...]) -> list[torch.Tensor]:
        """The tensors that the operator gives, of these ones."""
        given = iter(tensors)
        leaves = [next(given) if isinstance(leaf, torch.Tensor) else leaf for leaf in self.leaves]
        input, args, kwargs = pytree.tree_unflatten(leaves, self.structure)
        results = pytree.tree_leaves(self.operator(input, *args, **kwargs))
        return [result for result in results if isinstance(result, torch.Tensor)]


class SampleModule(nn.Module):
    """Calls the operator of a sample. To each tensor that has a gradient is added a parameter of zeros, whose gradient
    is that of the tensor, element by element.
    """

    def __init__(self, sample: Sample) -> None:
        super().__init__()
        self.sample = sample
        for index in sample.trained:
            self.register_parameter(f"shift{index}", nn.Parameter(torch.zeros_like(sample.tensors()[index])))

    def forward(self, *tensors: torch.Tensor) -> dict[str, object]:
        # Some operators write to what they are given.
        shifted = [
            tensor + getattr(self, f"shift{index}") if index in self.sample.trained else tensor.clone()
            for index, tensor in enumerate(tensors)
        ]
        results = self.sample.call(tuple(shifted))
        outputs: dict[str, object] = {"results": results}
        losses = [weighted_sum(result) for result in results if result.is_floating_point()]
        if losses and self.sample.trained:
            outputs["loss"] = sum(losses)
        return outputs


def is_divided(tensor: torch.Tensor) -> bool:
    """True for what a plan divides in dim 0 here."""
    return tensor.dim() > 0 and tensor.size(0) >= RANKS


def is_usable(sample: Sample) -> bool:
    tensors = sample.tensors()
    plain = all(tensor.layout == torch.strided and tensor.numel() > 0 for tensor in tensors)
    return plain and any(is_divided(tensor) for tensor in tensors)


def samples_of(entry: object) -> list[Sample]:
    """Two samples of an operator, the first and the last of those that are looked at, with a tensor to divide."""
    name = f"{entry.name}.{entry.variant_test_name}" if entry.variant_test_name else entry.name  # type: ignore[attr-defined]
    torch.manual_seed(0)
    found: list[Sample] = []
    made = entry.sample_inputs("cpu", torch.float32, requires_grad=entry.supports_autograd)  # type: ignore[attr-defined]
    for each in itertools.islice(made, LOOKED_AT):
        leaves, structure = pytree.tree_flatten((each.input, each.args, each.kwargs))
        sample = Sample(name, entry.op, leaves, structure)  # type: ignore[attr-defined]
        tensors = sample.tensors()
        sample.trained = [i for i, tensor in enumerate(tensors) if tensor.requires_grad]
        sample.leaves = [leaf.detach() if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
        if is_usable(sample):
            found.append(sample)
    return [found[0], found[-1]] if len(found) > 1 else found


def entries(names: list[str] | None = None) -> Iterator[object]:
    """PyTorch's operators with samples in float32, or those named."""
    for entry in op_db:
        if torch.float32 in entry.dtypes and UNDEFINED not in entry.name and (not names or entry.name in names):
            yield entry
