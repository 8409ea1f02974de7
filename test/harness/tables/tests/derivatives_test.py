"""The table of what PyTorch does not differentiate (compiler/derivatives/rules/missing.cpp) is that of PyTorch.

PyTorch's own generator says which operators have no formula at all, and which formulas are `not_implemented`.
"""

from __future__ import annotations

import re
import unittest
from collections.abc import Callable
from pathlib import Path

import torch
import torchgen
from torchgen.api.autograd import dispatch_strategy, match_differentiability_info
from torchgen.gen import parse_native_yaml
from torchgen.model import FunctionSchema, SchemaKind
from torchgen.packaged.autograd.gen_variable_type import DONT_REQUIRE_DERIVATIVE
from torchgen.packaged.autograd.load_derivatives import load_derivatives

from harness import ROOT

PACKAGED = Path(torchgen.__file__).parent / "packaged"
ENTRY = re.compile(r'\{"(aten\.[\w.]+)"(?:, "(\w+)")?\}')

aten = torch.ops.aten
Missing = dict[str, set[str]]


def listed() -> Missing:
    """Of the table: arguments by operator; none where all of them are meant."""
    text = (ROOT / "compiler/derivatives/rules/missing.cpp").read_text()
    return {target: {argument} if argument else set() for target, argument in ENTRY.findall(text)}


def has_gradients(schema: FunctionSchema) -> bool:
    """True for functions from tensors to tensors whose results are not integers by definition."""
    tensors = [each for each in (*schema.arguments.flat_non_out, *schema.returns) if "Tensor" in str(each.type)]
    return (
        schema.kind() == SchemaKind.functional
        and schema.name.name.base not in DONT_REQUIRE_DERIVATIVE
        and any(each in schema.returns for each in tensors)
        and any(each in schema.arguments.flat_non_out for each in tensors)
    )


def without_formula() -> Missing:
    """The same of all that PyTorch has."""
    native, tags = str(PACKAGED / "ATen/native/native_functions.yaml"), str(PACKAGED / "ATen/native/tags.yaml")
    infos, _ = load_derivatives(str(PACKAGED / "autograd/derivatives.yaml"), native, tags)
    found: Missing = {}
    for function in match_differentiability_info(parse_native_yaml(native, tags).native_functions, infos):
        schema = function.func.func
        if dispatch_strategy(function) != "use_derived" or not has_gradients(schema):
            continue
        name = str(schema.name)
        target = f"aten.{name}" if "." in name else f"aten.{name}.default"
        info = (function.info or {}).get("Default")
        if info is None:
            found[target] = set()
        elif missing := {
            argument for each in info.derivatives if "not_implemented" in each.formula for argument in each.var_names
        }:
            differentiable = {argument for each in info.derivatives for argument in each.var_names}
            found[target] = set() if missing == differentiable and len(missing) > 1 else missing
    return found


def leaf(*shape: int) -> torch.Tensor:
    return (torch.rand(shape) + 0.5).requires_grad_()


def row() -> torch.Tensor:
    return torch.rand(4) + 1


# Calls that have no gradient, and calls of the same operators that have one.
REFUSED: dict[str, Callable[[], torch.Tensor]] = {
    "heaviside": lambda: aten.heaviside(leaf(4), row()),
    "heaviside.values": lambda: aten.heaviside(row(), leaf(4)),
    "floor_divide": lambda: aten.floor_divide(leaf(4), row()),
    "floor_divide.other": lambda: aten.floor_divide(row(), leaf(4)),
    "floor_divide.Scalar": lambda: aten.floor_divide.Scalar(leaf(4), 2),
    "nextafter": lambda: aten.nextafter(leaf(4), row()),
    "nextafter.other": lambda: aten.nextafter(row(), leaf(4)),
    "igamma": lambda: aten.igamma(leaf(4), row()),
    "igammac": lambda: aten.igammac(leaf(4), row()),
    "special_zeta": lambda: aten.special_zeta(leaf(4), row()),
    "special_zeta.other_scalar": lambda: aten.special_zeta.other_scalar(leaf(4), 2),
    "aminmax": lambda: aten.aminmax(leaf(4))[0],
    "remainder.Scalar_Tensor": lambda: aten.remainder.Scalar_Tensor(2, leaf(4)),
    "narrow_copy": lambda: aten.narrow_copy(leaf(4), 0, 1, 2),
    "histogram": lambda: aten.histogram.bin_ct(leaf(4))[0],
    "scatter.reduce": lambda: aten.scatter.reduce(leaf(4), 0, torch.tensor([0, 1]), leaf(2), reduce="add"),
    "geqrf": lambda: aten.geqrf(leaf(4, 4))[0],
    "ldl_factor_ex": lambda: aten.linalg_ldl_factor_ex(leaf(4, 4))[0],
}
DIFFERENTIATED: dict[str, Callable[[], torch.Tensor]] = {
    "igamma": lambda: aten.igamma(row(), leaf(4)),
    "igammac": lambda: aten.igammac(row(), leaf(4)),
    "special_zeta": lambda: aten.special_zeta(row() + 1, leaf(4)),
    "remainder.Tensor": lambda: aten.remainder(row(), leaf(4)),
    "div.Tensor_mode": lambda: aten.div.Tensor_mode(leaf(4), row(), rounding_mode="floor"),
    "frac": lambda: aten.frac(leaf(4)),
    "round": lambda: aten.round(leaf(4)),
}


class DerivativesTest(unittest.TestCase):
    def test_every_entry_lacks_a_formula(self) -> None:
        expected = without_formula()
        for target, arguments in listed().items():
            self.assertEqual(arguments, expected.get(target), target)

    def test_what_models_may_call_is_listed(self) -> None:
        """What is left gives no float, is a gradient, draws, or is for libraries and types that we have not."""
        other = re.compile(
            r"aten\.(_|cudnn|miopen|mkldnn|mps|hspmm|quantize|dequantize|q_per|int_repr|empty_quantized|sparse|copy_sparse"
            r"|batch_norm_|native_batch_norm_|native_dropout_|native_layer_norm_|native_group_norm_|matmul_backward"
            r"|grid_sampler_|glu_|multi_margin|multilabel|value_selecting|bitwise|gcd|lcm|unique|nonzero|repeat_interleave"
            r"|randint|bernoulli|binomial|normal_functional|set|resize_|detach|copy\.|chunk\.|narrow\.)"
        )
        left = {target for target in without_formula() if not other.match(target)} - set(listed())
        self.assertEqual(left, set())

    def test_pytorch_raises(self) -> None:
        for name, call in REFUSED.items():
            with self.subTest(name), self.assertRaisesRegex((RuntimeError, NotImplementedError), "not implemented"):
                call().sum().backward()

    def test_pytorch_does_not_raise(self) -> None:
        for name, call in DIFFERENTIATED.items():
            with self.subTest(name):
                call().sum().backward()
