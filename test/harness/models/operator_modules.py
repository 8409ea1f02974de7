"""Modules of operators that few models have, for models/make_module.py."""

from __future__ import annotations

import torch
from torch import nn

from harness.reference.loss_units import hide_labels

Tensors = dict[str, torch.Tensor]


class Losses(nn.Module):
    """Losses that compare a prediction with a target element by element, as means, sums and for each element."""

    untrained = ("target",)  # the margin has no derivative of it

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(16, 32)
        self.predict = nn.Linear(32, 12)
        self.register_buffer("weight", torch.rand(12) + 0.5)

    def forward(self, hidden: torch.Tensor, target: torch.Tensor) -> Tensors:
        logits = self.predict(self.up(hidden).relu())
        losses = nn.functional
        return {
            "mse": losses.mse_loss(logits, target),
            "mse_total": losses.mse_loss(logits, target, reduction="sum"),
            "l1": losses.l1_loss(logits, target),
            "smooth": losses.smooth_l1_loss(logits, target, beta=0.5),
            "huber": losses.huber_loss(logits, target, reduction="none"),
            "margin": losses.soft_margin_loss(logits, target.round() * 2 - 1),
            "chance": losses.binary_cross_entropy(logits.sigmoid(), target),
            "logit": losses.binary_cross_entropy_with_logits(logits, target, pos_weight=self.weight),
            "divergence": losses.kl_div(logits.log_softmax(-1), target.softmax(-1), reduction="batchmean"),
            **self.of_classes(logits, target),
        }

    def of_classes(self, logits: torch.Tensor, target: torch.Tensor) -> Tensors:
        """Losses of logarithms of probabilities, with samples that do not count, which are the first ones."""
        nll = nn.functional.nll_loss
        scores, classes = logits.log_softmax(-1), target.argmax(-1)
        some = torch.where(torch.arange(len(classes)) < 2, -100, classes)
        return {
            "class": nll(scores, classes),
            "class_of_some": nll(scores, some),
            "class_but_one": nll(scores, classes, ignore_index=4),
            "class_total": nll(scores, some, reduction="sum"),
            "class_each": nll(scores, some, reduction="none"),
            "class_halves": nll(scores.view(-1, 2, 6).transpose(1, 2), classes.unsqueeze(1).expand(-1, 2) % 6),
        }

    @staticmethod
    def inputs() -> Tensors:
        return {"hidden": torch.randn(6, 16), "target": torch.rand(6, 12)}


class ClassLosses(nn.Module):
    """Cross entropy with smoothed labels and weights of classes, of logits whose classes may be divided."""

    untrained = ("target",)  # only tells class numbers

    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(16, 12)
        self.register_buffer("weight", torch.rand(12) + 0.5)

    def forward(self, hidden: torch.Tensor, target: torch.Tensor) -> Tensors:
        logits = self.head(hidden)
        classes = target.argmax(-1)
        some = torch.where(torch.arange(len(classes)) < 2, -100, classes)

        def loss(wanted: torch.Tensor = classes, smoothing: float = 0.1, **options: object) -> torch.Tensor:
            return nn.functional.cross_entropy(logits, wanted, label_smoothing=smoothing, **options)

        return {
            "mean": loss(),
            "total": loss(reduction="sum"),
            "each": loss(reduction="none"),
            "some": loss(some),
            "some_total": loss(some, reduction="sum"),
            "some_each": loss(some, reduction="none"),
            "but_one": loss(ignore_index=4, smoothing=0.9),
            "weighted": loss(some, smoothing=0.0, weight=self.weight),
            "weighted_total": loss(some, smoothing=0.0, weight=self.weight, reduction="sum"),
            "weighted_smooth": loss(some, weight=self.weight),
            "weighted_each": loss(some, weight=self.weight, reduction="none"),
            **self.of_positions(hidden, classes),
        }

    def of_positions(self, hidden: torch.Tensor, classes: torch.Tensor) -> Tensors:
        """Losses of several class numbers for each sample, and of logarithms of probabilities."""
        logits = hidden.view(-1, 8, 2)
        wanted = torch.stack([classes % 8, classes % 5], dim=1)
        weight = self.weight[:8]
        scores = logits.log_softmax(1)
        return {
            "positions": nn.functional.cross_entropy(logits, wanted, label_smoothing=0.2),
            "positions_weighted": nn.functional.cross_entropy(logits, wanted, weight=weight, ignore_index=3),
            "positions_nll": nn.functional.nll_loss(scores, wanted, weight=weight, reduction="none"),
        }

    @staticmethod
    def inputs() -> Tensors:
        return {"hidden": torch.randn(6, 16), "target": torch.rand(6, 12)}


class Summed(nn.Module):
    """A text model whose loss is the sum of the losses of tokens. Of a sample's labels more or fewer count."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.norm = nn.Embedding(40, 24), nn.LayerNorm(24)
        self.up, self.down = nn.Linear(24, 48), nn.Linear(48, 24)
        self.head = nn.Linear(24, 40)

    def forward(self, input_ids: torch.Tensor, labels: torch.Tensor) -> Tensors:
        hidden = self.embed(input_ids)
        logits = self.head(hidden + self.down(self.up(self.norm(hidden)).relu()))
        rows, wanted = logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten()
        return {"loss": nn.functional.cross_entropy(rows, wanted, reduction="sum"), "logits": logits}

    @staticmethod
    def inputs() -> Tensors:
        ids = torch.randint(40, (6, 10))
        return hide_labels({"input_ids": ids, "labels": ids.clone()})


class Operators(nn.Module):
    """Recurrent layers, statistics, similarities, and elements at other positions, of samples that are divided."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(32, 64), nn.Linear(64, 32)
        self.lstm = nn.LSTM(32, 24, batch_first=True)
        self.gru = nn.GRU(32, 16, batch_first=True, bidirectional=True)
        self.slopes = nn.PReLU(40)

    def forward(self, hidden: torch.Tensor) -> Tensors:
        hidden = self.down(self.up(hidden).sinh().clamp(-2, 2))
        return {
            "lstm": self.lstm(hidden)[0],
            "gru": self.gru(hidden)[0],
            **self.statistics(hidden),
            **self.similarities(hidden),
            **self.places(hidden),
        }

    def statistics(self, hidden: torch.Tensor) -> Tensors:
        spread = (hidden - hidden.mean(-1, keepdim=True)) / (hidden.std(-1, keepdim=True) + 1)
        variance, mean = torch.var_mean(hidden, dim=1, unbiased=False)
        return {
            "spread": spread * hidden.logsumexp(1, keepdim=True),
            "moments": variance + mean.square() + hidden.norm(dim=1),
            "median": hidden.median(-1)[0] + hidden.cummax(1)[0].amax(-1),
            "classes": nn.functional.one_hot(hidden.argmax(-1), 32),
        }

    def similarities(self, hidden: torch.Tensor) -> Tensors:
        unit = nn.functional.normalize(hidden, dim=-1)
        turned = unit.flip(1).roll((1, -2), (1, 2))
        return {
            "cosine": nn.functional.cosine_similarity(hidden, turned, dim=-1),
            "distance": torch.cdist(hidden, turned),
            "blend": torch.lerp(unit, turned, 0.3) + torch.addcmul(unit, hidden, turned, value=0.5),
        }

    def places(self, hidden: torch.Tensor) -> Tensors:
        best = hidden.argmax(-1, keepdim=True)
        marked = torch.zeros_like(hidden).scatter(-1, best, 1.0)
        near = nn.functional.pad(hidden.swapaxes(1, 2), (2, 1), mode="reflect")
        images = hidden.unflatten(1, (4, 10)).movedim(-1, 1)
        return {
            "gated": nn.functional.glu(self.slopes(hidden)) + marked.narrow(-1, 3, 16),
            "near": near.unfold(2, 3, 2).sum(-1),
            "triangle": torch.tril(hidden @ hidden.mT, -1).tile((1, 2)),
            "pixels": nn.functional.pixel_shuffle(images, 2).relu(),
            "patches": nn.functional.unfold(images, 3, padding=1),
        }

    @staticmethod
    def inputs() -> Tensors:
        return {"hidden": torch.randn(6, 40, 32)}
