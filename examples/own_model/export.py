#!/usr/bin/env python3
"""Exports a small classifier of images, its weights and example inputs into the current folder."""

from __future__ import annotations

import torch
from safetensors.torch import save_file
from torch import nn


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        return hidden + self.down(nn.functional.gelu(self.up(self.norm(hidden))))


class Classifier(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Linear(784, 128)
        self.blocks = nn.ModuleList(Block(128) for _ in range(4))
        self.head = nn.Linear(128, 10)

    def forward(self, images: torch.Tensor, labels: torch.Tensor) -> dict[str, torch.Tensor]:
        hidden = self.stem(images.flatten(1))
        for block in self.blocks:
            hidden = block(hidden)
        logits = self.head(hidden)
        return {"loss": nn.functional.cross_entropy(logits, labels), "logits": logits}


def main() -> None:
    torch.manual_seed(0)
    model = Classifier().eval()  # dropout, if there were any, is off
    inputs = {"images": torch.randn(12, 28, 28), "labels": torch.randint(10, (12,))}
    batch = torch.export.Dim("batch", min=2)
    shapes = {"images": {0: batch}, "labels": {0: batch}}
    program = torch.export.export(model, (), inputs, dynamic_shapes=shapes)
    torch.export.save(program, "classifier.pt2")
    save_file(model.state_dict(), "classifier.safetensors")
    save_file(inputs, "inputs.safetensors")  # by the names of forward's arguments
    with torch.no_grad():
        save_file(model(**inputs), "expected.safetensors")


if __name__ == "__main__":
    main()
