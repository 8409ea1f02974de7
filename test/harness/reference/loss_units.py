"""The loss of a text model by hand, per token or per sequence, as the statement `loss` of a plan redefines it."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch.nn import functional

IGNORED = -100  # the label of a token that does not count, of torch.nn.functional.cross_entropy
UNITS = ("token", "sequence")


def hide_labels(inputs: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The inputs with labels of which ever more do not count from sample to sample: none of the first, all of the
    last."""
    labels = inputs["labels"]
    samples, length = labels.shape
    hidden = torch.arange(samples) * length // max(samples - 1, 1)
    return {**inputs, "labels": labels.masked_fill(torch.arange(length) < hidden[:, None], IGNORED)}


def redefined(outputs: Mapping[str, torch.Tensor], labels: torch.Tensor, unit: str) -> torch.Tensor:
    """Of `logits` [batch, sequence, classes], where each position predicts the next label. The losses of tokens have
    the dtype of the model's own `loss`, and so has their mean, which is rounded once."""
    wanted = functional.pad(labels, (0, 1), value=IGNORED)[:, 1:]
    dtype = outputs["loss"].dtype
    logits = outputs["logits"].to(dtype).transpose(1, 2)
    losses = functional.cross_entropy(logits, wanted, reduction="none", ignore_index=IGNORED)
    return mean_of(losses, wanted != IGNORED, unit).to(dtype)


def mean_of(losses: torch.Tensor, counted: torch.Tensor, unit: str) -> torch.Tensor:
    """The mean of losses [sample, target], in 32 bits or more; those that do not count are 0."""
    losses, counts = losses.to(torch.promote_types(losses.dtype, torch.float32)), counted.sum(1)
    if unit == "token":
        return losses.sum() / counts.sum()
    return (losses.sum(1) / counts.clamp(min=1)).mean()
