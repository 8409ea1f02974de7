"""Choices of a model between nearly equal scores, such as those of the experts of a mixture, in two precisions.

Where the scores that `topk` compares are nearly equal, rounding decides, and every number that follows is another one.
So the run in float64 takes what PyTorch's own run has chosen, where the scores of both choices differ by less than
rounding explains. How many rows of scores that are is printed. In 16 bits nothing is replayed, since ranks that round
addends choose otherwise than PyTorch's own run: the errors of other choices are then among those of PyTorch's own runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch

# Of the largest score: what float32 may move one by.
ROUNDING = 1e-5
MOST_REPLAYED = 0.01  # of the rows

Topk = Callable[..., tuple[torch.Tensor, torch.Tensor]]


class Count(NamedTuple):
    """Rows of scores in the runs in float64."""

    rows: int = 0
    differing: int = 0
    replayed: int = 0


class Choices:
    """What `topk` has chosen in PyTorch's own run, call by call."""

    def __init__(self, half: bool) -> None:
        self.rounding = 0.0 if half else ROUNDING
        self.own: list[torch.Tensor] = []
        self.position = 0
        self.count = Count()

    def begin_own(self) -> None:
        """What follows is a run of PyTorch in its own precision, whose choices count."""
        self.own.clear()

    def begin_again(self) -> None:
        """What follows is another run of the same model on the same inputs."""
        self.position = 0

    def record(
        self, scores: torch.Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """`topk` of the own run."""
        values, chosen = torch.topk(scores, k, dim, largest, sorted)
        self.own.append(chosen)
        return values, chosen

    def replay(
        self, scores: torch.Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """`topk` of another run."""
        values, chosen = torch.topk(scores, k, dim, largest, sorted)
        own = self.own[self.position]
        self.position += 1
        if chosen.numel() == 0:
            return values, chosen
        differs = (own != chosen).any(dim, keepdim=True)
        gaps = (scores.gather(dim, own) - values).abs().amax(dim, keepdim=True)
        are_close = differs & (gaps <= self.rounding * scores.abs().amax(dim, keepdim=True)) & (self.rounding > 0)
        rows, differing, replayed = self.count
        self.count = Count(rows + differs.numel(), differing + int(differs.sum()), replayed + int(are_close.sum()))
        if not are_close.any():
            return values, chosen
        chosen = torch.where(are_close, own, chosen)
        return scores.gather(dim, chosen), chosen

    def compare(self) -> bool:
        """Prints what differs, if anything was chosen; false if that is more than rounding does."""
        rows, differing, replayed = self.count
        right = replayed <= MOST_REPLAYED * rows
        if rows:
            verdict = "ok" if right else "WRONG"
            print(f"choices: {differing} of {rows} are others in float64, {replayed} are replayed: {verdict}")
        return right


def use_topk(module: torch.nn.Module, topk: Topk) -> bool:
    """Replaces the operator in the modules of an exported graph; false if there is none."""
    found = False
    for graph_module in module.modules():
        if isinstance(graph_module, torch.fx.GraphModule):
            for node in graph_module.graph.find_nodes(op="call_function", target=torch.ops.aten.topk.default):
                node.target, found = topk, True
            graph_module.recompile()
    return found
