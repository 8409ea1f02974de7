#!/usr/bin/env python3
"""Compares training steps with PyTorch.

  compare_training.py MODEL.pt2 --optimizer KIND [--set NAME=VALUE...] [--clip X] [--seed N] [--loss NAME]
                      RESULT INPUTS...

RESULT is what run-steps wrote: the loss of each step (`step0.loss`, ...) and the parameters behind the last. INPUTS has
one file for each step. The reference is the exported graph in float64 under the optimizer of torch.optim with the same
numbers. A loss is right if its error is at most max(4 x the error of PyTorch's own float32 run, 1e-5 x the loss). The
errors of a model of 16 bits are draws: they are at most 1.5 x the largest of PyTorch's own. With `--master` PyTorch's own
run keeps float32 copies of such parameters, which the optimizer changes, and rounds them for the next step. With
`--parameters` those behind the last step are compared too: at most max(4 x the largest error of PyTorch's own, 1e-6 x
the largest magnitude); under Adam, which divides by the size of a gradient, small gradients make that meaningless.
Prints a line for each loss, and the worst parameter; status 1 if one is wrong or not a finite number.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Sequence

import torch
from compare_forward import (
    Tensors,
    largest_error,
    leaves,
    load_program,
    own_module,
    positional_inputs,
    widened,
    widened_module,
)
from compare_gradients import names_of_parameters
from draws import Draws
from safetensors.torch import load_file

Parameters = list[torch.nn.Parameter]
OPTIMIZERS: dict[str, Callable[..., torch.optim.Optimizer]] = {
    "sgd": torch.optim.SGD,
    "adam": torch.optim.Adam,
    "adamw": torch.optim.AdamW,
}


class Training:
    """One model in training, in its own precision or in float64."""

    def __init__(
        self,
        module: torch.nn.Module,
        names: dict[str, list[str]],
        arguments: argparse.Namespace,
        draws: Draws | None = None,
    ) -> None:
        """`draws` are those of the module, whose step is 0."""
        self.module, self.names, self.arguments, self.draws = module, names, arguments, draws or Draws(step=0)
        named = dict(module.named_parameters(remove_duplicate=False))
        self.tied = {
            first: list({id(named[name]): named[name] for name in group}.values()) for first, group in names.items()
        }
        self.own: Parameters = [group[0] for group in self.tied.values()]
        numbers = {name: float(value) for name, value in (text.split("=") for text in arguments.set)}
        if "beta1" in numbers:
            numbers["betas"] = (numbers.pop("beta1"), numbers.pop("beta2"))  # type: ignore[assignment]
        if "nesterov" in numbers:
            numbers["nesterov"] = bool(numbers["nesterov"])
        # What the optimizer changes: the parameters, or their copies.
        self.held: Parameters = self.own
        if arguments.master:
            self.held = [torch.nn.Parameter(parameter.detach().to(wider(parameter.dtype))) for parameter in self.own]
        self.optimizer = OPTIMIZERS[arguments.optimizer](self.held, **numbers)

    def step(self, inputs: Tensors, positional: Sequence[str]) -> float:
        self.draws.step += 1
        for group in self.tied.values():
            for parameter in group:
                parameter.grad = None
        named = {name: tensor for name, tensor in inputs.items() if name not in positional}
        loss = dict(leaves(self.module(*(inputs[name] for name in positional), **named)))[self.arguments.loss]
        loss.sum().backward()
        for group in self.tied.values():
            # Tied ones that are several parameters to PyTorch share their elements, and are trained as one.
            for other in group[1:]:
                if other.grad is not None:
                    group[0].grad = other.grad if group[0].grad is None else group[0].grad + other.grad
        for held, own in zip(self.held, self.own, strict=True):
            held.grad = None if own.grad is None else own.grad.to(held.dtype)
        if self.arguments.clip:
            torch.nn.utils.clip_grad_norm_(self.held, self.arguments.clip)
        self.optimizer.step()
        with torch.no_grad():
            for held, own in zip(self.held, self.own, strict=True):
                own.copy_(held)
            for group in self.tied.values():
                for other in group[1:]:
                    if other.data_ptr() != group[0].data_ptr():
                        other.copy_(group[0])
        return loss.item()

    def parameters(self) -> Tensors:
        return {first: group[0].detach() for first, group in self.tied.items()}

    @property
    def is_narrow(self) -> bool:
        return any(parameter.dtype in (torch.bfloat16, torch.float16) for parameter in self.own)


def wider(dtype: torch.dtype) -> torch.dtype:
    return torch.float32 if dtype in (torch.bfloat16, torch.float16) else dtype


def compare_losses(ours: Tensors, own: list[float], exact: list[float], loss: str, is_narrow: bool) -> bool:
    right = True
    largest = max(abs(narrow - wide) for narrow, wide in zip(own, exact, strict=True))
    for number, (narrow, wide) in enumerate(zip(own, exact, strict=True)):
        error = abs(ours[f"step{number}.{loss}"].item() - wide)
        bound = 1.5 * largest if is_narrow else max(4 * abs(narrow - wide), 1e-5 * abs(wide))
        fine = math.isfinite(error) and error <= bound
        right &= fine
        print(f"step {number}: loss {wide:.6f}, error {error:.2e}, bound {bound:.2e}: {'ok' if fine else 'WRONG'}")
    return right


def compare_parameters(
    ours: Tensors, own: Tensors, exact: Tensors, names: dict[str, list[str]], is_narrow: bool
) -> bool:
    magnitude = max(tensor.abs().max().item() for tensor in exact.values() if tensor.numel())
    shares = {}
    for first, wide in exact.items():
        held = next(ours[name] for name in names[first] if name in ours)
        factor = 1.5 if is_narrow else 4
        error, bound = largest_error(held, wide), max(factor * largest_error(own[first], wide), 1e-6 * magnitude)
        shares[first] = error / bound if math.isfinite(error) else math.inf
    worst = max(shares, key=lambda name: shares[name])
    print(f"parameters: {worst} has {shares[worst]:.2f} of what is allowed: {'ok' if shares[worst] <= 1 else 'WRONG'}")
    return shares[worst] <= 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("result")
    parser.add_argument("inputs", nargs="+")
    parser.add_argument("--optimizer", choices=OPTIMIZERS, required=True)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a number of the optimizer")
    parser.add_argument("--clip", type=float, default=0)
    parser.add_argument("--seed", type=int, default=0, help="of random operators")
    parser.add_argument("--loss", default="loss")
    parser.add_argument("--master", action="store_true", help="float32 copies of parameters of 16 bits are trained")
    parser.add_argument("--parameters", action="store_true")
    arguments = parser.parse_args()

    program = load_program(arguments.model)
    names, positional = names_of_parameters(program), positional_inputs(program)
    draws = [Draws(arguments.seed, step=0) for _ in range(2)]
    own = Training(own_module(program, draws[0]), names, arguments, draws[0])
    exact = Training(widened_module(program, draws[1]), names, arguments, draws[1])
    batches = [load_file(path) for path in arguments.inputs]
    losses = [(own.step(batch, positional), exact.step(widened(batch), positional)) for batch in batches]
    ours = load_file(arguments.result)
    right = compare_losses(
        ours, [loss for loss, _ in losses], [loss for _, loss in losses], arguments.loss, own.is_narrow
    )
    if arguments.parameters:
        right &= compare_parameters(ours, own.parameters(), exact.parameters(), names, own.is_narrow)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
