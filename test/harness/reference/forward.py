"""What PyTorch makes of a forward run, and how far outputs may be from it.

The reference is the exported graph in float64: parameters, constants and every conversion to a narrower float are
widened, so that no step rounds to less. An output is right if its largest error is at most max(4 x the largest error of
PyTorch's own run, 1e-6 x the largest magnitude of the output); of a model with 16-bit parameters, 1.5 x the largest
error of PyTorch's own run. The error of one number, such as a loss, is one draw of a distribution around 0: of a 16-bit
model it is the largest of PyTorch's runs on the inputs and seven rotations of them, and up to 31 where an error is
beyond that. So is that of every output where products are made in addends that are rounded (reference/addends.py):
nothing is rounded as on one device, and the largest error of a tensor varies by a factor of two from run to run.
Integers and truth values have no magnitude: where PyTorch's own run is exact, so must ours be. With `--compute`
PyTorch's own run is under torch.autocast in that dtype, and the model counts as one of 16 bits. Prints a line for each
output of each run; status 1 if one is wrong, missing or too many, has another dtype or shape than in PyTorch, or is not
finite.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Sequence

import torch

from harness.reference.addends import Shards
from harness.reference.archives import is_half, on_device, positional_inputs
from harness.reference.deviations import MOST_DRAWS, Deviation, error_of_others, largest_error, mismatch, widened
from harness.reference.graphs import own_module, run, run_on_device, widened_module
from harness.tensors import Tensors

DRAWS = 8  # of the error of a single number


class Reference:
    """What PyTorch computes from an archive, in its own precision and in float64."""

    def __init__(
        self,
        program: torch.export.ExportedProgram,
        inputs: Tensors,
        compute: str | None = None,
        shards: Shards | None = None,
        device: str = "cpu",
    ) -> None:
        """PyTorch's own runs are on `device`, without autocast where that is not the CPU."""
        self.half, self.compute, self.device = is_half(program) or compute is not None, compute, device
        self.narrow, self.exact = own_module(on_device(program, device), shards=shards), widened_module(program)
        self.positional = positional_inputs(program)
        self.own_errors: dict[str, float] = {}
        self.own, self.wide = self.add_draw(inputs)
        floats = [name for name, own in self.own.items() if own.is_floating_point()]
        self.inputs, self.draws = inputs, 1
        self.drawn = [name for name in floats if self.half and (shards or self.own[name].numel() == 1)]
        while self.drawn and self.draws < DRAWS:
            self.add_rotation()

    def add_draw(self, inputs: Tensors, names: Sequence[str] = ()) -> tuple[Tensors, Tensors]:
        """Takes the errors of PyTorch's own run on other inputs into account, those of the outputs named or of all.

        Returns that run, and the one in float64.
        """
        exact = run(self.exact, widened(inputs), self.positional)
        if self.device == "cpu":
            own = run(self.narrow, inputs, self.positional, self.compute)
        else:
            own = run_on_device(self.narrow, self.device, inputs, self.positional)
        for name in names or exact:
            error = largest_error(own[name], exact[name])
            if name not in self.own_errors:
                self.own_errors[name] = error
            elif math.isfinite(error):  # another draw without numbers tells nothing of errors
                self.own_errors[name] = max(self.own_errors[name], error)
        return own, exact

    def add_other_draw(self, inputs: Tensors, names: Sequence[str] = ()) -> None:
        """The same; matrices of other inputs may have no factors, and then tell nothing."""
        with contextlib.suppress(torch.linalg.LinAlgError):
            self.add_draw(inputs, names)

    def add_rotation(self) -> None:
        """The same on the inputs, rotated, for what is a draw."""
        self.add_other_draw({name: tensor.roll(self.draws, -1) for name, tensor in self.inputs.items()}, self.drawn)
        self.draws += 1

    @torch.no_grad()
    def change_weights(self, change: Callable[[torch.Tensor], torch.Tensor]) -> None:
        """Gives every parameter what `change` makes of it, for further draws of another model of the same kind."""
        narrow = dict(self.narrow.named_parameters(remove_duplicate=False))
        # Tied ones may share their elements and be two tensors to PyTorch.
        for parameter in {parameter.data_ptr(): parameter for parameter in narrow.values()}.values():
            parameter.copy_(change(parameter))
        for name, parameter in self.exact.named_parameters(remove_duplicate=False):
            parameter.copy_(narrow[name])

    def mismatch(self, ours: Tensors) -> str | None:
        """What makes the outputs of a run others than those of PyTorch, whatever their values."""
        if found := mismatch(ours, self.own):
            return found
        return next((f"{name} is not an output of the model" for name in ours if name not in self.own), None)

    def deviation(self, name: str, ours: torch.Tensor) -> Deviation:
        """PyTorch runs for as long as an error is too large for the draws that were made."""
        found = self.deviation_of_draws(name, ours)
        while name in self.drawn and self.draws < MOST_DRAWS and not found.share <= 1:
            self.add_rotation()
            found = self.deviation_of_draws(name, ours)
        return found

    def deviation_of_draws(self, name: str, ours: torch.Tensor) -> Deviation:
        wide, own = self.wide[name], self.own_errors[name]
        # Numbers that are not rounded have no magnitude to be rounded to.
        magnitude = wide.abs().max().item() if wide.is_floating_point() and wide.numel() else 0.0
        error, bound = largest_error(ours, wide), 1.5 * own if self.half else max(4 * own, 1e-6 * magnitude)
        return Deviation(error_of_others(ours, wide) if self.half and error > bound else error, own, bound)

    def share(self, ours: Tensors) -> float:
        """The largest error as a share of what is allowed; infinite if the outputs do not compare."""
        if self.mismatch(ours):
            return math.inf
        return max((self.deviation(name, tensor).share for name, tensor in ours.items()), default=math.inf)

    def compare(self, ours: Tensors, label: str) -> bool:
        """Prints the verdicts of one run; false if an output is wrong or missing."""
        if mismatch := self.mismatch(ours):
            print(f"{label}: {mismatch}: WRONG")
            return False
        for name, tensor in ours.items():
            found = self.deviation(name, tensor)
            verdict = "ok" if found.share <= 1 else "WRONG"
            print(
                f"{label}: {name}: error {found.error:.3e}, PyTorch {found.own:.3e}, bound {found.bound:.3e}: {verdict}"
            )
        return self.share(ours) <= 1
