#!/usr/bin/env python3
"""Exports hand-written modules with operators that the exported Hugging Face models do not have.

make_module.py NAME -o OUT.pt2 --weights-out OUT.safetensors --inputs-out OUT.inputs.safetensors
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import nn

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
        self.up = nn.ConvTranspose2d(24, 8, 2, stride=2)
        self.up_norm = nn.GroupNorm(8, 8)
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
    """Index tensors that count, in every place where they may stand beside others."""

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


MODULES = {"attentions": Attentions, "convolutions": Convolutions, "lookups": Lookups}


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", choices=MODULES)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--weights-out", type=Path, required=True)
    parser.add_argument("--inputs-out", type=Path, required=True)
    arguments = parser.parse_args(argv)
    torch.manual_seed(0)
    kind = MODULES[arguments.name]
    module, inputs = kind().eval(), kind.inputs()
    with torch.no_grad():
        for tensor in module.state_dict().values():
            if tensor.is_floating_point():
                # Biases, scales and statistics other than 0 and 1; variances stay positive.
                tensor.add_(torch.rand_like(tensor), alpha=0.2)
    program = torch.export.export(module, (), inputs, strict=False).run_decompositions({})
    torch.export.save(program, arguments.output)
    save_file(module.state_dict(), arguments.weights_out)
    save_file(inputs, arguments.inputs_out)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
