"""A training step of PyTorch: in one process, or as one of the ranks that torchrun starts over Gloo.

Eager, AdamW fused. With several ranks FSDP2 shards each layer, the embedding, and the last norm together with the head,
as torchtitan does for Llama. With `--data DDP` DistributedDataParallel reduces gradients in buckets instead, and with
`--data ZeRO-1` ZeroRedundancyOptimizer also divides the optimizer's states. With `--tensor-parallel N` DTensor's styles
split every layer over N ranks, and activations between the blocks along the sequence; logits and loss stay split over
the vocabulary. Rank 0 prints JSON.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import time
from pathlib import Path

import torch
import torch.distributed as dist
import transformers
from bench import models, reference
from safetensors.torch import load_file
from torch import nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.distributed.tensor import DTensor, Replicate, Shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    PrepareModuleInput,
    RowwiseParallel,
    SequenceParallel,
    loss_parallel,
    parallelize_module,
)
from torch.nn.parallel import DistributedDataParallel

Tensors = dict[str, torch.Tensor]

BUCKET_MIB = 25

WHOLE, DIVIDED = Replicate(), Shard(1)
LAYER_STYLES = {
    "input_layernorm": SequenceParallel,
    "self_attn": lambda: PrepareModuleInput(
        input_kwarg_layouts={"hidden_states": DIVIDED}, desired_input_kwarg_layouts={"hidden_states": WHOLE}
    ),
    "self_attn.q_proj": ColwiseParallel,
    "self_attn.k_proj": ColwiseParallel,
    "self_attn.v_proj": ColwiseParallel,
    "self_attn.o_proj": lambda: RowwiseParallel(output_layouts=DIVIDED, use_local_output=False),
    "post_attention_layernorm": SequenceParallel,
    "mlp": lambda: PrepareModuleInput(input_layouts=DIVIDED, desired_input_layouts=WHOLE),
    "mlp.gate_proj": ColwiseParallel,
    "mlp.up_proj": ColwiseParallel,
    "mlp.down_proj": lambda: RowwiseParallel(output_layouts=DIVIDED, use_local_output=False),
}
STYLES = {
    "embed_tokens": lambda: RowwiseParallel(input_layouts=WHOLE, output_layouts=DIVIDED, use_local_output=False),
    "norm": SequenceParallel,
    "lm_head": lambda: ColwiseParallel(input_layouts=DIVIDED, output_layouts=Shard(-1), use_local_output=False),
    **{f"layers.*.{path}": style for path, style in LAYER_STYLES.items()},
}


class Trained(nn.Module):
    """A Llama and its loss. Does not use transformers' own forward, which counts positions of the split sequence."""

    def __init__(self, model: transformers.LlamaForCausalLM) -> None:
        super().__init__()
        self.embed_tokens, self.layers = model.model.embed_tokens, model.model.layers
        self.norm, self.rotary, self.lm_head = model.model.norm, model.model.rotary_emb, model.lm_head

    def forward(self, input_ids: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        positions = torch.arange(input_ids.shape[1]).unsqueeze(0)
        hidden = self.embed_tokens(input_ids)
        # Only the dtype of the activations is read.
        local = hidden.to_local() if isinstance(hidden, DTensor) else hidden
        angles = self.rotary(local, position_ids=positions)
        for layer in self.layers:
            hidden = layer(hidden, position_embeddings=angles, position_ids=positions)
        logits = self.lm_head(self.norm(hidden))
        following = nn.functional.pad(labels[:, 1:], (0, 1), value=-100)
        return nn.functional.cross_entropy(logits.flatten(0, 1), following.flatten())


def row_major(tensor: torch.Tensor) -> torch.Tensor:
    # A DTensor reports that it is contiguous, so `contiguous` does nothing.
    return tensor.clone(memory_format=torch.contiguous_format)


class RowMajorGradient(torch.autograd.Function):
    """The identity, whose gradient becomes row-major."""

    @staticmethod
    def forward(_: object, tensor: torch.Tensor) -> torch.Tensor:
        return tensor.view_as(tensor)

    @staticmethod
    def backward(_: object, gradient: torch.Tensor) -> torch.Tensor:
        return row_major(gradient)


def make_row_major(_: nn.Module, positional: tuple, named: dict[str, object]) -> tuple[tuple, dict[str, object]]:
    """Runs before a module."""
    named = {name: row_major(each) if name == "hidden_states" else each for name, each in named.items()}
    return tuple(row_major(each) for each in positional), named


def divide_layers(model: Trained, mesh: DeviceMesh) -> None:
    """Splits all layers. A tensor gathered from a sequence that does not divide evenly has gaps, which products of
    DTensors refuse, so it is copied."""
    gathering = [each for layer in model.layers for each in (layer.self_attn, layer.mlp)]
    for module in (
        model.embed_tokens,
        *(each for layer in model.layers for each in (layer.self_attn.o_proj, layer.mlp.down_proj)),
    ):
        module.register_forward_hook(lambda _, __, output: RowMajorGradient.apply(output))
    parallelize_module(model, mesh, {path: style() for path, style in STYLES.items()})
    for module in (*gathering, model.lm_head):
        module.register_forward_pre_hook(make_row_major, with_kwargs=True)


def divide(model: Trained, mesh: DeviceMesh) -> None:
    if mesh["tp"].size() > 1:
        divide_layers(model, mesh["tp"])
    for layer in model.layers:
        fully_shard(layer, mesh=mesh["dp"])
    fully_shard(model.embed_tokens, mesh=mesh["dp"])
    # The backward pass begins with them.
    fully_shard([model.norm, model.lm_head], mesh=mesh["dp"], reshard_after_forward=False)
    fully_shard(model, mesh=mesh["dp"])


def shared(model: Trained, data: str, mesh: DeviceMesh) -> nn.Module:
    """The model whose parameters and gradients the ranks share as `data` says."""
    if data == "ZeRO-3":
        divide(model, mesh)
        return model
    return DistributedDataParallel(
        model, process_group=mesh["dp"].get_group(), bucket_cap_mb=BUCKET_MIB, gradient_as_bucket_view=True
    )


def optimizer_of(model: nn.Module, data: str) -> torch.optim.Optimizer:
    settings = {"lr": 3e-4, "weight_decay": 0.1, "fused": True}
    if data == "ZeRO-1" and dist.is_initialized():
        return ZeroRedundancyOptimizer(
            model.parameters(), torch.optim.AdamW, parameters_as_bucket_view=True, **settings
        )
    return torch.optim.AdamW(model.parameters(), **settings)


class Training:
    """The model with its optimizer on one rank, or on the only one."""

    def __init__(self, model: Trained, inputs: Tensors, tensor_parallel: int, data: str = "ZeRO-3") -> None:
        self.model: nn.Module = model
        self.inputs = inputs
        self.is_divided = tensor_parallel > 1
        if dist.is_initialized():
            mesh = init_device_mesh(
                "cpu", (dist.get_world_size() // tensor_parallel, tensor_parallel), mesh_dim_names=("dp", "tp")
            )
            self.model = shared(model, data, mesh)
            part = mesh["dp"].get_local_rank()
            self.inputs = {name: each.tensor_split(mesh["dp"].size())[part] for name, each in inputs.items()}
        self.optimizer = optimizer_of(self.model, data)

    def step(self) -> torch.Tensor:
        with loss_parallel() if self.is_divided else contextlib.nullcontext():
            loss = self.model(**self.inputs)
            loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss.detach()

    def whole(self, loss: torch.Tensor) -> float:
        """The mean of the ranks' losses is the loss, because all samples have the same number of tokens."""
        loss = loss.full_tensor() if isinstance(loss, DTensor) else loss
        if dist.is_initialized():
            dist.all_reduce(loss)
            loss /= dist.get_world_size()
        return loss.item()


def barrier() -> None:
    if dist.is_initialized():
        dist.barrier()


def measure(training: Training, steps: int) -> dict[str, list[float]]:
    """Losses of all steps; seconds between two barriers of all ranks, of each step but the first."""
    seconds, losses = [], []
    for _ in range(steps + 1):
        barrier()
        begin = time.monotonic()
        loss = training.step()
        barrier()
        seconds.append(time.monotonic() - begin)
        losses.append(training.whole(loss))
    return {"seconds": seconds[1:], "losses": losses}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=Path, required=True)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--tensor-parallel", type=int, default=1)
    parser.add_argument("--data", choices=("DDP", "ZeRO-1", "ZeRO-3"), default="ZeRO-3")
    arguments = parser.parse_args()
    if arguments.tensor_parallel > 1 and arguments.data != "ZeRO-3":
        parser.error("--tensor-parallel is for --data ZeRO-3 only")
    if "RANK" in os.environ:
        dist.init_process_group("gloo")
    ranks = dist.get_world_size() if dist.is_initialized() else 1
    torch.set_num_threads(max(1, len(os.sched_getaffinity(0)) // ranks))
    inputs = load_file(arguments.inputs)
    model = Trained(reference.load(models.smollm2_8(*inputs["input_ids"].shape)).train())
    training = Training(model, inputs, arguments.tensor_parallel, arguments.data)
    result = measure(training, arguments.steps)
    if not dist.is_initialized() or dist.get_rank() == 0:
        print(json.dumps(result))
    if dist.is_initialized():
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
