"""Exports hand-written modules with operators that the exported Hugging Face models do not have.

make_module.main(words):

  NAME -o OUT.pt2 --weights-out OUT.safetensors --inputs-out OUT.inputs.safetensors
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import nn

from harness.models.balanced_mixture import BalancedMixtures
from harness.models.counted_mixture import CountedMixtures
from harness.models.derivative_modules import DERIVATIVE_MODULES
from harness.models.masked_attentions import MaskedAttentions
from harness.models.mixture_modules import (
    AdaptedMixtures,
    CapacityMixtures,
    EdgeMixtures,
    FewTokens,
    LoopMixtures,
    Mixtures,
    OneToken,
    SparseMixtures,
)
from harness.models.operator_modules import ClassLosses, Losses, Operators, Summed
from harness.models.parameter_functions import OpaqueFunctions, ParameterFunctions
from harness.models.prescribed_mixture import PrescribedMixtures
from harness.models.random_modules import (
    DecomposedDropouts,
    Distributions,
    Dropouts,
    EvaluatedDropouts,
    WrittenDropouts,
)
from harness.models.recurrent_modules import Recurrent, Transposed
from harness.models.region_modules import Complex, Regions
from harness.models.statistics_module import EvaluatedStatistics, Statistics
from harness.models.stopped_module import Stopped
from harness.models.vocabulary_modules import OverVocabulary
from harness.models.with_loss import with_loss

Tensors = dict[str, torch.Tensor]


class Convolutions(nn.Module):
    """Convolutions and pools with and without overlap, and norms of samples, groups and features."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(4, 16, 2, stride=2)
        self.stem_norm = nn.GroupNorm(4, 16)
        self.depth = nn.Conv2d(16, 16, 3, padding=1, groups=16)
        self.wide = nn.Conv2d(16, 32, 1)
        self.wide_norm = nn.BatchNorm2d(32)
        self.wide_depth = nn.Conv2d(32, 32, 3, padding="same", groups=32)
        self.narrow = nn.Conv2d(32, 16, 1)
        self.norm = nn.InstanceNorm2d(16, affine=True)
        self.grouped = nn.Conv2d(16, 24, 3, padding=1, groups=4)
        self.up = nn.ConvTranspose2d(24, 8, 2, stride=2, output_padding=1, groups=4)
        self.up_norm = nn.GroupNorm(4, 8)
        self.head = nn.Linear(72, 10)

    def forward(self, pixels: torch.Tensor) -> Tensors:
        x = self.depth(self.stem_norm(self.stem(pixels)))
        y = self.wide_depth(nn.functional.hardswish(self.wide_norm(self.wide(x))))
        x = self.norm(x + self.narrow(nn.functional.leaky_relu(y)))
        x = self.grouped(nn.functional.avg_pool2d(x, 2))
        x = nn.functional.max_pool2d(self.up_norm(self.up(x)), 3, stride=2, padding=1)
        x = nn.functional.adaptive_avg_pool2d(x, 3)
        return {"logits": self.head(x.flatten(1))}

    @staticmethod
    def inputs() -> Tensors:
        return {"pixels": torch.randn(4, 4, 24, 24)}


class Lookups(nn.Module):
    """Index tensors that count, in every position that they may have beside others."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Linear(8, 8)

    def forward(self, hidden: torch.Tensor, ids: torch.Tensor) -> Tensors:
        batch, sequence = ids.shape
        hidden = self.table(hidden)
        samples, positions = torch.arange(batch), torch.arange(sequence)
        last = ids.argmax(1)
        two = torch.stack([last, ids.argmin(1)])  # [2, batch]
        turned = hidden.transpose(1, 2)  # [batch, features, sequence]
        return {
            "last": hidden[samples, last],
            "mask": (ids > 3)[samples.view(-1, 1, 1, 1), positions],
            "order": hidden[samples, positions.view(-1, 1, 1).expand(-1, 3, 1)],
            "several": turned[samples, :, two],
            "front": turned[samples.view(-1, 1), :, two.t()],
            "diagonal": hidden[samples, samples],
        }

    @staticmethod
    def inputs() -> Tensors:
        return {"hidden": torch.randn(4, 6, 8), "ids": torch.stack([torch.randperm(6) for _ in range(4)])}


class Rows(nn.Module):
    """Samples and positions merged into rows: a router of experts in groups, and operators along other dims."""

    def __init__(self) -> None:
        super().__init__()
        self.router = nn.Linear(24, 8)
        self.up, self.down = nn.Linear(24, 48), nn.Linear(48, 24)
        self.experts = nn.Parameter(torch.randn(8, 24) / 5)
        self.register_buffer("bias", torch.randn(8) / 5)

    def forward(self, hidden: torch.Tensor) -> Tensors:
        rows = hidden.reshape(-1, 24)
        gates, numbers = self.route(rows)
        sorted_numbers, order = numbers.view(-1).sort(stable=True)
        results = rows[order // 2] * self.experts[sorted_numbers] * gates.view(-1)[order].unsqueeze(-1)
        places = torch.empty_like(order)
        places[order] = torch.arange(order.numel())
        results = results[places].view(-1, 2, 24).sum(1)
        results = results + self.down(self.up(rows).relu()) * gates.mean(-1, keepdim=True)
        return {"hidden": results.view_as(hidden), "numbers": sorted_numbers, **self.others(rows, hidden)}

    def route(self, rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        scores = self.router(rows).sigmoid()
        choice = scores + self.bias
        best = choice.view(-1, 4, 2).topk(1)[0].sum(-1)
        groups = best.topk(2, dim=-1)[1]
        mask = torch.zeros_like(best).scatter_(1, groups, 1)
        mask = mask.unsqueeze(-1).expand(-1, 4, 2).reshape(-1, 8).bool()
        numbers = choice.masked_fill(~mask, float("-inf")).topk(2, dim=1)[1]
        gates = scores.gather(1, numbers)
        return gates / (gates.sum(-1, keepdim=True) + 1e-6), numbers

    def others(self, rows: torch.Tensor, hidden: torch.Tensor) -> Tensors:
        ordered, places = rows.sort(1)
        spread = torch.zeros_like(rows).scatter(1, places, ordered.cumsum(-1)).scatter_add(-1, places, rows)
        turned = spread.unflatten(1, (3, 8)).permute(0, 2, 1).flatten(1).repeat(1, 2)
        largest, index = turned.max(dim=-1)
        hot = torch.nn.functional.one_hot(index, 48) == index.unsqueeze(1)
        samples, positions = hidden.shape[:2]
        return {
            "turned": turned.view(samples, positions, 48),
            "largest": largest.view(samples, positions) + hot.float().sum(-1).unflatten(0, (samples, positions)),
            "total": torch.where(hot, turned, 0.5).sum(),
        }

    @staticmethod
    def inputs() -> Tensors:
        return {"hidden": torch.randn(4, 6, 24)}


class Attentions(nn.Module):
    """Attention on three dims, one key head for all query heads, and PyTorch's own module of attention."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value = nn.Linear(24, 24), nn.Linear(24, 6), nn.Linear(24, 6)
        self.shared = nn.Linear(24, 24)
        self.first = nn.Linear(24, 24)
        self.second = nn.Linear(24, 24)
        self.module = nn.MultiheadAttention(24, 4, batch_first=True)

    def forward(self, hidden: torch.Tensor) -> Tensors:
        attend = nn.functional.scaled_dot_product_attention
        batch, sequence, _ = hidden.shape
        query = self.query(hidden).view(batch, sequence, 4, 6).transpose(1, 2)
        key, value = self.key(hidden).unsqueeze(1), self.value(hidden).unsqueeze(1)
        shared = attend(query, key, value, is_causal=True).transpose(1, 2).reshape(batch, sequence, 24)
        hidden = hidden + self.shared(shared)
        mask = torch.arange(sequence) <= torch.arange(sequence).unsqueeze(1)
        first = self.first(hidden)
        hidden = hidden + self.second(attend(first, first, hidden, attn_mask=mask))
        return {"hidden": hidden + self.module(hidden, hidden, hidden, need_weights=False)[0]}

    @staticmethod
    def inputs() -> Tensors:
        return {"hidden": torch.randn(4, 6, 24)}


class Multihead(nn.Module):
    """PyTorch's own attention with both orders of batch and sequence; its views depend on how its input lies."""

    def __init__(self) -> None:
        super().__init__()
        self.front = nn.Linear(32, 32)
        self.batch_first = nn.MultiheadAttention(32, 4, batch_first=True)
        self.middle = nn.Linear(32, 32)
        self.sequence_first = nn.MultiheadAttention(32, 4)
        self.weighing = nn.MultiheadAttention(32, 4, batch_first=True)
        self.query, self.key = nn.Linear(32, 32), nn.Linear(32, 32)
        self.norm = nn.LayerNorm(32)

    def forward(self, hidden: torch.Tensor) -> Tensors:
        hidden = self.norm(self.front(hidden))
        hidden = hidden + self.batch_first(hidden, hidden, hidden, need_weights=False)[0]
        turned = self.norm(self.middle(hidden)).transpose(0, 1)
        hidden = hidden + self.sequence_first(turned, turned, turned, need_weights=False)[0].transpose(0, 1)
        hidden = self.norm(hidden)
        weighed, weights = self.weighing(hidden, hidden, hidden)
        hidden = self.norm(hidden + weighed)
        return {"hidden": hidden + self.near(hidden), "weights": weights}

    def near(self, hidden: torch.Tensor) -> torch.Tensor:
        """Attention to near places, and a view that only its result's order of dims in PyTorch allows."""
        batch, sequence, _ = hidden.shape
        query, key = (part(hidden).view(batch, sequence, 4, 8).transpose(1, 2) for part in (self.query, self.key))
        places = torch.arange(sequence)
        mask = (places.unsqueeze(1) - places).abs() < 16
        mixed = nn.functional.scaled_dot_product_attention(query, key, key, attn_mask=mask)
        return mixed.transpose(1, 2).view(batch, sequence, 32)

    @staticmethod
    def inputs() -> Tensors:
        return {"hidden": torch.randn(2, 600, 32)}


class PlainNorms(nn.Module):
    """Norms without weights, on inputs that lie in memory in more than one way."""

    def __init__(self) -> None:
        super().__init__()
        self.front = nn.Linear(32, 32)
        self.batch = nn.BatchNorm1d(32, affine=False)
        self.layer = nn.LayerNorm(32, elementwise_affine=False)
        self.group = nn.GroupNorm(4, 32, affine=False)
        self.instance = nn.InstanceNorm1d(32)
        self.back = nn.Linear(32, 32)

    def forward(self, hidden: torch.Tensor) -> Tensors:
        features = self.batch(self.front(hidden).transpose(1, 2))
        hidden = self.layer(features.transpose(1, 2)).softmax(1)
        features = self.group(hidden.transpose(1, 2)) + self.instance(features)
        return {"hidden": self.back(features.transpose(1, 2))}

    @staticmethod
    def inputs() -> Tensors:
        return {"hidden": torch.randn(4, 96, 32)}


class Products(nn.Module):
    """Attention by einsum and by products of transposed tensors, and weights stored the other way."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value = nn.Linear(32, 32), nn.Linear(32, 32), nn.Linear(32, 32)
        self.turned = nn.Parameter(torch.randn(32, 32) / 6)
        self.stacked = nn.Parameter(torch.randn(32, 4, 8) / 6)
        self.out = nn.Linear(32, 32, bias=False)

    def forward(self, hidden: torch.Tensor) -> Tensors:
        batch, sequence, _ = hidden.shape
        query, key, value = (part(hidden).view(batch, sequence, 4, 8) for part in (self.query, self.key, self.value))
        shares = torch.einsum("bqhd,bkhd->bhqk", query, key).softmax(-1)
        mixed = torch.einsum("bhqk,bkhd->bqhd", shares, value)
        hidden = hidden + torch.matmul(mixed.reshape(batch, sequence, 32), self.turned.t())
        query = torch.einsum("bsf,fhd->bhsd", hidden, self.stacked)
        key = torch.matmul(query.transpose(1, 2), query.permute(0, 2, 3, 1))
        value = torch.matmul(query.softmax(-1).transpose(2, 3), query)
        return {"hidden": self.out(hidden.transpose(0, 1)), "key": key.sigmoid(), "value": value}

    @staticmethod
    def inputs() -> Tensors:
        return {"hidden": torch.randn(4, 96, 32)}


class Images(nn.Module):
    """Convolutions on images whose features are innermost, and what makes rows of them."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 4, stride=4)
        self.norm = nn.LayerNorm(16)
        self.depth = nn.Conv2d(16, 16, 3, padding=1, groups=16)
        self.wide = nn.Linear(16, 32)
        self.narrow = nn.Linear(32, 16)
        self.batch = nn.BatchNorm2d(16)
        self.head = nn.Linear(256, 10)

    def forward(self, pixels: torch.Tensor) -> Tensors:
        images = self.norm(self.stem(pixels.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
        mixed = self.narrow(nn.functional.gelu(self.wide(self.depth(images).permute(0, 2, 3, 1))))
        images = self.batch(images + mixed.permute(0, 3, 1, 2))
        tokens = images.flatten(2).transpose(1, 2).unflatten(1, (16, 4)).mean(2)
        return {"logits": self.head(tokens.reshape(-1, 256))}

    @staticmethod
    def inputs() -> Tensors:
        return {"pixels": torch.randn(4, 32, 32, 3)}


class Fused(nn.Module):
    """Query, key and value from one weight, numbered by a dim of their own, and taken apart in every way."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.ModuleList(nn.Linear(48, 144) for _ in range(4))
        self.out = nn.ModuleList(nn.Linear(48, 48) for _ in range(4))

    def forward(self, hidden: torch.Tensor) -> Tensors:
        batch, positions, width = hidden.shape
        for index, (qkv, out) in enumerate(zip(self.qkv, self.out, strict=True)):
            parts = qkv(hidden).view(batch, positions, 3, 6, 8)
            if index == 0:
                heads = [part.transpose(1, 2) for part in parts.unbind(2)]
            elif index == 1:
                heads = list(parts.permute(2, 0, 3, 1, 4).unbind(0))
            elif index == 2:
                heads = [parts[:, :, number].transpose(1, 2) for number in range(3)]
            else:
                rows = parts.permute(2, 0, 3, 1, 4)
                heads = [rows[0], rows[1], rows[2]]
            mixed = nn.functional.scaled_dot_product_attention(*heads, is_causal=True)
            hidden = hidden + out(mixed.transpose(1, 2).reshape(batch, positions, width))
        return {"hidden": hidden}

    @staticmethod
    def inputs() -> Tensors:
        return {"hidden": torch.randn(4, 10, 48)}


class Shared(nn.Module):
    """One block that is called three times, and a table that another module lends."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.positions = nn.Embedding(40, 24), nn.Embedding(10, 24)
        self.norm = nn.LayerNorm(24)
        self.up, self.down = nn.Linear(24, 48), nn.Linear(48, 24)

    def forward(self, ids: torch.Tensor) -> Tensors:
        hidden = self.embed(ids) + self.positions.weight
        for _ in range(3):
            hidden = hidden + self.down(self.up(self.norm(hidden)).relu())
        return {"logits": nn.functional.linear(hidden, self.embed.weight)}

    @staticmethod
    def inputs() -> Tensors:
        return {"ids": torch.randint(40, (4, 10))}


MODULES = {
    "adapted_mixtures": AdaptedMixtures,
    "attentions": Attentions,
    "balanced_mixtures": BalancedMixtures,
    "capacity_mixtures": CapacityMixtures,
    "class_losses": ClassLosses,
    "complex": Complex,
    "convolutions": Convolutions,
    "counted_mixtures": CountedMixtures,
    "distributions": Distributions,
    "dropouts": Dropouts,
    "dropouts_decomposed": DecomposedDropouts,
    "edge_mixtures": EdgeMixtures,
    "few_tokens": FewTokens,
    "fused": Fused,
    "images": Images,
    "lookups": Lookups,
    "losses": Losses,
    "loop_mixtures": LoopMixtures,
    "masked_attentions": MaskedAttentions,
    "mixtures": Mixtures,
    "multihead": Multihead,
    "opaque_functions": OpaqueFunctions,
    "one_token": OneToken,
    "operators": Operators,
    "over_vocabulary": OverVocabulary,
    "parameter_functions": ParameterFunctions,
    "plain_norms": PlainNorms,
    "prescribed_mixtures": PrescribedMixtures,
    "products": Products,
    "recurrent": Recurrent,
    "regions": Regions,
    "rows": Rows,
    "shared": Shared,
    "sparse_mixtures": SparseMixtures,
    "statistics": Statistics,
    "statistics_evaluated": EvaluatedStatistics,
    "stopped": Stopped,
    "summed": Summed,
    "transposed": Transposed,
    "written_dropouts": WrittenDropouts,
    "written_dropouts_evaluated": EvaluatedDropouts,
    **DERIVATIVE_MODULES,
}


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", choices=MODULES)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--weights-out", type=Path, required=True)
    parser.add_argument("--inputs-out", type=Path, required=True)
    parser.add_argument("--dtype", default="float32", help="of parameters and of inputs that are floats")
    parser.add_argument("--loss", action="store_true", help="the output `loss`, made of all that are floats")
    arguments = parser.parse_args(argv)
    torch.manual_seed(0)
    kind = MODULES[arguments.name]
    dtype = getattr(torch, arguments.dtype)
    module = (with_loss(kind) if arguments.loss else kind)().train(getattr(kind, "training_mode", False))
    if dtype != torch.float32:  # which is what it has; complex buffers would lose a part
        module = module.to(dtype)
    inputs = {
        name: tensor.to(dtype) if tensor.is_floating_point() else tensor for name, tensor in kind.inputs().items()
    }
    with torch.no_grad():
        for tensor in module.state_dict().values():
            if tensor.is_floating_point():
                # Biases, scales and statistics other than 0 and 1; variances stay positive. Gradients would grow from
                # layer to layer if all were moved to one side.
                tensor.add_(torch.rand_like(tensor) - (0.5 if arguments.loss else 0), alpha=0.2)
    program = torch.export.export(module, (), inputs, strict=False)
    if getattr(kind, "decomposed", True):
        program = program.run_decompositions({})
    torch.export.save(program, arguments.output)
    save_file(module.state_dict(), arguments.weights_out)
    save_file(inputs, arguments.inputs_out)
    return 0
