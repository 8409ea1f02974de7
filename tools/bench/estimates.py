"""Compares estimated time and peak memory of a step with the measured ones: five plans of two models on two ranks.

`meshplan-run calibrate` measures the machine first, and the cluster file does not change afterwards. The schedules that
run are made for this cluster, as those of the estimates are. The steps of all plans take turns, so that a change of the
machine's load affects all.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
from dataclasses import dataclass
from pathlib import Path

from bench import models, table
from bench.arguments import parser

RANKS = 2
MIB = 1 << 20

WHOLE = "  rest: replicate\n"
TENSOR = """\
  model.layers.* {
    self_attn.{q, k, v}_proj: colwise tp
    self_attn.o_proj:         rowwise tp
    mlp.{gate, up}_proj:      colwise tp
    mlp.down_proj:            rowwise tp
  }
  rest: replicate
"""
SEQUENCE = """\
  model.embed_tokens: rowwise tp
  model.layers.* {
    *_layernorm:              sequence tp
    self_attn.{q, k, v}_proj: colwise tp
    self_attn.o_proj:         rowwise tp
    mlp.{gate, up}_proj:      colwise tp
    mlp.down_proj:            rowwise tp
  }
  model.norm: sequence tp
  lm_head:    colwise tp
"""
# The statements of each plan: mesh axis, styles, data parallelism.
PLANS = {
    "DDP": ("dp", WHOLE, "  data dp { bucket 25 MiB }\n"),
    "ZeRO-1": ("dp", WHOLE, "  data dp { shard optimizer; unit model.layers.* }\n"),
    "ZeRO-3": ("dp", WHOLE, "  data dp { shard parameters, gradients, optimizer; unit model.layers.* }\n"),
    "tensor": ("tp", TENSOR, ""),
    "sequence": ("tp", SEQUENCE, ""),
}


@dataclass(frozen=True)
class Case:
    model: models.Model
    plan: str

    @property
    def text(self) -> str:
        axis, styles, data = PLANS[self.plan]
        over = f" over {axis}" if axis == "dp" else ""
        return (
            f'plan p {{\n  model "{self.model.archive}.pt2"\n  mesh {axis} = {RANKS}\n\n'
            f"  input input_ids, labels: [batch{over}, seq]\n  loss loss\n{styles}{data}"
            "  optimizer adamw { lr 3e-4; weight_decay 0.1 }\n}\n"
        )

    @property
    def file(self) -> str:
        return f"{self.plan}.plan"


def wide(batch: int, sequence: int) -> models.Model:
    """A second model: fewer and wider layers, all heads with keys of their own, a small vocabulary."""
    settings = {
        "hidden_size": 768,
        "intermediate_size": 2048,
        "num_hidden_layers": 4,
        "num_attention_heads": 12,
        "num_key_value_heads": 12,
        "vocab_size": 8192,
        "tie_word_embeddings": "false",
    }
    source = ["--config", "llama", *models.settings_of(settings), "--without-weights"]
    plan = models.ROOT / "test" / "bench" / "smollm2_8.plan"
    return models.Model(f"wide Llama {batch} x {sequence}", "wide", plan, batch, sequence, source)


def cases() -> list[Case]:
    return [Case(model, plan) for model in (models.smollm2_8(4, 256), wide(4, 128)) for plan in PLANS]


@dataclass(frozen=True)
class Measured:
    """The median seconds of a step, and the peak memory of the rank that holds most."""

    seconds: float
    peak: int


def estimated(case: Case, programs: Path, where: Path, cluster: Path) -> dict:
    """The report of `meshplan check`."""
    command = [str(programs / "meshplan"), "check", case.file, "--json", "--cluster", str(cluster)]
    return json.loads(subprocess.run(command, cwd=where, check=True, stdout=subprocess.PIPE).stdout)


def measured(case: Case, programs: Path, where: Path, steps: int) -> Measured:
    command = [str(programs / "meshplan-run"), "bench", f"{case.plan}.sched", "--program", "step", "--json"]
    command += ["--weights", "weights.safetensors", "--inputs", "inputs.safetensors", "--steps", str(steps)]
    report = json.loads(subprocess.run(command, cwd=where, check=True, stdout=subprocess.PIPE).stdout)
    return Measured(report["step_seconds"]["median"], max(rank["peak"] for rank in report["memory"]["ranks"]))


def row(case: Case, rounds: list[Measured], estimate: dict) -> table.Row:
    """Operators and exposed communication make the estimated step."""
    seconds, peak = [each.seconds for each in rounds], max(each.peak for each in rounds)
    time = estimate["time"]
    middle, step = statistics.median(seconds), time["step_ns"] / 1e9
    return {
        "model": case.model.name,
        "plan": case.plan,
        "computing s": time["compute_ns"] / 1e9,
        "exposed s": time["exposed_ns"] / 1e9,
        "estimated s": step,
        "measured s": middle,
        "ratio": step / middle,
        "spread": (max(seconds) - min(seconds)) / middle,
        "peak MiB": peak / MIB,
        "peak ratio": estimate["memory"]["peak"]["largest"] / peak,
    }


def main() -> None:
    arguments: argparse.ArgumentParser = parser(__doc__, rounds=3, steps=3)
    arguments.add_argument("--cluster", type=Path, help="a cluster file; without it, one is measured")
    given = arguments.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    cluster = (given.cluster or given.folder / "cluster.json").resolve()
    if given.cluster is None:
        command = [str(given.programs / "meshplan-run"), "calibrate", "-n", str(RANKS), "-o", str(cluster)]
        subprocess.run(command, check=True)
    folders = {case.model.name: models.export(case.model, given.folder) for case in cases()}
    estimates = []
    for case in cases():
        (folders[case.model.name] / case.file).write_text(case.text)
        command = [str(given.programs / "meshplan"), "compile", case.file, "--cluster", str(cluster)]
        subprocess.run(command, cwd=folders[case.model.name], check=True)
        estimates.append(estimated(case, given.programs, folders[case.model.name], cluster))
    turns = [
        [measured(case, given.programs, folders[case.model.name], given.steps) for case in cases()]
        for _ in range(given.rounds)
    ]
    rows = [row(case, [turn[index] for turn in turns], estimates[index]) for index, case in enumerate(cases())]
    table.report(rows, given.json)
    for name, target in (("ratio", "0.90 to 1.10"), ("peak ratio", "0.95 to 1.05")):
        ratios = [float(str(each[name])) for each in rows]
        print(f"{name} of estimated to measured: least {min(ratios):.3f}, most {max(ratios):.3f}; target {target}")


if __name__ == "__main__":
    main()
