"""The loss of a drawn training as the statement `loss` redefines it, by hand."""

from __future__ import annotations

import torch
from torch.nn import functional

from harness.differential import case
from harness.differential.models.model import class_weights, loss_kind
from harness.reference.loss_units import IGNORED, mean_of

SMOOTHING = {"smoothed": 0.1, "weighted": 0.1}


def wanted_labels(head: case.Block, labels: torch.Tensor) -> torch.Tensor:
    """The labels [sample, target] that the head compares with."""
    if head.kind == "pooled":
        return labels[:, :1]
    kind = loss_kind(head)
    if kind == "ignored":
        return torch.where(labels > 2, labels, IGNORED)
    return labels[:, 1:] if kind == "shifted" else labels


def redefined(drawn: case.Case, outputs: dict[str, torch.Tensor], labels: torch.Tensor, unit: str) -> torch.Tensor:
    """Of `logits`, in the dtype of the model's own `loss`. Weights and smoothing are in the losses of targets."""
    wanted, kind = wanted_labels(drawn.head, labels), loss_kind(drawn.head)
    logits = outputs["logits"].to(outputs["loss"].dtype)
    logits = logits.reshape(len(labels), -1, logits.size(-1))[:, : wanted.size(1)].transpose(1, 2)
    weight = class_weights(logits) if kind == "weighted" else None
    losses = functional.cross_entropy(
        logits, wanted, weight, reduction="none", ignore_index=IGNORED, label_smoothing=SMOOTHING.get(kind, 0.0)
    )
    return mean_of(losses, wanted != IGNORED, unit).to(outputs["loss"].dtype)
