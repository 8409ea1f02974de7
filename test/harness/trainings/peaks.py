"""What a training step holds for each layer of a model.

  harness peaks --work FOLDER --plan P.plan --mesh dp=N,tp=N --meshplan P

Exports Llamas of 4 and 8 layers and compares the peaks of a rank. Under ZeRO-3 with tensor and sequence parallelism a
layer adds its shards of parameters and states, and its shards of gradients or, from forward to backward,
- with `recompute`: what it reads;
- without: what it reads, what its second norm reads, queries, keys, values, the result of the attention, gate and up.
The order is that of the program, whose peak no other one exceeds. Rows of statistics are small beside these: 5 % are
allowed for them. No gathered parameter or activation is among them, no gradient that is not accumulated yet, and
nothing that is cheap to make. Status 1 if a layer adds more, or if the default schedule has a higher peak.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Sequence
from pathlib import Path

from meshplan import hugging_face

from harness.arguments import parser_of
from harness.models.make_models import tiny
from harness.plans import Run, check_report, sizes_of, with_statements
from harness.verdicts import verdict

BATCH, SEQUENCE, HIDDEN, INNER, HEADS, KEY_HEADS, SIZE = 4, 64, 64, 192, 8, 4, 8
FLOAT = 4  # bytes
STATEMENTS = ["optimizer adamw { lr 1e-3 }", "data dp { shard parameters, gradients, optimizer; unit model.layers.* }"]


def export(folder: Path, layers: int) -> None:
    sizes = {
        "hidden_size": HIDDEN,
        "intermediate_size": INNER,
        "num_attention_heads": HEADS,
        "num_key_value_heads": KEY_HEADS,
        "vocab_size": 32,
        "num_hidden_layers": layers,
    }
    shape = ["--batch", str(BATCH), "--seq", str(SEQUENCE)]
    if hugging_face.main([*tiny("llama", *shape, **sizes), "-o", str(folder / "model.pt2")]) != 0:
        raise SystemExit("the model cannot be exported")


def memory(arguments: argparse.Namespace, layers: int, recomputes: bool, *options: str) -> dict[str, int]:
    """What `check` with these options reports about the rank with most."""
    folder: Path = arguments.work / str(layers)
    statements = STATEMENTS + (["recompute model.layers.*"] if recomputes else [])
    plan = folder / "step.plan"
    plan.write_text(with_statements(arguments.plan.read_text(), statements))
    run = Run(plan, arguments.mesh, plan.with_suffix(".safetensors"))
    found = check_report(arguments, run, options)["memory"]
    return {name: each["largest"] for name, each in found.items() if name != "host_peak"}


def held_by_layer(mesh: dict[str, int], recomputes: bool) -> int:
    """Bytes from forward to backward."""
    features = HIDDEN
    if not recomputes:
        features += HIDDEN + 2 * HEADS * SIZE + 2 * KEY_HEADS * SIZE + 2 * INNER
    return BATCH // mesh["dp"] * SEQUENCE * features // mesh["tp"] * FLOAT


def main(words: Sequence[str]) -> int:
    parser = parser_of(__doc__, "work", "programs")
    parser.add_argument("--plan", type=Path, required=True)
    parser.add_argument("--mesh", required=True)
    arguments = parser.parse_args(words)
    shutil.rmtree(arguments.work, ignore_errors=True)
    for layers in (4, 8):
        (arguments.work / str(layers)).mkdir(parents=True)
        export(arguments.work / str(layers), layers)
    mesh = sizes_of(arguments.mesh)
    right = True
    for recomputes in (True, False):
        few, many = (memory(arguments, layers, recomputes, "--schedule", "program") for layers in (4, 8))
        more = {name: (many[name] - few[name]) // 4 for name in few}
        added = more["peak"] - more["parameters"] - more["states"]
        # Where a layer's gradients are there, what the forward pass held for it is not.
        allowed = max(held_by_layer(mesh, recomputes), more["parameters"])
        said = f"{'with' if recomputes else 'without'} recompute a layer holds {added} bytes, {allowed} are needed"
        right &= verdict(said, added <= 1.05 * allowed)
        peak = memory(arguments, 8, recomputes)["peak"]
        said = f"the default schedule has a peak of {peak} bytes, program order has {many['peak']}"
        right &= verdict(said, peak <= many["peak"])
    return 0 if right else 1
