"""Training steps of large models on H100 whose throughput was published, and the plans that describe them.

A row is here if the publication says what a plan needs: a dense model of at least 7 billion parameters, fully sharded
data parallelism with or without tensor parallelism, 16-bit products, the batch, and what is recomputed. No row is left
out because it fits badly. Of the MPT models, of which many rows of one machine are published, each has the row of 2,048
tokens with the most GPUs.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from bench import models


@dataclass(frozen=True)
class Architecture:
    """A model of Hugging Face: arguments of the export tool, and how a plan splits it."""

    name: str
    kind: str
    settings: dict[str, int]
    layers: str  # the paths of its layers
    styles: str  # statements of tensor and sequence parallelism


LLAMA_STYLES = """\
  model.embed_tokens: rowwise tp
  model.layers.* {
    *_layernorm:              sequence tp
    self_attn.{q, k, v}_proj: colwise tp
    self_attn.o_proj:         rowwise tp
    mlp.{gate, up}_proj:      colwise tp
    mlp.down_proj:            rowwise tp
  }
  model.norm: sequence tp
  lm_head:    colwise tp"""


def llama(name: str, hidden: int, inner: int, layers: int, heads: int, groups: int, vocabulary: int) -> Architecture:
    settings = {
        "hidden_size": hidden,
        "intermediate_size": inner,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": groups,
        "vocab_size": vocabulary,
    }
    return Architecture(name, "llama", settings, "model.layers.*", LLAMA_STYLES)


def mpt(name: str, hidden: int, layers: int, heads: int) -> Architecture:
    """A GPT-2 of the shape of an MPT, which has the same operators: positions are learned, the head is tied."""
    settings = {"n_embd": hidden, "n_layer": layers, "n_head": heads, "n_positions": 2048, "vocab_size": 50368}
    settings |= {"resid_pdrop": 0, "embd_pdrop": 0, "attn_pdrop": 0}
    return Architecture(name, "gpt2", settings, "transformer.h.*", "")


LLAMA2_7B = llama("Llama2-7B", 4096, 11008, 32, 32, 32, 32000)
LLAMA2_34B = llama("Llama2-34B", 8192, 22016, 48, 64, 8, 32000)
LLAMA2_70B = llama("Llama2-70B", 8192, 28672, 80, 64, 8, 32000)
LLAMA3_8B = llama("Llama3-8B", 4096, 14336, 32, 32, 8, 128256)
LLAMA3_70B = llama("Llama3-70B", 8192, 28672, 80, 64, 8, 128256)
LLAMA3_405B = llama("Llama3-405B", 16384, 53248, 126, 128, 8, 128256)
MPT_7B = mpt("MPT-7B", 4096, 32, 32)
MPT_13B = mpt("MPT-13B", 5120, 40, 40)
MPT_30B = mpt("MPT-30B", 7168, 48, 56)
MPT_70B = mpt("MPT-70B", 8192, 80, 64)


@dataclass(frozen=True)
class Recompute:
    """What the backward pass recomputes. Where the plan language has no name for it, the step is the weighted mean of
    those of several plans: `parts` has a weight for each list of operators that a plan keeps."""

    parts: dict[str | None, float]  # "" keeps none; with None nothing is recomputed


NOTHING = Recompute({None: 1})
LAYERS = Recompute({"": 1})
# torchtitan's 'selective, op' keeps attention and every second product. Those of k, o and up, which it recomputes, have
# half of the operations of all products that a plan recomputes.
EVERY_SECOND_PRODUCT = Recompute({"attention": 0.5, "attention, linear": 0.5})
# MaxText's 'save_qkv_proj' keeps three products of each layer. In Llama3-70B they have 13.5 % of the operations of all
# products that a plan recomputes.
ALL_BUT_QKV = Recompute({"": 0.865, "linear": 0.135})


@dataclass(frozen=True)
class Published:
    """A measured training step. `machine` names a cluster of machines.py."""

    architecture: Architecture
    source: str
    machine: str
    dp: int
    batch: int
    tokens: float  # per second and GPU
    tp: int = 1
    pods: int = 1  # groups of ranks that each have all shards
    microbatches: int = 1
    sequence: int = 8192
    recompute: Recompute = field(default=LAYERS)
    master: str | None = "f32"  # dtype of the parameters that the optimizer changes, if it is not that of the model
    reduce: str | None = None  # dtype in which gradients are sent, if it is not f32
    utilization: float | None = None  # by the formula of the source
    calibrates: bool = False  # the machine is adapted to this row

    @property
    def ranks(self) -> int:
        return self.pods * self.dp * self.tp

    @property
    def layout(self) -> str:
        axes = [("pods", self.pods), ("dp", self.dp), ("tp", self.tp)]
        parts = [f"{name} {size}" for name, size in axes if size > 1]
        return " x ".join(parts) + (f", {self.microbatches} microbatches" if self.microbatches > 1 else "")

    @property
    def model(self) -> models.Model:
        source = ["--meta", "--config", self.architecture.kind, "--dtype", "bfloat16"]
        source += models.settings_of(self.architecture.settings)
        plan = models.ROOT / "test" / "bench" / "llama70b_step.plan"
        return models.Model(self.architecture.name, "model", plan, self.batch, self.sequence, source)

    def plan(self, keep: str | None) -> str:
        data = "pod, dp" if self.pods > 1 else "dp"
        mesh = [f"pod = {self.pods}"] if self.pods > 1 else []
        mesh += [f"dp = {self.dp}", *([f"tp = {self.tp}"] if self.tp > 1 else [])]
        layers = self.architecture.layers
        stated = {"master": self.master, "reduce": self.reduce}
        precision = [f"{what} {dtype}" for what, dtype in stated.items() if dtype is not None]
        lines = [
            "plan step {",
            '  model "model.pt2"',
            f"  mesh {', '.join(mesh)}",
            f"  input input_ids, labels: [batch over {f'({data})' if self.pods > 1 else data}, seq]",
            "  loss loss",
            f"  microbatches {self.microbatches}",
            self.architecture.styles if self.tp > 1 else "  rest: replicate",
            f"  data {data} {{",
            f"    shard parameters, gradients, optimizer{' over dp' if self.pods > 1 else ''}",
            f"    unit {layers}",
            "    overlap gradients, parameters",
            "  }",
            *([f"  precision {{ {'; '.join(precision)} }}"] if precision else []),
            "  optimizer adamw { lr 1.5e-4; betas (0.9, 0.95); weight_decay 0.1 }",
            "  clip_grad_norm 1.0",
        ]
        if keep is not None:
            lines.append(f"  recompute {layers}{f' keep {keep}' if keep else ''}")
        return "\n".join([*lines, "}", ""])


TITAN_2024 = "pytorch/torchtitan benchmarks/llama3_h100_202412_torchtitan.md"
FMS = "foundation-model-stack/fms-fsdp README.md of 2024-03-13"
FMS_COMPILED = "foundation-model-stack/fms-fsdp README.md of 2024-05-09, torch.compile"
MAXTEXT = "NVIDIA/dgxc-benchmarking v25.04 maxtext/README_70b.md"
MOSAIC = "mosaicml/llm-foundry scripts/train/benchmarking/README.md, H100 80GB BF16"

CALIBRATIONS = [
    Published(
        LLAMA3_8B,
        f"{TITAN_2024}, table 1, eager",
        "h100_500w_eager",
        dp=8,
        batch=16,
        tokens=5762,
        recompute=EVERY_SECOND_PRODUCT,
        calibrates=True,
    ),
    Published(
        LLAMA3_8B,
        f"{TITAN_2024}, table 1, torch.compile",
        "h100_500w_compiled",
        dp=8,
        batch=16,
        tokens=6667,
        recompute=EVERY_SECOND_PRODUCT,
        calibrates=True,
    ),
]

COMPARED = [
    # Its two ranks of a context-parallel group are two of tensor and sequence parallelism here.
    Published(
        LLAMA3_70B,
        "NVIDIA-NeMo/Automodel docs/performance-summary.mdx, FSDP 32 x CP 2, torch.compile",
        "h100",
        dp=32,
        tp=2,
        batch=128,
        tokens=866.77,
        microbatches=4,
        master=None,
        utilization=389 / 989,
    ),
    Published(
        LLAMA3_70B,
        f"{MAXTEXT}, XLA",
        "h100",
        dp=128,
        batch=256,
        tokens=134752.43 / 128,
        recompute=ALL_BUT_QKV,
        utilization=0.5120,
    ),
    Published(
        LLAMA3_70B,
        f"{MAXTEXT}, XLA",
        "h100",
        dp=256,
        batch=512,
        tokens=271581.46 / 256,
        recompute=ALL_BUT_QKV,
        utilization=0.5159,
    ),
    Published(
        MPT_70B,
        MOSAIC,
        "h100",
        dp=64,
        batch=2048,
        tokens=1039,
        microbatches=4,
        sequence=2048,
        reduce="bf16",
        utilization=0.4257,
    ),
    Published(
        MPT_30B,
        MOSAIC,
        "h100",
        dp=32,
        batch=1344,
        tokens=2308,
        microbatches=3,
        sequence=2048,
        reduce="bf16",
        utilization=0.4392,
    ),
    Published(
        MPT_13B,
        MOSAIC,
        "h100",
        dp=64,
        batch=128,
        tokens=4800,
        sequence=2048,
        recompute=NOTHING,
        reduce="bf16",
        utilization=0.3986,
    ),
    Published(
        MPT_7B,
        MOSAIC,
        "h100",
        dp=8,
        batch=48,
        tokens=10643,
        sequence=2048,
        recompute=NOTHING,
        reduce="bf16",
        utilization=0.4644,
    ),
    Published(
        LLAMA2_70B,
        FMS,
        "h100_800gbit",
        dp=96,
        batch=192,
        tokens=800,
        sequence=4096,
        reduce="bf16",
        utilization=0.34,
    ),
    Published(
        LLAMA2_34B,
        FMS,
        "h100_800gbit",
        dp=96,
        batch=192,
        tokens=1550,
        sequence=4096,
        reduce="bf16",
        utilization=0.32,
    ),
    Published(
        LLAMA2_7B,
        FMS,
        "h100_800gbit",
        pods=12,
        dp=8,
        batch=192,
        tokens=7500,
        sequence=4096,
        recompute=NOTHING,
        reduce="bf16",
        utilization=0.37,
    ),
    Published(
        LLAMA2_7B,
        FMS_COMPILED,
        "h100_800gbit",
        pods=12,
        dp=8,
        batch=192,
        tokens=9600,
        sequence=4096,
        recompute=NOTHING,
        reduce="bf16",
        utilization=0.46,
    ),
    Published(
        LLAMA3_405B,
        "pytorch/torchtitan docs/performance.md of 2024, eager",
        "h100_500w_eager",
        dp=16,
        tp=8,
        batch=32,
        tokens=109,
        utilization=0.29,
    ),
    Published(
        LLAMA3_70B,
        "pytorch/torchtitan benchmarks/asyncTP_llama3_h100_2025-06_torchtitan.md, torch.compile",
        "h100_500w_compiled",
        dp=32,
        tp=8,
        batch=512,
        tokens=597.3,
    ),
    Published(
        LLAMA3_8B,
        "pytorch/torchtitan benchmarks/asyncTP_llama3_h100_2025-06_torchtitan.md, torch.compile",
        "h100_500w_compiled",
        dp=8,
        tp=8,
        batch=96,
        tokens=4378,
        recompute=EVERY_SECOND_PRODUCT,
    ),
    Published(
        LLAMA3_8B,
        f"{TITAN_2024}, table 3, eager",
        "h100_500w_eager",
        dp=128,
        batch=256,
        tokens=5605,
        recompute=EVERY_SECOND_PRODUCT,
    ),
    Published(
        LLAMA3_8B,
        f"{TITAN_2024}, table 3, torch.compile",
        "h100_500w_compiled",
        dp=128,
        batch=256,
        tokens=6514,
        recompute=EVERY_SECOND_PRODUCT,
    ),
]
