"""Operators with a record that values divided by a statement meet never or seldom, each with the reason."""

from __future__ import annotations

from fnmatch import fnmatchcase

REWRITTEN = "the importer makes another operator of it, or nothing"
MADE_WHOLE = "every rank makes all of it, and a consumer that is divided takes its part"
ALL_ELEMENTS = "it needs every element, so its operand is gathered"
OTHER_FORM = "only archives after run_decompositions have it, and few of these are drawn"
EXPERTS = "few models have routed rows, and fewer plans divide what they meet; `--mixtures` draws nothing else"
RECURRENT = "it reads all features and positions of a sample: only samples are divided"
LABELS = (
    "its operands are labels, or a number for each row: rows are samples and positions in one, which no style divides"
)
CLASSES = "its rows are samples and positions in one, which no style divides, and its classes are one projection"
TABLE = "the form of a table divided by rows, which neither columns nor the sequence are"
ROWS = "rows of a table are not of several parts, and indices are whole"
RANDOM = "models are drawn in evaluation mode; test/e2e has models that draw random numbers"
STEPS = "only a training has it; the coverage of trainings counts its draws"
HEADS = "it takes heads apart: a statement that divides something else is gathered before it"

COMPOSED = "only long rows that are divided become it, of a few of the steps that are drawn"

CUT = "it may take groups of the features or an element by number, which parts split one by one do not keep: not drawn"
TURNED = "it turns weights, which the sequence does not divide"
BIAS = "the bias of a contraction that is divided is added after it, by another operator"
SPLIT = "it cuts the sequence, which is gathered or refused where a style divides it"

# Operators of the backward pass, of the optimizer and of what lies around them.
OF_STEPS = (
    *("aten.*_backward*", "meshplan.*_backward", "meshplan.*_gradient*", "meshplan.accumulate", "meshplan.adam"),
    *(
        "meshplan.assign",
        "meshplan.balanced_bias",
        "meshplan.clip_factor",
        "meshplan.expert_tokens",
        "meshplan.index_sum",
        "meshplan.nonfinite_count",
    ),
    *("meshplan.note_nonfinite", "meshplan.round_gradient", "meshplan.scatter_sum*", "meshplan.sgd*"),
    *("meshplan.square_sum", "meshplan.sum_shared_heads", "meshplan.take_microbatch", "meshplan.to_*"),
)

EVERYWHERE = ("colwise", "rowwise", "sequence", "uneven", "tied", "parts")
BY_STYLE = ("colwise", "rowwise", "sequence", "tied", "parts")

# Reason, patterns of targets, columns.
REASONS: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    (REWRITTEN, ("aten.to.device", "aten.to.dtype_layout", "aten.to.other", "aten.type_as.default"), EVERYWHERE),
    (REWRITTEN, ("aten._to_copy.default", "aten.clone.default", "aten.lift_fresh_copy.default"), EVERYWHERE),
    (REWRITTEN, ("aten.alias.default", "aten.copy.default", "aten.dropout.default", "aten.*_like.default"), EVERYWHERE),
    (REWRITTEN, ("aten.new_*.default",), EVERYWHERE),
    (MADE_WHOLE, ("aten.zeros.default", "aten.ones.default", "aten.full.default", "aten.empty.*"), EVERYWHERE),
    (MADE_WHOLE, ("aten.arange.*", "aten.scalar_tensor.default"), EVERYWHERE),
    (ALL_ELEMENTS, ("aten.min.default", "aten.any.default", "aten.all.default", "aten.median.default"), EVERYWHERE),
    (ALL_ELEMENTS, ("aten.prod.default", "aten.norm.Scalar", "aten.trace.default"), EVERYWHERE),
    (OTHER_FORM, ("aten.convolution.default", "aten._native_batch_norm_legit_no_training.default"), EVERYWHERE),
    (EXPERTS, ("aten._grouped_mm.default", "meshplan.grouped_mm"), EVERYWHERE),
    (EXPERTS, ("meshplan.grouped_linear*", "meshplan.grouped_bias", "meshplan.route"), EVERYWHERE),
    (EXPERTS, ("meshplan.dispatch*", "meshplan.combine", "meshplan.collect_gates"), EVERYWHERE),
    (EXPERTS, ("meshplan.drop_choices", "meshplan.dropout_rows"), EVERYWHERE),
    (RECURRENT, ("aten.lstm*", "aten.gru*", "aten.rnn_*"), BY_STYLE),
    (LABELS, ("aten.bincount.default",), EVERYWHERE),
    (LABELS, ("meshplan.token_loss", "meshplan.count_tokens", "meshplan.class_weight"), BY_STYLE),
    (CLASSES, ("meshplan.row_*",), ("sequence", "parts")),
    (TABLE, ("meshplan.embedding",), ("colwise", "sequence", "parts")),
    (ROWS, ("aten.embedding.default", "aten.embedding_bag.*"), ("sequence", "parts")),
    (RANDOM, ("meshplan.dropout", "meshplan.uniform"), EVERYWHERE),
    (STEPS, OF_STEPS, EVERYWHERE),
    (
        COMPOSED,
        ("meshplan.extreme_position", "meshplan.*_part", "aten.linalg__powsum.default"),
        ("sequence", "tied", "parts"),
    ),
    (HEADS, ("meshplan.attention",), ("rowwise", "sequence", "parts")),
    (CUT, ("aten.flip.default", "aten.roll.default", "aten.rot90.default"), ("parts",)),
    (CUT, ("aten.unfold.default", "aten.diag*.default", "aten.tril.default", "aten.triu.default"), ("parts",)),
    (CUT, ("aten.pixel_*", "aten.channel_shuffle.default", "aten.im2col.default", "aten.col2im.default"), ("parts",)),
    (CUT, ("aten._unsafe_view.default", "aten.group_norm.default"), ("parts",)),
    (TURNED, ("aten.t.default",), ("sequence",)),
    (BIAS, ("meshplan.linear",), ("rowwise",)),
    (SPLIT, ("aten.tensor_split.*",), ("sequence",)),
)


def is_of_steps(target: str) -> bool:
    return any(fnmatchcase(target, pattern) for pattern in OF_STEPS)


def reason_of(target: str, column: str) -> str:
    """Why few draws of this operator are divided so; empty if enough should be."""
    for reason, patterns, columns in REASONS:
        if column in columns and any(fnmatchcase(target, pattern) for pattern in patterns):
            return reason
    return ""
