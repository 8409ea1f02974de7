"""Holds a training against PyTorch, as reference/training.py does."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import io
from collections.abc import Callable

import torch

from harness.differential import case
from harness.differential.models.model import make_inputs
from harness.differential.models.redefined_loss import redefined
from harness.differential.plans.statements import Groups, calls_of, find, groups_of, named, rounded_addends, settings_of
from harness.reference.archives import is_half, positional_inputs
from harness.reference.deviations import beside
from harness.reference.draws import Draws
from harness.reference.gradients import names_of_parameters
from harness.reference.graphs import own_module, widened_module
from harness.reference.training import Reference, Settings, Training, compare, worst_parameter

Tensors = dict[str, torch.Tensor]
# Between the numbers from which the inputs of steps, draws and calls of the model follow.
OTHER_STEP, OTHER_DRAW, OTHER_CALL = 104729, 1299709, 15485863


def batches(drawn: case.Case) -> list[Tensors]:
    """The inputs of each step."""
    seeds = [drawn.model_seed + step * OTHER_STEP for step in range(drawn.steps)]
    return [batch_of(drawn, seed) for seed in seeds]


def batch_of(drawn: case.Case, seed: int) -> Tensors:
    """The inputs of all calls of the model, one after the other."""
    seeds = [seed + call * OTHER_CALL for call in range(calls_of(drawn.statements))]
    calls = [make_inputs(dataclasses.replace(drawn, model_seed=each)) for each in seeds]
    return {name: torch.cat([call[name] for call in calls]) for name in calls[0]}


class GroupedTraining(Training):
    """A training with other numbers for some parameters, and with a loss that the plan may redefine."""

    def __init__(
        self,
        drawn: case.Case,
        module: torch.nn.Module,
        names: dict[str, list[str]],
        settings: Settings,
        draws: Draws,
    ) -> None:
        super().__init__(module, names, settings, draws)
        self.drawn = drawn
        held = dict(zip(map(id, self.own), self.held, strict=True))
        trained = [(names[first], held[id(group[0])]) for first, group in self.tied.items() if id(group[0]) in held]
        groups: Groups = [group for group, _ in trained]
        for paths, numbers in groups_of(find(drawn.statements, "optimizer")):
            members = named(groups, paths)
            chosen = [parameter for group, parameter in trained if group in members]
            general = self.optimizer.param_groups[0]
            general["params"] = [own for own in general["params"] if not any(own is other for other in chosen)]
            self.optimizer.add_param_group({"params": chosen, **numbers})

    def loss_of(self, outputs: Tensors, inputs: Tensors) -> torch.Tensor:
        if self.settings.per:
            return redefined(self.drawn, outputs, inputs["labels"], self.settings.per)
        return outputs[self.settings.loss]


class DrawnReference(Reference):
    """A reference whose further draws are of other inputs, as what a small model computes may not tell rotations apart,
    or of inputs and weights beside those of the case: what rounding makes of these weights may be much or little in
    all batches."""

    def __init__(
        self, drawn: case.Case, make: Callable[[bool, int], Training], program: torch.export.ExportedProgram
    ) -> None:
        """`make` begins a training in float64, if asked to, with weights beside those of the case, other ones for each
        number but 0."""
        self.drawn, self.weights = drawn, 0
        names = names_of_parameters(program)
        super().__init__(
            lambda exact: make(exact, self.weights),
            names,
            batches(drawn),
            positional_inputs(program),
            is_half(program),
        )

    def inputs_of(self, batch: Tensors) -> Tensors:
        """As they are drawn: where a mask is rotated, a query may see no key, and nothing is a number."""
        return batch

    def add_draw(self) -> tuple[list[float], Tensors]:
        self.weights = self.draws if self.draws % 2 else 0
        if self.weights:
            generator = torch.Generator().manual_seed(self.draws)
            self.batches = [
                {name: beside(tensor, generator) for name, tensor in batch.items()} for batch in batches(self.drawn)
            ]
        elif self.draws:
            other = self.drawn.model_seed + self.draws * OTHER_DRAW
            self.batches = batches(dataclasses.replace(self.drawn, model_seed=other))
        return super().add_draw()


@torch.no_grad()
def change_weights(program: torch.export.ExportedProgram, generator: torch.Generator) -> None:
    """Gives every parameter numbers beside its own."""
    for parameter in program.parameters():
        parameter.copy_(beside(parameter, generator))


def reference_of(drawn: case.Case, program: torch.export.ExportedProgram) -> tuple[Reference, Settings]:
    names = names_of_parameters(program)
    settings = settings_of(drawn, list(names.values()))

    def make(exact: bool, weights: int) -> Training:
        # A module of its own, whose parameters change.
        again, draws = copy.deepcopy(program), Draws(settings.seed, step=0)
        if weights:
            change_weights(again, torch.Generator().manual_seed(weights))
        module = widened_module(again, draws) if exact else own_module(again, draws)
        return GroupedTraining(drawn, module, names, settings, draws)

    return DrawnReference(drawn, make, program), settings


def largest_share(ours: Tensors, reference: Reference, settings: Settings) -> float:
    """Of what is allowed, in losses and, where they are compared, parameters."""
    shares = [worst_parameter(ours, reference)[1]] if settings.parameters else []
    for step, wide in enumerate(reference.losses):
        error = abs(ours[f"step{step}.{settings.loss}"].item() - wide)
        shares.append(reference.share(error, lambda step=step: reference.loss_bound(step)))
    return max(shares)


def compared(drawn: case.Case, program: torch.export.ExportedProgram, ours: Tensors) -> tuple[float, str]:
    """The largest error as a share of what is allowed, and what is wrong; nothing if all is right."""
    with torch.enable_grad(), rounded_addends(drawn), contextlib.redirect_stdout(io.StringIO()) as printed:
        reference, settings = reference_of(drawn, program)
        right = compare(ours, reference, settings)
        share = largest_share(ours, reference, settings)
    wrong = "; ".join(line for line in printed.getvalue().splitlines() if line.endswith("WRONG"))
    return share, "" if right else wrong
