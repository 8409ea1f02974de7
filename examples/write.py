#!/usr/bin/env python3
"""Lets a language model in a folder of Hugging Face files continue a text.

  write.py FOLDER TEXT [--words N] [--seed N]

Each next token is drawn from the forty likeliest ones.
"""

from __future__ import annotations

import argparse

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("text")
    parser.add_argument("--words", type=int, default=24, help="tokens to write")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    torch.manual_seed(arguments.seed)
    tokenizer = AutoTokenizer.from_pretrained(arguments.folder)
    model = AutoModelForCausalLM.from_pretrained(arguments.folder).eval()
    begun = tokenizer(arguments.text, return_tensors="pt")
    count = arguments.words
    written = model.generate(**begun, min_new_tokens=count, max_new_tokens=count, do_sample=True, top_k=40)
    print(tokenizer.decode(written[0], skip_special_tokens=True))


if __name__ == "__main__":
    main()
