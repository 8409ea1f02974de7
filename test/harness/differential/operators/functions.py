"""Steps by functions that few models call, of one element or of several."""

from __future__ import annotations

from collections.abc import Callable

import torch

from harness.differential.choices import Choices
from harness.differential.operators.elementwise import Step, bounded, companion, positive

aten = torch.ops.aten

ANYWHERE = ("sgn", "frac", "deg2rad", "rad2deg", "sinh", "cosh", "atan", "asinh", "erfc", "sinc", "signbit")
POSITIVE = ("log10", "lgamma", "digamma")
WITHIN_ONE = ("asin", "acos", "atanh", "erfinv", "tan")
PAIRS = ("atan2", "hypot", "logaddexp", "logaddexp2", "fmax", "fmin", "heaviside")


def within_one(x: torch.Tensor) -> torch.Tensor:
    return aten.clamp.default(x, -0.8, 0.8)


def function(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    name = choices.pick((*ANYWHERE, *POSITIVE, *WITHIN_ONE, "acosh", "logit"))
    if name == "logit":
        return aten.logit.default(x, 0.1)
    if name == "acosh":
        return aten.acosh.default(aten.add.Scalar(positive(x), 1.0))
    domain = positive if name in POSITIVE else within_one if name in WITHIN_ONE else bounded
    return getattr(aten, name).default(domain(x))


def pair(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    """A function of a tensor and of another one or a number."""
    x, other = bounded(x), bounded(companion(x, choices))
    forms: dict[str, Callable[[], torch.Tensor]] = {
        **{name: lambda name=name: getattr(aten, name).default(x, other) for name in PAIRS},
        "copysign": lambda: aten.copysign.Tensor(x, other),
        "copysign_scalar": lambda: aten.copysign.Scalar(x, -0.7),
        "xlogy": lambda: aten.xlogy.Tensor(x, positive(other)),
        "xlogy_self": lambda: aten.xlogy.Scalar_Self(0.7, positive(x)),
        "xlogy_other": lambda: aten.xlogy.Scalar_Other(x, 1.9),
        "fmod": lambda: aten.fmod.Tensor(x, positive(other)),
        "fmod_scalar": lambda: aten.fmod.Scalar(x, 0.83),
        "remainder": lambda: aten.remainder.Scalar_Tensor(2.3, positive(x)),
        "floor": lambda: aten.floor_divide.Scalar(x, 0.29),
        "clamp_min": lambda: aten.clamp_min.Tensor(x, other),
        "clamp_max": lambda: aten.clamp_max.Tensor(x, other),
        "clamp": lambda: aten.clamp.Tensor(x, other, other + 0.4),
    }
    return forms[choices.pick(tuple(forms))]()


def blend(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    x, other = bounded(x), bounded(companion(x, choices))
    forms: dict[str, Callable[[], torch.Tensor]] = {
        "lerp": lambda: aten.lerp.Tensor(x, other, x.sin()),
        "lerp_scalar": lambda: aten.lerp.Scalar(x, other, 0.3),
        "addcmul": lambda: aten.addcmul.default(x, other, x, value=0.5),
        "addcdiv": lambda: aten.addcdiv.default(x, x, positive(other), value=-0.5),
        "threshold": lambda: aten.threshold.default(x, 0.11, -0.3),
        "softshrink": lambda: aten.softshrink.default(x, 0.3),
        "hardshrink": lambda: aten.hardshrink.default(x, 0.3),
        "prelu": lambda: aten.prelu.default(x, x.new_full([x.size(1) if x.dim() > 1 else 1], 0.2)),
        "prelu_kernel": lambda: aten._prelu_kernel.default(x, other.sigmoid()) if other.shape == x.shape else x,
    }
    return forms[choices.pick(tuple(forms))]()


def integers(x: torch.Tensor) -> torch.Tensor:
    """-11 to 12. What is a multiple of a quarter but for its last bits is not on the edge of two of them."""
    return (bounded(x) * 4.0 + 0.137).to(torch.int64)


def bits(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    """Operators on the bits of integers."""
    left, right = integers(x).abs(), (bounded(companion(x, choices)) > 0.19).long()
    tensors = ("bitwise_left_shift", "bitwise_right_shift", "__lshift__", "__rshift__", "__xor__")
    scalars = ("bitwise_and", "bitwise_or", "bitwise_xor", "__or__", "__xor__", "__lshift__", "__rshift__")
    forms: dict[str, Callable[[], torch.Tensor]] = {
        **{name: lambda name=name: getattr(aten, name).Tensor(left, right) for name in tensors},
        **{f"{name}_scalar": lambda name=name: getattr(aten, name).Scalar(left, 3) for name in scalars},
        "gcd": lambda: aten.gcd.default(left, right * 6),
        "lcm": lambda: aten.lcm.default(left, right * 6),
        "left_by": lambda: aten.bitwise_left_shift.Tensor_Scalar(left, 1),
        "right_by": lambda: aten.bitwise_right_shift.Tensor_Scalar(left, 1),
    }
    return forms[choices.pick(tuple(forms))]().to(x.dtype) * 0.1 + x


def measured(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    """How far a tensor is from another one, of each element or as one number."""
    x, other = bounded(x), bounded(companion(x, choices)).expand_as(x).sin()
    reduction = choices.pick((1, 0, 2))
    share, wanted = x.sigmoid(), other.sigmoid()
    forms: dict[str, Callable[[], torch.Tensor]] = {
        "mse": lambda: aten.mse_loss.default(x, other, reduction),
        "l1": lambda: aten.l1_loss.default(x, other, reduction),
        "smooth": lambda: aten.smooth_l1_loss.default(x, other, reduction, 0.7),
        "huber": lambda: aten.huber_loss.default(x, other, reduction, 0.7),
        "margin": lambda: aten.soft_margin_loss.default(x, other, reduction),
        "entropy": lambda: aten.binary_cross_entropy.default(share, wanted, None, reduction),
        "logits": lambda: aten.binary_cross_entropy_with_logits.default(x, wanted, None, None, reduction),
        "divergence": lambda: aten.kl_div.default(share.log(), wanted, reduction),
    }
    made = forms[choices.pick(tuple(forms))]()
    return x + (made * (0.1 / x.numel()) if reduction == 2 else 0.1 * made)


def checked(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    """Non-finite elements are found and replaced."""
    odd, whole = torch.where(torch.arange(x.size(-1)) % 3 == 1, float("inf"), x), integers(x)
    forms: dict[str, Callable[[], torch.Tensor]] = {
        "nan_to_num": lambda: aten.nan_to_num.default(odd, 0.5, 2.5, -2.5),
        "isfinite": lambda: aten.isfinite.default(odd).to(x.dtype) + x,
        "isinf": lambda: aten.isinf.default(odd).to(x.dtype) + x,
        "isnan": lambda: aten.isnan.default(odd).to(x.dtype) + x,
        "nanmean": lambda: aten.nanmean.default(torch.where(odd.isinf(), float("nan"), x), [-1], True).nan_to_num() + x,
        "isin": lambda: aten.isin.Tensor_Tensor(integers(x), torch.arange(-2, 4, 2)).to(x.dtype) + x,
        "isclose": lambda: aten.isclose.default(whole, torch.arange(x.size(-1)) % 3, 0.0, 1.5).to(x.dtype) + x,
        "decimals": lambda: aten.round.decimals(whole.to(x.dtype) * 0.237, decimals=1),
        "isin_scalar": lambda: aten.isin.Tensor_Scalar(integers(x), 1).to(x.dtype) + x,
    }
    return forms[choices.pick(tuple(forms))]()


def matrices(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    """Functions of one positive definite matrix for each element."""
    x = bounded(x)
    wide = x.float()
    made = torch.stack([wide.square() + 1.0, wide, wide, 2.0 + wide * 0.0], -1).unflatten(-1, (2, 2))
    forms: dict[str, Callable[[], torch.Tensor]] = {
        "linalg_det": lambda: aten.linalg_det.default(made),
        "det": lambda: aten.det.default(made),
        "linalg_inv": lambda: aten.linalg_inv.default(made)[..., 0, 1],
        "inverse": lambda: aten.inverse.default(made)[..., 1, 0],
        "linalg_cholesky": lambda: aten.linalg_cholesky.default(made)[..., 1, 0],
        "cholesky": lambda: aten.cholesky.default(made)[..., 1, 1],
        "trace": lambda: x + aten.trace.default(wide.reshape(-1, wide.size(-1))) / wide.numel(),
    }
    return x + 0.1 * forms[choices.pick(tuple(forms))]().to(x.dtype)


def complex_pairs(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    """Features two by two as complex numbers."""
    if x.size(-1) % 2:
        return x
    wide = bounded(x).float()
    made = torch.view_as_complex(wide.reshape(*x.shape[:-1], -1, 2).contiguous())
    turns = torch.arange(made.size(-1)).float()
    forms: dict[str, Callable[[], torch.Tensor]] = {
        "polar": lambda: made * torch.polar(torch.ones_like(turns), turns),
        "exponential": lambda: made * torch.exp(1j * wide[..., ::2]),
        "conjugate": lambda: (made.conj() * made.flip(-1) - made) * 0.2,
        "quotient": lambda: made / (made.conj() * made + 2j),
        "modulus": lambda: torch.complex(made.abs(), made.imag) + made.mean(-1, keepdim=True),
        "product": lambda: (made.unsqueeze(-1) @ made.unsqueeze(-2)).sum(-1) * 0.1,
    }
    return torch.view_as_real(forms[choices.pick(tuple(forms))]()).flatten(-2).to(x.dtype)


STEPS: dict[str, Step] = {"function": function, "pair": pair, "blend": blend, "bits": bits}
STEPS |= {"measured": measured, "checked": checked, "matrices": matrices, "complex_pairs": complex_pairs}
FORMS = {"function": 21, "pair": 20, "blend": 9, "bits": 16, "measured": 10, "checked": 9, "matrices": 7}
FORMS |= {"complex_pairs": 6}
