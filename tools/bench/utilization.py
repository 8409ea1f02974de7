"""Compares the simulated step of large models on H100 with published throughput.

The cluster is the preset `h100`, which knows nothing of these models. Published are tokens per second and GPU, and
model flops utilization (MFU) by the formulas of their authors, who count attention with a causal mask in full; that of
`meshplan check` counts half of it. So the ratio is that of the tokens, which depends on no formula.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from bench import models, table
from bench.arguments import parser

LLAMA_405B = {
    "hidden_size": 16384,
    "intermediate_size": 53248,
    "num_hidden_layers": 126,
    "num_attention_heads": 128,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
}

PLAN = """\
plan step {{
  model "model.pt2"
  mesh dp = {dp}, tp = {tp}

  input input_ids, labels: [batch over dp, seq]
  loss  loss
  microbatches {microbatches}

  model.embed_tokens: rowwise tp
  model.layers.* {{
    *_layernorm:              sequence tp
    self_attn.{{q, k, v}}_proj: colwise tp
    self_attn.o_proj:         rowwise tp
    mlp.{{gate, up}}_proj:      colwise tp
    mlp.down_proj:            rowwise tp
  }}
  model.norm: sequence tp
  lm_head:    colwise tp

  data dp {{ shard parameters, gradients, optimizer; unit model.layers.*; overlap gradients, parameters }}
  recompute model.layers.*
  optimizer adamw {{ lr 1.5e-4; betas (0.9, 0.95); weight_decay 0.1 }}
  clip_grad_norm 1.0
}}
"""


@dataclass(frozen=True)
class Published:
    """A measured training step: bf16, all layers recomputed, sequences of 8192 tokens."""

    name: str
    settings: dict[str, int]
    source: str
    dp: int
    tp: int
    batch: int
    tokens: float  # per second and GPU
    utilization: float | None = None
    microbatches: int = 1
    sequence: int = 8192

    @property
    def ranks(self) -> int:
        return self.dp * self.tp

    @property
    def model(self) -> models.Model:
        source = ["--meta", "--config", "llama", "--dtype", "bfloat16", *models.settings_of(self.settings)]
        plan = models.ROOT / "test" / "bench" / "llama70b_step.plan"
        return models.Model(self.name, "model", plan, self.batch, self.sequence, source)

    @property
    def plan(self) -> str:
        return PLAN.format(dp=self.dp, tp=self.tp, microbatches=self.microbatches)


PUBLISHED = [
    # Its two ranks of a context-parallel group are two of tensor and sequence parallelism here.
    Published(
        "Llama-70B, FSDP 32 x CP 2",
        models.LLAMA_70B,
        "NVIDIA-NeMo/Automodel docs/performance-summary.mdx, DGX-H100",
        dp=32,
        tp=2,
        batch=128,
        tokens=866.77,
        utilization=389 / 989,
        microbatches=4,
    ),
    Published(
        "Llama-405B, FSDP 16 x TP 8",
        LLAMA_405B,
        "pytorch/torchtitan docs/performance.md of 2024, 128 H100 of 94 GB",
        dp=16,
        tp=8,
        batch=32,
        tokens=109,
        utilization=0.29,
    ),
    Published(
        "Llama-70B, FSDP 32 x TP 8",
        models.LLAMA_70B,
        "pytorch/torchtitan benchmarks/asyncTP_llama3_h100_2025-06_torchtitan.md, H100 of 500 W",
        dp=32,
        tp=8,
        batch=512,
        tokens=597.3,
    ),
]


def simulated(case: Published, programs: Path, where: Path) -> dict[str, float]:
    """The times of the report of `meshplan check`."""
    command = [str(programs / "meshplan"), "check", "step.plan", "--json", "--device", "cuda", "--cluster", "h100"]
    time = json.loads(subprocess.run(command, cwd=where, check=True, stdout=subprocess.PIPE).stdout)["time"]
    return {key: time[key] for key in ("step_ns", "exposed_ns", "compute_ns", "model_flops_utilization")}


def row(case: Published, time: dict[str, float]) -> table.Row:
    seconds = time["step_ns"] / 1e9
    tokens = case.batch * case.sequence / case.ranks / seconds
    return {
        "model": case.name,
        "ranks": case.ranks,
        "step s": seconds,
        "exposed s": time["exposed_ns"] / 1e9,
        "tokens/s": tokens,
        "published": case.tokens,
        "ratio": tokens / case.tokens,
        "MFU": time["model_flops_utilization"],
        "published MFU": case.utilization if case.utilization is not None else "-",
    }


def main() -> None:
    arguments: argparse.ArgumentParser = parser(__doc__)
    given = arguments.parse_args()
    rows = []
    for case in PUBLISHED:
        where = models.export(case.model, given.folder / f"{case.ranks}-{case.tp}-{case.settings['hidden_size']}")
        (where / "step.plan").write_text(case.plan)
        rows.append(row(case, simulated(case, given.programs, where)))
    table.report(rows, given.json)
    for case in PUBLISHED:
        print(f"{case.name}: {case.source}")


if __name__ == "__main__":
    main()
