"""Operators with a record that a divided value never meets, each with the reason."""

from __future__ import annotations

REWRITTEN = "the importer makes another operator of it, or nothing"
MADE_WHOLE = "every rank makes all of it, and a consumer that is divided takes its part"
ALL_ELEMENTS = "it needs every element, so its operand is gathered"
OTHER_FORM = "only archives after run_decompositions have it, and few of these are drawn"
FEW = "drawn by no walk: test/sharding/records divides it, and few models have it"
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
    **_named(ALL_ELEMENTS, "median.default", "prod.default", "norm.Scalar"),
    **_named(FEW, *(f"{name}.input" for name in ("lstm", "gru", "rnn_tanh", "rnn_relu"))),
    **_named(FEW, *(f"{name}_cell.default" for name in ("lstm", "gru", "rnn_tanh", "rnn_relu"))),
    **_named(FEW, "_cdist_forward.default", "linalg_cross.default", "cross.default", "bilinear.default"),
    **_named(FEW, "pixel_shuffle.default", "pixel_unshuffle.default", "channel_shuffle.default"),
    **_named(FEW, "im2col.default", "col2im.default", "adaptive_avg_pool3d.default", "_adaptive_avg_pool3d.default"),
    **_named(FEW, "adaptive_max_pool1d.default", "adaptive_max_pool2d.default"),
    **_named(FEW, *(f"{kind}_pad{dims}d.default" for kind in ("reflection", "replication") for dims in (1, 2, 3))),
    **_named(EXPERTS, "_grouped_mm.default"),
    "meshplan.grouped_mm": EXPERTS,
}
