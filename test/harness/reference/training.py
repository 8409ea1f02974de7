"""What PyTorch makes of a training, and how far losses and parameters may be from it.

A result is what run-steps writes: the loss of each step (`step0.loss`, ...) and what ranks hold after the last. The
reference is the exported graph in float64 under the optimizer of torch.optim with the same numbers. A loss is right if
its error is at most max(4 x the error of PyTorch's own run, 1e-5 x the loss). Where parameters are compared their error
is at most max(4 x the largest error of PyTorch's own, 1e-6 x the largest magnitude); under Adam, which divides by the
size of a gradient, small gradients make that meaningless.

In 16 bits a loss is rounded, and so is every number of a parameter: an error is a draw, which tells little of the next
one. There the bound is 1.5 x the largest error that PyTorch's own run has of this loss, or of this parameter, in up to
32 trainings, as in the random cases: on the inputs, and on rotations of them. They are made for as long as they are
needed. The error of a parameter counts as at least half of a unit in the last place of its largest number: PyTorch's
own has none where it changes nothing, as where a gradient is zero but for rounding. Under autocast (`compute`) the
bounds of 16 bits hold.

With `master` PyTorch's own run keeps copies of narrower parameters in that dtype, which the optimizer changes, and
rounds them for the next step. Then these copies are compared, not what is rounded: NAME.master where there is one, else
a parameter that is stored in that dtype; each must have it. With `states` the optimizer's states must be there for
every trained parameter, in that dtype: NAME.exp_avg, NAME.exp_avg_sq, NAME.momentum_buffer. With `gather` the model
reads parameters that were rounded to that dtype, and their gradients, which are not rounded, change what was not
rounded.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch.export.graph_signature import OutputKind

from harness.reference.addends import References, Shards
from harness.reference.archives import is_half, leaves, positional_inputs
from harness.reference.choices import Choices, use_topk
from harness.reference.deviations import MOST_DRAWS, largest_error, rounding_of, widened
from harness.reference.draws import Draws
from harness.reference.gradients import names_of_parameters
from harness.reference.graphs import autocast, own_module, widened_module
from harness.reference.loss_units import redefined
from harness.reference.stacked import Stacks
from harness.tensors import Tensors

Parameters = list[torch.nn.Parameter]
DTYPES = {"float64": torch.float64, "float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
STATES = ("exp_avg", "exp_avg_sq", "momentum_buffer")
OPTIMIZERS: dict[str, Callable[..., torch.optim.Optimizer]] = {
    "sgd": torch.optim.SGD,
    "adam": torch.optim.Adam,
    "adamw": torch.optim.AdamW,
}


@dataclass(frozen=True)
class Settings:
    """How a model is trained, and what is compared of it."""

    optimizer: str = "sgd"
    numbers: Mapping[str, float] = field(default_factory=lambda: {"lr": 0.1})  # of the optimizer
    seed: int = 0  # of random operators
    loss: str = "loss"  # name of the output
    per: str | None = None  # the unit of a loss that the plan redefines
    loss_scale: float = 1.0
    clip: float = 0
    microbatches: int = 1  # calls of the model in a step, of whose losses the mean is taken
    compute: str | None = None  # dtype of autocast
    master: str | None = None  # dtype of copies of narrower parameters
    states: str | None = None  # dtype of the optimizer's states
    gather: str | None = None  # dtype that parameters are rounded to for the model
    frozen: Sequence[str] = ()  # modules and parameters
    parameters: bool = False  # these are compared too


def optimizer_options(numbers: Mapping[str, float]) -> dict[str, object]:
    """Numbers of a plan as torch.optim takes them."""
    options: dict[str, object] = dict(numbers)
    if "beta1" in numbers:
        options["betas"] = (options.pop("beta1"), options.pop("beta2"))
    if "nesterov" in numbers:
        options["nesterov"] = bool(options["nesterov"])
    return options


class Training:
    """One model in training, in its own precision or in float64."""

    def __init__(
        self,
        module: torch.nn.Module,
        names: dict[str, list[str]],
        settings: Settings,
        draws: Draws | None = None,
        compute: str | None = None,
        buffers: Sequence[str] = (),
    ) -> None:
        """`draws` are those of the module, whose step is 0; `compute` is the dtype of autocast; the model updates
        `buffers`."""
        self.buffers = buffers
        self.module, self.names, self.settings, self.draws = module, names, settings, draws or Draws(step=0)
        self.compute = compute
        named = dict(module.named_parameters(remove_duplicate=False))
        self.tied = {
            first: list({id(named[name]): named[name] for name in group}.values()) for first, group in names.items()
        }
        for group in self.tied.values():
            if any(is_frozen(name, settings.frozen) for name in names_of(group, named)):
                for parameter in group:
                    parameter.requires_grad_(False)
        self.own: Parameters = [group[0] for group in self.tied.values() if group[0].requires_grad]
        # What the optimizer changes: the parameters, or their copies.
        self.held: Parameters = self.own
        if settings.master or settings.gather:
            self.held = [torch.nn.Parameter(copied(parameter.detach(), settings.master)) for parameter in self.own]
            self.hand_out()
        self.optimizer = OPTIMIZERS[settings.optimizer](self.held, **optimizer_options(settings.numbers))

    def loss(self, inputs: Tensors, positional: Sequence[str]) -> torch.Tensor:
        named = {name: tensor for name, tensor in inputs.items() if name not in positional}
        return self.loss_of(dict(leaves(self.module(*(inputs[name] for name in positional), **named))), inputs).sum()

    def step(self, inputs: Tensors, positional: Sequence[str]) -> float:
        self.draws.step += 1
        for group in self.tied.values():
            for parameter in group:
                parameter.grad = None
        mean = 0.0
        parts = microbatches(inputs, self.settings.microbatches)
        for self.draws.microbatch, part in enumerate(parts):
            with autocast(self.compute):
                loss = self.loss(part, positional)
            (loss * (self.settings.loss_scale / len(parts))).backward()
            mean += loss.item() / len(parts)
        for group in self.tied.values():
            # Tied ones that are several parameters to PyTorch share their elements, and are trained as one.
            for other in group[1:]:
                if other.grad is not None:
                    group[0].grad = other.grad if group[0].grad is None else group[0].grad + other.grad
        for held, own in zip(self.held, self.own, strict=True):
            held.grad = None if own.grad is None else own.grad.to(held.dtype) / self.settings.loss_scale
        if self.settings.clip:
            torch.nn.utils.clip_grad_norm_(self.held, self.settings.clip)
        self.optimizer.step()
        self.hand_out()
        return mean

    @torch.no_grad()
    def hand_out(self) -> None:
        """The model gets what the optimizer changes, in the dtype in which ranks gather it."""
        for held, own in zip(self.held, self.own, strict=True):
            own.copy_(held.to(DTYPES[self.settings.gather]) if self.settings.gather else held)
        for group in self.tied.values():
            for other in group[1:]:
                if other.data_ptr() != group[0].data_ptr():
                    other.copy_(group[0])

    def loss_of(self, outputs: Tensors, inputs: Tensors) -> torch.Tensor:
        """The model's own, or what the plan makes of it."""
        if self.settings.per:
            return redefined(outputs, inputs["labels"], self.settings.per)
        return outputs[self.settings.loss]

    def trained(self) -> Tensors:
        """What the optimizer changes, and what is frozen, by first names, and the buffers that the model updates."""
        held = {id(own): held.detach() for own, held in zip(self.own, self.held, strict=True)}
        trained = {first: held.get(id(group[0]), group[0].detach()) for first, group in self.tied.items()}
        buffers = {name: self.module.get_buffer(name) for name in self.buffers}
        return trained | {name: each if each.is_floating_point() else each.double() for name, each in buffers.items()}


def microbatches(inputs: Tensors, count: int) -> list[Tensors]:
    """As many parts of all inputs along their first dim, where they have samples."""
    parts = {name: tensor.chunk(count) if tensor.dim() else [tensor] * count for name, tensor in inputs.items()}
    return [{name: tensors[number] for name, tensors in parts.items()} for number in range(count)]


def names_of(group: Parameters, named: dict[str, torch.nn.Parameter]) -> list[str]:
    return [name for name, parameter in named.items() if any(parameter is member for member in group)]


def is_frozen(name: str, modules: Sequence[str]) -> bool:
    return any(name == module or name.startswith(f"{module}.") for module in modules)


def copied(parameter: torch.Tensor, master: str | None) -> torch.Tensor:
    """A copy in the dtype of copies; what is wider, as in the run in float64, stays."""
    dtype = torch.promote_types(parameter.dtype, DTYPES[master]) if master else parameter.dtype
    return parameter.to(dtype, copy=True)


class Reference:
    """What PyTorch makes of one training, and the errors of its own precision in that one and in others."""

    def __init__(
        self,
        make: Callable[[bool], Training],
        names: dict[str, list[str]],
        batches: list[Tensors],
        positional: Sequence[str],
        half: bool,
        choices: Choices | None = None,
    ) -> None:
        """`make` begins a training, in float64 if asked to, which takes what the other has chosen. `names` are all
        names of each parameter, by the first."""
        self.make, self.names, self.batches, self.positional, self.half = make, names, batches, positional, half
        self.choices = choices or Choices(half)
        self.loss_errors: list[float] = []
        self.errors: dict[str, float] = {}
        self.draws = 0
        self.losses, self.exact = self.add_draw()

    def add_draw(self) -> tuple[list[float], Tensors]:
        """Trains again, on inputs of this draw; the losses and what is trained, in float64."""
        own, exact = self.make(False), self.make(True)
        losses = []
        for number, batch in enumerate(self.batches):
            inputs = self.inputs_of(batch)
            self.choices.begin_own()
            narrow = own.step(inputs, self.positional)
            self.choices.begin_again()
            wide = exact.step(widened(inputs), self.positional)
            losses.append(wide)
            if number == len(self.loss_errors):
                self.loss_errors.append(0.0)
            self.loss_errors[number] = max(self.loss_errors[number], abs(narrow - wide))
        trained, wanted = own.trained(), exact.trained()
        for name, tensor in wanted.items():
            error = max(largest_error(trained[name], tensor), rounding_of(trained[name]))
            self.errors[name] = max(self.errors.get(name, 0.0), error)
        self.draws += 1
        return losses, wanted

    def inputs_of(self, batch: Tensors) -> Tensors:
        """Those of the draw that is made: rotated, so that their kind stays."""
        return {name: tensor.roll(self.draws, -1) for name, tensor in batch.items()}

    def loss_bound(self, number: int) -> float:
        if self.half:
            return 1.5 * self.loss_errors[number]
        return max(4 * self.loss_errors[number], 1e-5 * abs(self.losses[number]))

    def bound(self, name: str) -> float:
        if self.half:
            return 1.5 * self.errors[name]
        magnitude = max(tensor.abs().max().item() for tensor in self.exact.values() if tensor.numel())
        return max(4 * self.errors[name], 1e-6 * magnitude)

    def share(self, error: float, bound: Callable[[], float]) -> float:
        """The error as a share of what is allowed, where PyTorch trains again as long as a draw is beyond that."""
        while self.half and self.draws < MOST_DRAWS and not error <= bound():
            self.add_draw()
        if not math.isfinite(error) or not math.isfinite(bound()):
            return math.inf
        return error / bound() if bound() > 0 else math.inf if error > 0 else 0.0


def compare_losses(ours: Tensors, reference: Reference, loss: str) -> bool:
    right = True
    for number, wide in enumerate(reference.losses):
        error = abs(ours[f"step{number}.{loss}"].item() - wide)
        fine = reference.share(error, lambda number=number: reference.loss_bound(number)) <= 1
        right &= fine
        bound = reference.loss_bound(number)
        print(f"step {number}: loss {wide:.6f}, error {error:.2e}, bound {bound:.2e}: {'ok' if fine else 'WRONG'}")
    return right


def own_name(names: Sequence[str], ours: Tensors) -> str:
    """The one of a parameter's names that it goes by."""
    return next(name for name in names if name in ours)


def held_as(names: Sequence[str], ours: Tensors) -> torch.Tensor:
    """A parameter by one of its names, or the copy that is trained instead."""
    name = own_name(names, ours)
    return ours.get(f"{name}.master", ours[name])


def worst_parameter(ours: Tensors, reference: Reference) -> tuple[str, float]:
    """The name of the parameter with the largest error as a share of what is allowed, and that share."""
    shares = {}
    for name, wide in reference.exact.items():
        error = largest_error(held_as(reference.names[name], ours), wide)
        shares[name] = reference.share(error, lambda name=name: reference.bound(name))
    worst = max(shares, key=lambda name: shares[name])
    return worst, shares[worst]


def compare_parameters(ours: Tensors, reference: Reference) -> bool:
    worst, share = worst_parameter(ours, reference)
    print(f"parameters: {worst} has {share:.2f} of what is allowed: {'ok' if share <= 1 else 'WRONG'}")
    return share <= 1


def check_copies(ours: Tensors, names: dict[str, list[str]], frozen: Sequence[str], dtype: torch.dtype) -> bool:
    """Each is trained in this dtype, and each parameter is its copy, rounded."""
    for group in names.values():
        name, held = own_name(group, ours), held_as(group, ours)
        if held.dtype != dtype and not is_frozen(name, frozen):
            print(f"parameters: {name} is trained in {held.dtype}, not {dtype}: WRONG")
            return False
        if not torch.equal(held.to(ours[name].dtype), ours[name]):
            print(f"parameters: {name} is not its copy, rounded: WRONG")
            return False
    return True


def check_states(ours: Tensors, names: dict[str, list[str]], frozen: Sequence[str], dtype: torch.dtype) -> bool:
    """Each parameter that is trained has states, in this dtype."""
    for group in names.values():
        name = own_name(group, ours)
        if is_frozen(name, frozen):
            continue
        found = {ours[f"{name}.{state}"].dtype for state in STATES if f"{name}.{state}" in ours}
        if found != {dtype}:
            print(f"states: those of {name} are in {sorted(map(str, found))}, not {dtype}: WRONG")
            return False
    return True


def updated_buffers(program: torch.export.ExportedProgram) -> list[str]:
    specs = program.graph_signature.output_specs
    return [spec.target for spec in specs if spec.kind == OutputKind.BUFFER_MUTATION and spec.target is not None]


def references_of(
    program: torch.export.ExportedProgram, settings: Settings, batches: list[Tensors]
) -> References[Reference]:
    """What PyTorch makes of these batches, one step for each."""
    names = names_of_parameters(program)
    buffers = updated_buffers(program)
    half = is_half(program) or settings.compute is not None

    def reference(shards: Shards | None) -> Reference:
        choices = Choices(half)

        def make(exact: bool) -> Training:
            # A module of its own, as it is in the archive.
            again, draws = copy.deepcopy(program), Draws(settings.seed, step=0)
            module = widened_module(again, draws) if exact else own_module(again, draws, shards)
            use_topk(module, choices.replay if exact else choices.record)
            return Training(module, names, settings, draws, None if exact else settings.compute, buffers)

        named = names | {name: [name] for name in buffers}
        return Reference(make, named, batches, positional_inputs(program), half, choices)

    return References(half, reference)


def reference_of(program: torch.export.ExportedProgram, settings: Settings, batches: list[Tensors]) -> Reference:
    """The same under plans that send no sums in 16 bits."""
    return references_of(program, settings, batches).make(None)


def compare(ours: Tensors, reference: Reference, settings: Settings) -> bool:
    """Prints the verdicts of one result; false if something in it is wrong."""
    ours = Stacks(name for group in reference.names.values() for name in group).unstacked(ours)
    right = compare_losses(ours, reference, settings.loss)
    right &= reference.choices.compare()
    if settings.parameters:
        right &= compare_parameters(ours, reference)
    if settings.master:
        right &= check_copies(ours, reference.names, settings.frozen, DTYPES[settings.master])
    if settings.states:
        right &= check_states(ours, reference.names, settings.frozen, DTYPES[settings.states])
    return right
