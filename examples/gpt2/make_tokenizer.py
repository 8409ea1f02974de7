#!/usr/bin/env python3
"""Trains a tokenizer of bytes and frequent pairs of them, as GPT-2 has it, on text files.

  make_tokenizer.py [--words N] -o FOLDER TEXT...

Writes FOLDER as transformers' AutoTokenizer reads it.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tokenizers import ByteLevelBPETokenizer
from transformers import PreTrainedTokenizerFast

END = "<|endoftext|>"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=1024, help="size of the vocabulary")
    parser.add_argument("-o", "--output", metavar="FOLDER", type=Path, required=True)
    parser.add_argument("text", metavar="TEXT", type=Path, nargs="+")
    arguments = parser.parse_args()
    tokenizer = ByteLevelBPETokenizer()
    tokenizer.train([str(path) for path in arguments.text], arguments.words, special_tokens=[END], show_progress=False)
    made = PreTrainedTokenizerFast(tokenizer_object=tokenizer._tokenizer, bos_token=END, eos_token=END)
    made.save_pretrained(arguments.output)
    print(f"{arguments.output}: {len(made)} words")


if __name__ == "__main__":
    main()
