"""The module of a case, its inputs and weights."""

from __future__ import annotations

import torch
from torch import nn

from harness.differential import case
from harness.differential.choices import Choices
from harness.differential.models.attention import Attention
from harness.differential.models.blocks import Experts, FeedForward, Gated, Norm, Shared, Tables, Walk
from harness.differential.models.fans import Fan
from harness.differential.models.images import Convolution, Patches
from harness.differential.models.layers import Context, Layer
from harness.differential.models.made_weights import Made
from harness.differential.models.mixtures import Mixture
from harness.differential.models.recurrent import Recurrent
from harness.reference.loss_units import hide_labels

Tensors = dict[str, torch.Tensor]

KINDS: dict[str, type[Layer]] = {
    "attention": Attention,
    "convolution": Convolution,
    "experts": Experts,
    "fan": Fan,
    "feed_forward": FeedForward,
    "gated": Gated,
    "made": Made,
    "mixture": Mixture,
    "norm": Norm,
    "recurrent": Recurrent,
    "shared": Shared,
    "tables": Tables,
    "walk": Walk,
}
STEMS = ("hidden", "text", "pixels")
HEADS = ("none", "tokens", "tied", "pooled", "matched")
LOSSES = ("none", "mean", "sum", "ignored", "shifted", "smoothed", "weighted")


def loss_kind(head: case.Block) -> str:
    """What a head with logits makes of them; of those of samples always a mean."""
    return "mean" if head.kind == "pooled" else Choices(head.numbers).pick(LOSSES)


def class_weights(logits: torch.Tensor) -> torch.Tensor:
    return torch.arange(logits.size(1)).to(logits.dtype) * 0.07 + 0.5


class Head(nn.Module):
    """Logits of tokens or of samples, and a loss."""

    def __init__(self, block: case.Block, sizes: case.Sizes, table: nn.Embedding | None) -> None:
        super().__init__()
        choices = Choices(block.numbers)
        self.kind = block.kind
        self.loss = choices.pick(LOSSES)
        self.pooling = choices.pick(("mean", "first", "max"))
        # In a training without a loss of its own.
        self.is_read = self.kind not in ("tokens", "tied") or self.loss != "none" or self.pooling != "max"
        if self.kind in ("tokens", "tied", "pooled"):
            bias = choices.flag() and self.kind != "tied"
            self.logits = nn.Linear(sizes.features, sizes.vocabulary, bias=bias)
            self.logits.units, self.logits.role, self.logits.parts = sizes.features, "wide", ""
        if self.kind == "tied" and table is not None:
            self.logits.weight = table.weight

    def forward(self, x: torch.Tensor, labels: torch.Tensor, context: Context) -> None:
        outputs = context.outputs
        if self.kind == "none":
            return
        if self.kind == "matched":
            x = x.float() if context.trains else x
            outputs["loss"] = (torch.tanh(x) - torch.cos(x)).square().mean()
            return
        if self.kind == "pooled":
            pooled = {"mean": lambda: x.mean(1), "first": lambda: x[:, 0], "max": lambda: x.amax(1)}[self.pooling]()
            outputs["logits"] = self.logits(pooled)
            if context.trains:
                outputs["loss"] = nn.functional.cross_entropy(outputs["logits"].float(), labels[:, 0])
            return
        logits = outputs["logits"] = self.logits(x)
        if self.loss == "none":
            if context.trains and self.is_read:
                outputs["scores"] = logits
            return
        if self.loss == "shifted":
            logits, labels = logits[:, :-1].contiguous(), labels[:, 1:]
        rows, wanted = logits.reshape(-1, logits.size(-1)).float(), labels.reshape(-1)
        if self.loss == "ignored":
            wanted = torch.where(wanted > 2, wanted, -100)
        options: dict[str, object] = {"reduction": "sum" if self.loss == "sum" else "mean"}
        if self.loss in ("smoothed", "weighted"):
            options["label_smoothing"] = 0.1
        if self.loss == "weighted":
            options["weight"] = class_weights(rows)
        outputs["loss"] = nn.functional.cross_entropy(rows, wanted, **options)


def trained_loss(outputs: Tensors) -> torch.Tensor:
    """The model's loss, if it has one, and what its other outputs but logits count for."""
    losses = [outputs["loss"].float()] if "loss" in outputs else []
    for name, value in outputs.items():
        if name not in ("loss", "logits") and value.is_floating_point():
            losses.append(value.float().tanh().square().mean())
    return sum(losses[1:], losses[0])


class Model(nn.Module):
    def __init__(self, drawn: case.Case) -> None:
        super().__init__()
        self.trains, self.dropout, self.plain = drawn.steps > 0, drawn.dropout, drawn.plain
        sizes = drawn.sizes
        self.stem_kind = drawn.stem.kind
        table = None
        if self.stem_kind == "text":
            self.stem = table = nn.Embedding(sizes.vocabulary, sizes.features)
            self.stem.role = "table"
        elif self.stem_kind == "pixels":
            self.stem = Patches(sizes)
        self.blocks = nn.ModuleDict({block.name: KINDS[block.kind](block, sizes) for block in drawn.blocks})
        self.head = Head(drawn.head, sizes, table)

    def forward(self, start: torch.Tensor, mask: torch.Tensor, labels: torch.Tensor) -> Tensors:
        context = Context(mask, self.dropout, self.trains)
        x = start if self.stem_kind == "hidden" else self.stem(start)
        for block in self.blocks.values():
            x = block(x, context)
            if self.dropout:
                x = nn.functional.dropout(x, self.dropout)
        self.head(x, labels, context)
        outputs = {**context.outputs, "hidden": x}
        if not self.trains or self.plain:
            return outputs
        logits = {name: value for name, value in outputs.items() if name == "logits"}
        return {"loss": trained_loss(outputs), "hidden": x, **logits}


def make_inputs(drawn: case.Case) -> Tensors:
    sizes, generator = drawn.sizes, torch.Generator().manual_seed(drawn.model_seed)
    positions = (sizes.batch, sizes.sequence)
    if drawn.stem.kind == "text":
        start = torch.randint(sizes.vocabulary, positions, generator=generator)
    elif drawn.stem.kind == "pixels":
        start = torch.randn(sizes.batch, 3, 2, 2 * sizes.sequence, generator=generator)
    else:
        start = torch.randn(*positions, sizes.features, generator=generator)
    if drawn.half and start.is_floating_point():
        start = start.to(torch.bfloat16)
    mask = torch.rand(positions, generator=generator) < 0.7
    mask[:, 0] = True  # every query sees a key
    inputs = {"start": start, "mask": mask, "labels": torch.randint(sizes.vocabulary, positions, generator=generator)}
    return hide_labels(inputs) if drawn.plain else inputs


def make_model(drawn: case.Case) -> Model:
    """In evaluation mode, with biases, scales and statistics other than 0 and 1."""
    torch.manual_seed(drawn.model_seed)
    model = Model(drawn).eval()
    with torch.no_grad():
        for tensor in model.state_dict().values():
            if tensor.is_floating_point() and tensor.dim() == 1:
                tensor.add_(torch.rand_like(tensor), alpha=0.2)
    return model.to(torch.bfloat16) if drawn.half else model
