"""A training step of a mixture of experts in PyTorch, as one of the ranks that torchrun starts over Gloo.

Written by hand as expert parallelism is: a rank has some experts of each layer, and computes the tokens of all ranks
that choose them. Numbers of rows and rows cross by `all_to_all_single`, rows in both directions and in both passes; all
else is that of `DistributedDataParallel`, which averages the gradients of shared parameters in buckets beside the
backward pass. Eager, AdamW fused. Rank 0 prints JSON.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

import torch
import torch.distributed as dist
from bench import models, reference
from bench.torch_step import BUCKET_MIB, Tensors, measure, optimizer_of
from safetensors.torch import load_file
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def exchange(rows: torch.Tensor, sent: list[int], received: list[int]) -> torch.Tensor:
    arrivals = rows.new_empty((sum(received), *rows.shape[1:]))
    dist.all_to_all_single(arrivals, rows, received, sent)
    return arrivals


class Exchange(torch.autograd.Function):
    """Rows go to other ranks; their gradients come back."""

    @staticmethod
    def forward(ctx, rows: torch.Tensor, sent: list[int], received: list[int]) -> torch.Tensor:  # noqa: ANN001
        ctx.sent, ctx.received = sent, received
        return exchange(rows, sent, received)

    @staticmethod
    def backward(ctx, gradient: torch.Tensor) -> tuple[torch.Tensor, None, None]:  # noqa: ANN001
        return exchange(gradient.contiguous(), ctx.received, ctx.sent), None, None


class DividedExperts(nn.Module):
    """The rank's experts of a layer. `whole` has all of them."""

    def __init__(self, whole: nn.Module) -> None:
        super().__init__()
        ranks, rank = dist.get_world_size(), dist.get_rank()
        self.experts = whole.num_experts
        self.own = self.experts // ranks
        self.gate_up_proj = nn.Parameter(whole.gate_up_proj.detach()[rank * self.own :][: self.own].clone())
        self.down_proj = nn.Parameter(whole.down_proj.detach()[rank * self.own :][: self.own].clone())
        self.activation = whole.act_fn

    def compute(self, rows: torch.Tensor, counts: list[int]) -> torch.Tensor:
        """`rows` are by expert."""
        computed = []
        for expert, part in enumerate(rows.split(counts)):
            gate, up = nn.functional.linear(part, self.gate_up_proj[expert]).chunk(2, dim=-1)
            computed.append(nn.functional.linear(self.activation(gate) * up, self.down_proj[expert]))
        return torch.cat(computed)

    def forward(self, hidden: torch.Tensor, chosen: torch.Tensor, gates: torch.Tensor) -> torch.Tensor:
        tokens, slots = chosen.shape
        flat = chosen.flatten()
        order = flat.argsort(stable=True)
        counts = torch.bincount(flat, minlength=self.experts)
        arriving = torch.empty_like(counts)
        dist.all_to_all_single(arriving, counts)
        sent = counts.view(-1, self.own).sum(1).tolist()
        by_rank = arriving.view(-1, self.own)
        received = by_rank.sum(1).tolist()
        # Arrivals are by rank, then by expert; products take them by expert.
        expert_of_arrival = torch.arange(self.own).repeat(len(received)).repeat_interleave(arriving)
        by_expert = expert_of_arrival.argsort(stable=True)
        arrivals = Exchange.apply(hidden.index_select(0, order // slots), sent, received)
        computed = self.compute(arrivals.index_select(0, by_expert), by_rank.sum(0).tolist())
        back = Exchange.apply(computed.index_select(0, by_expert.argsort()), received, sent)
        weighted = back.index_select(0, order.argsort()).view(tokens, slots, -1) * gates.unsqueeze(-1)
        return weighted.sum(1)


class Trained(nn.Module):
    """A mixture with its loss, whose experts are divided."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model
        for layer in model.model.layers:
            layer.mlp.experts = DividedExperts(layer.mlp.experts)

    def own_parameters(self) -> list[tuple[str, nn.Parameter]]:
        """Those that no other rank has."""
        return [(name, each) for name, each in self.named_parameters() if ".experts." in name]

    def forward(self, input_ids: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        logits = self.model(input_ids=input_ids).logits
        following = nn.functional.pad(labels[:, 1:], (0, 1), value=-100)
        return nn.functional.cross_entropy(logits.flatten(0, 1), following.flatten())


class Training:
    def __init__(self, model: Trained, inputs: Tensors) -> None:
        self.ranks = dist.get_world_size()
        self.own = [each for _, each in model.own_parameters()]
        model._ddp_params_and_buffers_to_ignore = [name for name, _ in model.own_parameters()]
        self.model = DistributedDataParallel(model, bucket_cap_mb=BUCKET_MIB, gradient_as_bucket_view=True)
        self.inputs = {name: each.tensor_split(self.ranks)[dist.get_rank()] for name, each in inputs.items()}
        self.optimizer = optimizer_of(self.model, "DDP")

    def step(self) -> torch.Tensor:
        loss = self.model(**self.inputs)
        loss.backward()
        # The gradient of a rank's own experts has the tokens of all ranks, each of whose losses is a mean.
        torch._foreach_div_([each.grad for each in self.own], self.ranks)
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss.detach()

    def whole(self, loss: torch.Tensor) -> float:
        """The mean of the ranks' losses is the loss, because all samples have the same number of tokens."""
        dist.all_reduce(loss)
        return (loss / self.ranks).item()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=Path, required=True)
    parser.add_argument("--steps", type=int, required=True)
    arguments = parser.parse_args()
    dist.init_process_group("gloo")
    torch.set_num_threads(max(1, len(os.sched_getaffinity(0)) // dist.get_world_size()))
    inputs = load_file(arguments.inputs)
    model = Trained(reference.load(models.mixture(*inputs["input_ids"].shape)).train())
    result = measure(Training(model, inputs), arguments.steps)
    if dist.get_rank() == 0:
        print(json.dumps(result))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
