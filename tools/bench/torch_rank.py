"""One rank of a forward pass with loss in PyTorch over Gloo; torchrun starts it.

With `--parallel data` each rank computes its samples and the loss is averaged, as under DistributedDataParallel. With
`--parallel tensor` modules are split by DTensor's styles in Megatron's layout: the vocabulary of the embedding, the
heads, the inner dim of the MLP, and the vocabulary of logits and loss, which are never gathered. Rank 0 prints JSON.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import time
from pathlib import Path

import torch
import torch.distributed as dist
from bench import models, reference
from safetensors.torch import load_file
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, loss_parallel, parallelize_module

Tensors = dict[str, torch.Tensor]

STYLES = {
    "model.embed_tokens": lambda: RowwiseParallel(input_layouts=Replicate()),
    "model.layers.*.self_attn.q_proj": ColwiseParallel,
    "model.layers.*.self_attn.k_proj": ColwiseParallel,
    "model.layers.*.self_attn.v_proj": ColwiseParallel,
    "model.layers.*.self_attn.o_proj": RowwiseParallel,
    "model.layers.*.mlp.gate_proj": ColwiseParallel,
    "model.layers.*.mlp.up_proj": ColwiseParallel,
    "model.layers.*.mlp.down_proj": RowwiseParallel,
    "lm_head": lambda: ColwiseParallel(use_local_output=False),
}


def divide_batch(inputs: Tensors) -> Tensors:
    rank, size = dist.get_rank(), dist.get_world_size()
    return {name: tensor.tensor_split(size)[rank] for name, tensor in inputs.items()}


def divide_modules(model: nn.Module) -> None:
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    parallelize_module(model, mesh, {path: style() for path, style in STYLES.items()})


def loss_of(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    flat = logits[:, :-1].flatten(0, 1).float()
    return nn.functional.cross_entropy(flat, labels[:, 1:].flatten())


def step(model: nn.Module, inputs: Tensors, parallel: str) -> torch.Tensor:
    with torch.no_grad(), loss_parallel() if parallel == "tensor" else contextlib.nullcontext():
        loss = loss_of(model(input_ids=inputs["input_ids"]).logits, inputs["labels"])
        if parallel == "tensor":
            return loss.full_tensor()
        dist.all_reduce(loss)
        return loss / dist.get_world_size()


def measure(model: nn.Module, inputs: Tensors, parallel: str, steps: int) -> tuple[list[float], float]:
    """Seconds of each step between two barriers of all ranks, and the loss. A first step is left out."""
    seconds, loss = [], torch.zeros(())
    for _ in range(steps + 1):
        dist.barrier()
        begin = time.monotonic()
        loss = step(model, inputs, parallel)
        dist.barrier()
        seconds.append(time.monotonic() - begin)
    return seconds[1:], loss.item()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parallel", choices=("data", "tensor"), required=True)
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--sequence", type=int, required=True)
    parser.add_argument("--inputs", type=Path, required=True)
    parser.add_argument("--steps", type=int, required=True)
    arguments = parser.parse_args()
    dist.init_process_group("gloo")
    cores = len(os.sched_getaffinity(0))
    torch.set_num_threads(max(1, cores // dist.get_world_size()))
    model = reference.load(models.smollm2(arguments.batch, arguments.sequence)).eval()
    inputs = load_file(arguments.inputs)
    if arguments.parallel == "tensor":
        divide_modules(model)
    else:
        inputs = divide_batch(inputs)
    seconds, loss = measure(model, inputs, arguments.parallel, arguments.steps)
    if dist.get_rank() == 0:
        print(json.dumps({"seconds": statistics.median(seconds), "loss": loss}))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
