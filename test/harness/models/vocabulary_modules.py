"""Losses, metrics and norms over a vocabulary that a plan splits, each on a parameter of its own."""

from __future__ import annotations

import math

import torch
from torch import nn

from harness.models.each_operator import Operator, Tensors, indices

functional = nn.functional

SAMPLES, ROWS, CLASSES = 6, 4, 70  # classes enough for a heap of one, and none of 3, 4 and 8 divides them


def labels() -> torch.Tensor:
    return indices(CLASSES, SAMPLES, ROWS)


def chosen(logits: torch.Tensor) -> torch.Tensor:
    """Logarithms of the probabilities of the labels: [samples, rows]."""
    return logits.log_softmax(-1).gather(-1, labels().unsqueeze(-1)).squeeze(-1)


def of_rows(logits: torch.Tensor) -> torch.Tensor:
    """The same by the numbers of samples, rows and classes, of which some count from the end."""
    samples, rows = torch.arange(SAMPLES).unsqueeze(1), torch.arange(ROWS)
    return logits.log_softmax(-1)[samples, rows, torch.where(labels() > 40, labels() - CLASSES, labels())]


def of_merged_rows(logits: torch.Tensor) -> torch.Tensor:
    rows = logits.flatten(0, 1).log_softmax(-1)
    return rows[torch.arange(SAMPLES * ROWS), labels().flatten()]


def of_other_rows(logits: torch.Tensor) -> torch.Tensor:
    """Some rows, some of them twice, and classes of which some count from the end: [rows, samples]."""
    rows, classes = indices(ROWS, 5, 1), indices(CLASSES, 5, 1) - CLASSES // 2
    return logits.log_softmax(-1)[:, rows, classes.flip(0)]


def preference(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    policy, reference = chosen(x).sum(-1), chosen(y.detach()).sum(-1)
    better, worse = policy[:3] - reference[:3], policy[3:] - reference[3:]
    return -functional.logsigmoid(0.3 * (better - worse))


def clipped_policy(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    ratio, advantage = torch.exp(chosen(x) - chosen(y).detach()), labels() / 9 - 1.3
    return -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage)


def streams(x: torch.Tensor, _: torch.Tensor) -> torch.Tensor:
    """As in ProphetNet: logits of rows first, all dims but the classes merged, some labels of no account."""
    logits = x.transpose(0, 1).contiguous()
    wanted = torch.where(labels() > 30, -100, labels()).transpose(0, 1).contiguous()
    rows = functional.log_softmax(logits.view(-1, CLASSES), dim=-1, dtype=torch.float32)
    loss = functional.nll_loss(rows, wanted.view(-1), reduction="mean", ignore_index=-100)
    return loss - 0.1 * rows.mean(-1).masked_fill(wanted.view(-1) == -100, 0).mean()


def smoothed(x: torch.Tensor, _: torch.Tensor) -> torch.Tensor:
    return -0.9 * chosen(x) - 0.1 * x.log_softmax(-1).mean(-1)


def margin(x: torch.Tensor, _: torch.Tensor) -> torch.Tensor:
    """By how much the best of the other classes is better."""
    others = x.masked_fill(functional.one_hot(labels(), CLASSES).bool(), -math.inf)
    return functional.relu(others.max(-1).values - x.gather(-1, labels().unsqueeze(-1)).squeeze(-1) + 1)


def entropy(x: torch.Tensor, _: torch.Tensor) -> torch.Tensor:
    return torch.distributions.Categorical(logits=x, validate_args=False).entropy()


def distilled(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    teacher = functional.softmax(y.detach() / 2, -1)
    return functional.kl_div(functional.log_softmax(x / 2, -1), teacher, reduction="none").sum(-1)


def best(x: torch.Tensor, _: torch.Tensor) -> torch.Tensor:
    values, indices = x.topk(1)
    return values + 0.1 * (indices == labels().unsqueeze(-1)).to(x.dtype)


def tied(x: torch.Tensor) -> torch.Tensor:
    """Of few different numbers, so that most rows have their largest one several times."""
    return (2 * x.detach()).round()


def norms(order: float) -> Operator:
    return lambda x, y: torch.linalg.vector_norm(x, order, dim=-1, keepdim=True) * 0.1


LOSSES: dict[str, Operator] = {
    "preference": preference,
    "distilled": distilled,
    "distilled_logarithms": lambda x, y: functional.kl_div(
        x.log_softmax(-1), y.log_softmax(-1), log_target=True, reduction="batchmean"
    ),
    "policy": clipped_policy,
    "of_rows": lambda x, y: of_rows(x) * 0.3,
    "of_other_rows": lambda x, y: of_other_rows(x) * 0.2,
    "of_merged_rows": lambda x, y: of_merged_rows(x).square(),
    "z_loss": lambda x, y: x.logsumexp(-1).square(),
    "entropy": entropy,
    "streams": streams,
    "smoothed": smoothed,
    "margin": margin,
    "best": best,
    "extremes": lambda x, y: x.max(-1).values - x.min(-1).values + x.amax(-1) * x.amin(-1),
    "selected": lambda x, y: x.index_select(-1, torch.tensor([3, 69, 3, 40])),
    "columns": lambda x, y: x[:, :, torch.tensor([[3, -1], [40, 3]])].sum(-2),
    "banned": lambda x, y: x.scatter(-1, labels().unsqueeze(-1), -5.0).log_softmax(-1).square().sum(-1),
    "replaced": lambda x, y: x.scatter(-1, labels().unsqueeze(-1), y.mean(-1, keepdim=True)).logsumexp(-1),
    "shifted": lambda x, y: (
        x.scatter_add(-1, labels().unsqueeze(-1), y.amax(-1, keepdim=True)).softmax(-1).square().sum(-1)
    ),
    "along": lambda x, y: torch.take_along_dim(x, labels().unsqueeze(-1)[:1] - CLASSES // 2, -1),
    "shares": lambda x, y: functional.softmin(x, -1) * y,
}

METRICS: dict[str, Operator] = {
    "argmax": lambda x, y: tied(x).argmax(-1),
    "argmin": lambda x, y: tied(x).argmin(-1, keepdim=True),
    "argmax_int": lambda x, y: tied(x).long().argmax(-1),
    "max": lambda x, y: tied(x).max(-1).indices,
    "min": lambda x, y: tied(x).min(-1).indices,
    "topk": lambda x, y: tied(x).topk(1).indices,
    "topk_least": lambda x, y: tied(x).long().topk(1, largest=False).indices,
    "topk_not_numbers": lambda x, y: tied(x).masked_fill(tied(x) == 1, math.nan).topk(1).indices,
    "argmax_not_numbers": lambda x, y: tied(x).masked_fill(tied(x) == 1, math.nan).argmax(-1),
    "nothing_left": lambda x, y: x.detach().masked_fill(labels().unsqueeze(-1) > 20, -math.inf).logsumexp(-1),
    "any": lambda x, y: (x > 1.5).any(-1),
    "all": lambda x, y: (x > -2.5).all(-1),
}

NORMS: dict[str, Operator] = {
    **{f"norm_{name}": norms(order) for name, order in {"one": 1, "two": 2, "three": 3}.items()},
    "norm_half": lambda x, y: torch.linalg.vector_norm(x.abs() + 0.5, 0.5, dim=-1) * 1e-3,
    "norm_most": norms(math.inf),
    "norm_least": norms(-math.inf),
    "norm_of_zeros": lambda x, y: torch.linalg.vector_norm(x * 0, 2, dim=-1),
    "normalized": lambda x, y: functional.normalize(x, dim=-1) * y,
    "cosine": lambda x, y: functional.cosine_similarity(x, y, dim=-1),
    "distance": lambda x, y: functional.pairwise_distance(x, y),
    "variance": lambda x, y: x.var(-1),
    "deviation": lambda x, y: torch.stack(torch.std_mean(x, -1, correction=0)),
    "spread": lambda x, y: torch.stack(torch.var_mean(x, -1)),
    "layer_norm": lambda x, y: functional.layer_norm(x, (CLASSES,), y[0, 0], y[1, 0]),
    "rms_norm": lambda x, y: functional.rms_norm(x, (CLASSES,), y[0, 1]),
    "norm_of_rows": lambda x, y: functional.layer_norm(x, (ROWS, CLASSES)),
}


class OverVocabulary(nn.Module):
    """Two products, of which a plan divides the classes, and what is made of their results."""

    def __init__(self) -> None:
        super().__init__()
        self.front, self.other = nn.Linear(16, CLASSES), nn.Linear(16, CLASSES)
        self.scales = nn.ParameterDict({f"of_{name}": torch.rand(CLASSES) + 0.5 for name in LOSSES | NORMS})

    def forward(self, hidden: torch.Tensor) -> Tensors:
        first, second = self.front(hidden), self.other(hidden)
        trained = LOSSES | NORMS
        results = {name: call(first * self.scales[f"of_{name}"], second) for name, call in trained.items()}
        return results | {name: call(first, second) for name, call in METRICS.items()}

    @staticmethod
    def inputs() -> Tensors:
        return {"hidden": torch.randn(SAMPLES, ROWS, 16)}
