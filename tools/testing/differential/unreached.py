"""Operators with a record that a divided value never meets, each with the reason."""

from __future__ import annotations

REWRITTEN = "the importer makes another operator of it, or nothing"
MADE_WHOLE = "every rank makes all of it, and a consumer that is divided takes its part"
ALL_ELEMENTS = "it needs every element, so its operand is gathered"
OTHER_FORM = "only archives after run_decompositions have it, and few of these are drawn"
EXPERTS = "experts with sorted tokens are drawn by no block; test/e2e has them"


def _named(reason: str, *names: str) -> dict[str, str]:
    return {f"aten.{name}": reason for name in names}


UNREACHED: dict[str, str] = {
    **_named(REWRITTEN, "to.device", "to.dtype_layout", "to.other", "type_as.default", "_to_copy.default"),
    **_named(REWRITTEN, "clone.default", "lift_fresh_copy.default", "alias.default", "copy.default", "dropout.default"),
    **_named(REWRITTEN, *(f"new_{name}.default" for name in ("zeros", "ones", "full", "empty"))),
    **_named(REWRITTEN, *(f"{name}_like.default" for name in ("zeros", "ones", "full", "empty"))),
    **_named(MADE_WHOLE, "zeros.default", "ones.default", "full.default", "empty.memory_format"),
    **_named(MADE_WHOLE, "arange.default", "arange.start", "arange.start_step", "scalar_tensor.default"),
    **_named(ALL_ELEMENTS, "min.default", "any.default", "all.default"),
    **_named(OTHER_FORM, "convolution.default", "_native_batch_norm_legit_no_training.default"),
    **_named(ALL_ELEMENTS, "median.default", "prod.default", "norm.Scalar", "trace.default"),
    **_named(EXPERTS, "_grouped_mm.default"),
    "meshplan.grouped_mm": EXPERTS,
}
