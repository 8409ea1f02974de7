"""The machines of the published steps: the preset `h100`, and clusters that differ from it in what is stated here."""

from __future__ import annotations

import json

from bench import models

PRESET = models.ROOT / "compiler" / "cluster" / "presets" / "h100.json"

# The H100 of Meta's Grand Teton, pytorch/torchtitan benchmarks/*.md: HBM2e instead of HBM3.
HBM2E = 2.4e12
SLOWER = ("h100_500w_eager", "h100_500w_compiled")


def cluster(name: str, slowdown: float = 1) -> dict[str, object]:
    """The cluster file of a machine. `slowdown`: by which factor its products and attention take longer."""
    made = json.loads(PRESET.read_text())
    made["name"] = name
    if name == "h100_800gbit":
        made["links"]["network"]["node_bytes_per_second"] = 100e9
        made["source"] += (
            ". One network of 800 Gbit/s for all GPUs of a node, foundation-model-stack/fms-fsdp README.md"
        )
    elif name in SLOWER:
        slow_down(made, slowdown)
    elif name != "h100":
        raise ValueError(f"no machine is named '{name}'")
    return made


def slow_down(made: dict, slowdown: float) -> None:
    compute = made["compute"]
    memory = HBM2E / compute["bytes_per_second"]
    compute["bytes_per_second"] = HBM2E
    for table in [*compute["products"], *compute["operators"]]:
        by_bytes = "bytes" in table
        key, factor = ("bytes_per_second", memory) if by_bytes else ("flops_per_second", 1 / slowdown)
        table[key] = [rate * factor for rate in table[key]]
    made["source"] += (
        ". With HBM2e of 2.4 TB/s, of which the same part is attained, and a limit of 500 W, pytorch/torchtitan"
        f" benchmarks/*.md: products and attention take {slowdown:.3f} times as long, so that a step of Llama3-8B on 8"
        " GPUs takes as long as published there"
    )
