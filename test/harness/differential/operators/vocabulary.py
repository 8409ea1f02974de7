"""Losses, metrics and norms over a vocabulary: the last dim of a state, of which each feature stands for some classes.

What reads all classes of a row does so by numbers of each part of it, where a row is long enough
(compiler/compositions).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch.nn import functional

from harness.differential.choices import Choices
from harness.differential.operators.elementwise import Step, bounded
from harness.differential.operators.reductions import apart
from harness.differential.operators.shapes import MOST_ELEMENTS

aten = torch.ops.aten

CLASSES = (8, 5, 16)  # for each feature
Form = Callable[[torch.Tensor, torch.Tensor, Choices], torch.Tensor]


def widened(x: torch.Tensor, count: int) -> torch.Tensor:
    """[.., features] to [.., features * count], with no two classes alike."""
    slopes = torch.arange(count).to(x.dtype) * 0.217 - 0.731
    made = (bounded(x).unsqueeze(-1) * slopes).flatten(-2)
    return made + (torch.arange(made.size(-1)) * 0.0173).to(x.dtype)


def classes_of(logits: torch.Tensor) -> torch.Tensor:
    """A class for each row."""
    rows = logits.shape[:-1]
    return (torch.arange(rows.numel()) * 7 % logits.size(-1)).view(rows)


def by_rows(logarithms: torch.Tensor, _: torch.Tensor, choices: Choices) -> torch.Tensor:
    """By the numbers of rows beside those of the classes."""
    logarithms = logarithms.log_softmax(-1) if choices.flag() else logarithms
    classes = classes_of(logarithms)
    if choices.flag():
        rows = torch.arange(classes.numel())
        return logarithms.flatten(0, -2)[rows, classes.flatten() - logarithms.size(-1)].view(classes.shape)
    if choices.flag():  # other rows, some of them twice
        rows = torch.arange(classes.numel()) * 3 % classes.numel()
        return logarithms.flatten(0, -2)[rows, classes.flatten()].view(classes.shape)
    counts = [torch.arange(size).view(-1, *[1] * position) for position, size in enumerate(reversed(classes.shape))]
    return logarithms[(*reversed(counts), classes)]


def picked(logarithms: torch.Tensor) -> torch.Tensor:
    return logarithms.gather(-1, classes_of(logarithms).unsqueeze(-1)).squeeze(-1)


def preference(x: torch.Tensor, y: torch.Tensor, choices: Choices) -> torch.Tensor:
    policy, reference = picked(x.log_softmax(-1)), picked(y.log_softmax(-1)).detach()
    return functional.softplus((policy - reference) * choices.pick((-0.3, 0.5)))


def policy(x: torch.Tensor, y: torch.Tensor, choices: Choices) -> torch.Tensor:
    ratio = torch.exp(picked(x.log_softmax(-1)) - picked(y.log_softmax(-1)).detach())
    advantage = choices.pick((0.7, -0.4))
    return torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage)


def distillation(x: torch.Tensor, y: torch.Tensor, choices: Choices) -> torch.Tensor:
    heat = choices.pick((1.0, 2.0))
    if choices.flag():
        return functional.kl_div((x / heat).log_softmax(-1), (y / heat).softmax(-1), reduction="none").sum(-1)
    return functional.kl_div(x.log_softmax(-1), y.log_softmax(-1), reduction="none", log_target=True).sum(-1)


def logarithm_of_sum(x: torch.Tensor, _: torch.Tensor, choices: Choices) -> torch.Tensor:
    squared = choices.flag()
    total = x.logsumexp(-1)
    return total.square() if squared else total


def entropy(x: torch.Tensor, _: torch.Tensor, choices: Choices) -> torch.Tensor:
    return -(x.softmax(-1) * x.log_softmax(-1)).sum(-1)


def merged(x: torch.Tensor, _: torch.Tensor, choices: Choices) -> torch.Tensor:
    """Rows of all dims but the classes; some have a label that does not count."""
    rows, wanted = x.flatten(0, -2), classes_of(x).flatten()
    wanted = torch.where(wanted % 5 == 3, -100, wanted)
    return functional.nll_loss(rows.log_softmax(-1), wanted, reduction="none").view(x.shape[:-1])


def smoothed(x: torch.Tensor, _: torch.Tensor, choices: Choices) -> torch.Tensor:
    logarithms = x.log_softmax(-1)
    return -0.9 * picked(logarithms) - 0.1 * logarithms.mean(-1)


def margin(x: torch.Tensor, _: torch.Tensor, choices: Choices) -> torch.Tensor:
    others = x.masked_fill(functional.one_hot(classes_of(x), x.size(-1)).bool(), -math.inf)
    return functional.softplus(others.amax(-1) - picked(x))


def position(x: torch.Tensor, _: torch.Tensor, choices: Choices) -> torch.Tensor:
    """Positions of extremes, of rows in which these are often there several times."""
    rounded = x.detach().float().round()
    rounded = rounded.long() if choices.flag() else rounded
    name = choices.pick(("argmax", "argmin", "max", "min"))
    if name.startswith("arg"):
        return getattr(rounded, name)(-1).to(x.dtype)
    return getattr(aten, name).dim(rounded, -1)[1].to(x.dtype)


def selected(x: torch.Tensor, _: torch.Tensor, choices: Choices) -> torch.Tensor:
    largest, count = choices.pick((True, False)), min(x.size(-1), choices.pick((1, 2, 3)))
    if choices.flag():
        scores = x.detach().float()
        scores = apart(scores, x.dim() - 1) if choices.distinct else scores.round()
        indices = scores.topk(count, largest=largest).indices
        return indices.to(x.dtype).mean(-1)
    return x.topk(count, largest=largest).values.sum(-1)


def extremes(x: torch.Tensor, _: torch.Tensor, choices: Choices) -> torch.Tensor:
    return x.max(-1).values - 0.5 * x.min(-1).values if choices.flag() else x.amax(-1) * 0.3 + x.amin(-1)


def gathered(x: torch.Tensor, _: torch.Tensor, choices: Choices) -> torch.Tensor:
    if choices.flag():
        return x.index_select(-1, torch.tensor([0, x.size(-1) - 1, 0])).sum(-1)
    return torch.take_along_dim(x, classes_of(x).unsqueeze(-1), -1).squeeze(-1)


def vector_norm(x: torch.Tensor, _: torch.Tensor, choices: Choices) -> torch.Tensor:
    order = choices.pick((2, 1, 3, 0.5, math.inf, 1.5))
    # Elements of size zero have no slope of such norms.
    x = x.abs() + 0.3 if order < 2 else x
    return aten.linalg_vector_norm.default(x, order, [-1]) * (0.01 if order < 1 else 1)


def likeness(x: torch.Tensor, y: torch.Tensor, choices: Choices) -> torch.Tensor:
    forms: dict[str, Callable[[], torch.Tensor]] = {
        "cosine": lambda: functional.cosine_similarity(x, y, dim=-1),
        "normalized": lambda: (functional.normalize(x, dim=-1) * functional.normalize(y, dim=-1)).sum(-1),
        "distance": lambda: functional.pairwise_distance(x, y),
    }
    return forms[choices.pick(tuple(forms))]()


def spread(x: torch.Tensor, _: torch.Tensor, choices: Choices) -> torch.Tensor:
    forms: dict[str, Callable[[], torch.Tensor]] = {
        "deviation": lambda: x.std(-1),
        "both": lambda: sum(torch.var_mean(x, -1)),
        "layer": lambda: functional.layer_norm(x, x.shape[-1:], x.flatten(0, -2)[0] * 0.1 + 1).amax(-1),
        "rms": lambda: functional.rms_norm(x, x.shape[-1:], x.flatten(0, -2)[0] * 0.1 + 1).amax(-1),
    }
    return forms[choices.pick(tuple(forms))]()


FORMS_OF_STEP: dict[str, Form] = {
    "preference": preference,
    "policy": policy,
    "distillation": distillation,
    "logarithm_of_sum": logarithm_of_sum,
    "entropy": entropy,
    "merged": merged,
    "smoothed": smoothed,
    "margin": margin,
    "position": position,
    "selected": selected,
    "extremes": extremes,
    "gathered": gathered,
    "by_rows": by_rows,
    "vector_norm": vector_norm,
    "likeness": likeness,
    "spread": spread,
}


def vocabulary(x: torch.Tensor, choices: Choices) -> torch.Tensor:
    """A number of each row, which changes the row."""
    form, count = FORMS_OF_STEP[choices.pick(tuple(FORMS_OF_STEP))], choices.pick(CLASSES)
    is_probe = x.dtype == torch.float64  # of a step's steadiness
    if x.dim() < 2 or (x.numel() * count > MOST_ELEMENTS and not is_probe):
        return x
    logits = widened(x, count)
    number = form(logits, widened(x.cos(), count), choices)
    return bounded(x) + 0.1 * bounded(number).unsqueeze(-1).to(x.dtype)


STEPS: dict[str, Step] = {"vocabulary": vocabulary}
FORMS = {"vocabulary": 30}
