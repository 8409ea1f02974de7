"""Tests of the verdicts of reference/forward.py."""

from __future__ import annotations

import contextlib
import io
import math
import tempfile
import unittest
from pathlib import Path

import torch

from harness.reference.archives import load_program
from harness.reference.deviations import MOST_DRAWS, Deviation
from harness.reference.forward import DRAWS, Reference
from harness.reference.graphs import own_module, widened_module
from harness.tensors import Tensors


class Outputs(torch.nn.Module):
    """Floats with small and large errors, zeros that PyTorch computes exactly, and integers that are large."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 3)

    def forward(self, x: torch.Tensor) -> Tensors:
        floats = self.linear(x)
        return {"floats": floats, "rough": floats + 1000 - 1000, "zeros": x - x, "counts": torch.arange(4) * 10**7}


class Weighted(torch.nn.Module):
    """A single number, and several, of a 16-bit model."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = torch.nn.Parameter(torch.arange(64) / 64)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        scaled = x * self.scale
        return scaled.sum(), scaled.exp(), scaled.argmax()


def reference_of(module: torch.nn.Module, inputs: Tensors) -> Reference:
    with tempfile.TemporaryDirectory() as folder:
        torch.export.save(torch.export.export(module.eval(), (), inputs), Path(folder) / "m.pt2")
        return Reference(load_program(Path(folder) / "m.pt2"), inputs)


class Positional(unittest.TestCase):
    def test_inputs_that_were_exported_without_names(self) -> None:
        inputs = {"x": torch.randn(2, 4)}
        with tempfile.TemporaryDirectory() as folder:
            torch.export.save(torch.export.export(Outputs().eval(), (inputs["x"],)), Path(folder) / "m.pt2")
            self.assertEqual(Reference(load_program(Path(folder) / "m.pt2"), inputs).own["floats"].shape, (2, 3))


class Verdicts(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        torch.manual_seed(0)
        cls.module, cls.inputs = Outputs(), {"x": torch.randn(2, 4)}
        cls.reference = reference_of(cls.module, cls.inputs)

    def outputs(self, **changes: torch.Tensor) -> Tensors:
        with torch.no_grad():
            return {**self.module(**self.inputs), **changes}

    def check(self, outputs: Tensors, right: bool, said: str = "") -> None:
        with contextlib.redirect_stdout(io.StringIO()) as text:
            self.assertEqual(self.reference.compare(outputs, "run"), right)
        self.assertEqual(self.reference.share(outputs) <= 1, right)
        self.assertIn(said, text.getvalue())

    def test_pytorch_itself_is_right(self) -> None:
        self.check(self.outputs(), True, "run: zeros: error 0.000e+00, PyTorch 0.000e+00, bound 0.000e+00: ok")

    def test_no_number_is_wrong_even_where_nothing_is_allowed(self) -> None:
        for value in (math.nan, math.inf):
            self.check(self.outputs(zeros=torch.full((2, 4), value)), False, "zeros: error")
            self.check(self.outputs(floats=torch.full((2, 3), value)), False, "floats: error")

    def test_other_outputs_are_wrong(self) -> None:
        floats = self.outputs()["floats"]
        turned = floats.reshape(3, 2)
        self.check(
            self.outputs(floats=turned), False, "floats is torch.float32 [3, 2], in PyTorch torch.float32 [2, 3]"
        )
        self.check(self.outputs(floats=floats[:1]), False, "floats is torch.float32 [1, 3]")
        self.check(self.outputs(floats=floats.double()), False, "floats is torch.float64")
        self.check(self.outputs(extra=floats), False, "extra is not an output of the model")
        self.check({name: self.outputs()[name] for name in ("rough", "zeros", "counts")}, False, "floats is missing")
        self.check({}, False, "floats is missing")

    def test_integers_are_exact(self) -> None:
        self.check(self.outputs(counts=self.outputs()["counts"] + 1), False, "counts: error 1.000e+00")

    def test_float32_may_err_by_a_millionth_or_four_times_as_much_as_pytorch(self) -> None:
        for name, within in (("floats", "a millionth"), ("rough", "four times")):
            exact = self.reference.wide[name]
            own = (self.outputs()[name].double() - exact).abs().max().item()
            bounds = {"a millionth": 1e-6 * exact.abs().max().item(), "four times": 4 * own}
            bound = bounds[within]
            self.assertEqual(bound, max(bounds.values()))
            self.check(self.outputs(**{name: (exact + 0.8 * bound).float()}), True)
            self.check(self.outputs(**{name: (exact + 1.2 * bound).float()}), False)


class Autocast(unittest.TestCase):
    def test_pytorchs_own_run_is_in_the_dtype_and_the_exact_one_is_not(self) -> None:
        torch.manual_seed(0)
        inputs = {"x": torch.randn(2, 4)}
        with tempfile.TemporaryDirectory() as folder:
            torch.export.save(torch.export.export(Outputs().eval(), (), inputs), Path(folder) / "m.pt2")
            program = load_program(Path(folder) / "m.pt2")
        plain, narrow = Reference(program, inputs), Reference(program, inputs, "bfloat16")
        self.assertEqual((narrow.own["floats"].dtype, narrow.wide["floats"].dtype), (torch.bfloat16, torch.float64))
        self.assertTrue(torch.equal(narrow.wide["floats"], plain.wide["floats"]))
        self.assertTrue(narrow.half)
        self.assertGreater(narrow.own_errors["floats"], 100 * plain.own_errors["floats"])


class Deviations(unittest.TestCase):
    def test_shares(self) -> None:
        self.assertEqual(Deviation(1, 1, 4).share, 0.25)
        self.assertEqual(Deviation(0, 0, 0).share, 0)
        self.assertEqual(Deviation(1e-9, 0, 0).share, math.inf)
        # PyTorch's own run is NaN: there is no verdict.
        self.assertEqual(Deviation(1, math.inf, math.inf).share, math.inf)
        self.assertEqual(Deviation(0, math.nan, math.nan).share, math.inf)


class Viewed(torch.nn.Module):
    """A view of what a kernel may lay out otherwise in float64."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.ops.aten.view.default(x.contiguous(), [2, -1])


class Widened(unittest.TestCase):
    def test_a_view_does_not_depend_on_how_elements_lie(self) -> None:
        program = torch.export.export(Viewed().eval(), (torch.randn(2, 3, 4),))
        for module in (own_module(program), widened_module(program)):
            targets = {node.target for node in module.graph.nodes if node.op == "call_function"}
            self.assertIn(torch.ops.aten.reshape.default, targets)
            self.assertNotIn(torch.ops.aten.view.default, targets)

    def test_weights_of_convolutions_of_volumes_have_gradients(self) -> None:
        """Some elements of PyTorch's own are what was in memory before; that is so in most runs, if not in all."""
        torch.manual_seed(0)
        layer = torch.nn.Conv3d(16, 16, (2, 3, 3), padding="same", bias=False).bfloat16()
        images = torch.randn(3, 16, 2, 2, 1, dtype=torch.bfloat16)
        program = torch.export.export(layer, (images,))
        gradients = []
        for module in (own_module(program), widened_module(program)):
            exact = next(module.parameters()).dtype == torch.float64
            torch.full((16, 16, 2, 3, 3), math.nan, dtype=torch.bfloat16)
            module(images.double() if exact else images).sum().backward()
            gradients.append(next(module.parameters()).grad.double())
        torch.testing.assert_close(*gradients, rtol=2**-7, atol=1e-3)

    def test_the_program_keeps_its_own_types(self) -> None:
        program = torch.export.export(torch.nn.Linear(2, 3).eval(), (torch.randn(4, 2),))
        self.assertEqual({parameter.dtype for parameter in widened_module(program).parameters()}, {torch.float64})
        self.assertEqual({parameter.dtype for parameter in program.parameters()}, {torch.float32})


class Halves(unittest.TestCase):
    def test_only_a_single_number_gets_more_draws(self) -> None:
        torch.manual_seed(3)
        module, inputs = Weighted().bfloat16(), {"x": torch.randn(1, 64).bfloat16()}
        reference = reference_of(module, inputs)
        draws = []
        for shift in range(DRAWS):
            rotated = inputs["x"].roll(shift, -1)
            with torch.no_grad():
                pairs = zip(module(rotated), Weighted()(rotated.double()), strict=True)
                draws.append([(own.double() - exact).abs().max().item() for own, exact in pairs])
        sums, exponentials, _ = zip(*draws, strict=True)
        self.assertGreater(max(sums), sums[0])
        self.assertEqual(reference.own_errors, {"0": max(sums), "1": exponentials[0], "2": 0})
        bounds = [reference.deviation(name, reference.wide[name]).bound for name in "012"]
        self.assertEqual(bounds, [1.5 * max(sums), 1.5 * exponentials[0], 0])

    def test_draws_are_made_for_as_long_as_an_error_is_too_large(self) -> None:
        torch.manual_seed(3)
        reference = reference_of(Weighted().bfloat16(), {"x": torch.randn(1, 64).bfloat16()})
        exact = reference.wide["0"]
        self.assertLessEqual(reference.deviation("0", exact).share, 1)
        self.assertEqual(reference.draws, DRAWS)
        reference.own_errors["0"] = 0.0  # as if PyTorch had been lucky in all of them
        self.assertLessEqual(reference.deviation("0", exact + 1e-9).share, 1)
        self.assertEqual(reference.draws, DRAWS + 1)
        self.assertGreater(reference.deviation("0", exact + 100).share, 1)
        self.assertEqual(reference.draws, MOST_DRAWS)

    def test_every_float_is_a_draw_where_addends_are_rounded(self) -> None:
        layers = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Linear(8, 8)).bfloat16()
        inputs = {"input": torch.randn(4, 8).bfloat16()}
        with tempfile.TemporaryDirectory() as folder:
            torch.export.save(torch.export.export(layers.eval(), (), inputs), Path(folder) / "m.pt2")
            program = load_program(Path(folder) / "m.pt2")
        self.assertEqual(Reference(program, inputs).drawn, [])
        self.assertEqual(Reference(program, inputs, shards={"1.weight": [1, 2]}).drawn, ["0"])

    def test_runs_without_numbers_leave_nothing_to_compare_with(self) -> None:
        x = torch.ones(1, 64, dtype=torch.bfloat16)
        x[0, 5] = math.inf
        reference = reference_of(Weighted().bfloat16(), {"x": x})
        self.assertEqual(reference.deviation("0", torch.tensor(1.0)).share, math.inf)

    def test_what_is_rounded_once_is_right(self) -> None:
        x = torch.linspace(-1, 1, 64, dtype=torch.bfloat16).unsqueeze(0)
        reference = reference_of(Weighted().bfloat16(), {"x": x})
        exact = reference.wide["1"]
        reference.own_errors["1"] = 0.0  # as if PyTorch had been lucky
        rounded = exact.to(torch.bfloat16)
        self.assertEqual(reference.deviation("1", rounded).share, 0)
        off = rounded.clone()
        off[0, 3] = torch.nextafter(off[0, 3], torch.tensor(9.0, dtype=torch.bfloat16))
        self.assertEqual(reference.deviation("1", off).share, math.inf)

    def test_changed_weights_are_the_same_in_both_precisions(self) -> None:
        model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Linear(8, 8, bias=False)).bfloat16()
        model[1].weight = model[0].weight
        inputs = {"input": torch.randn(4, 8, dtype=torch.bfloat16)}
        reference = reference_of(model, inputs)
        before = reference.wide["0"]
        reference.change_weights(lambda parameter: parameter.flip(0))
        own, exact = reference.add_draw(inputs)
        self.assertGreater((exact["0"] - before).abs().max().item(), 0.1)
        self.assertLess((own["0"].double() - exact["0"]).abs().max().item(), 0.05)

    def test_draws_without_numbers_are_left_out(self) -> None:
        inputs = {"input": torch.randn(16, 8, dtype=torch.bfloat16)}
        reference = reference_of(torch.nn.Linear(8, 8).bfloat16(), inputs)
        before = reference.own_errors["0"]
        reference.add_draw({"input": inputs["input"] * math.inf})
        self.assertEqual(reference.own_errors["0"], before)

    def test_draws_whose_matrices_have_no_factors_are_left_out(self) -> None:
        class Factors(torch.nn.Module):
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                return torch.linalg.cholesky(x)

        reference = reference_of(Factors(), {"x": torch.eye(3)})
        reference.add_other_draw({"x": -torch.eye(3)})
        self.assertEqual(reference.own_errors, {"0": 0.0})

    def test_a_model_that_returns_one_tensor(self) -> None:
        reference = reference_of(torch.nn.Linear(2, 2).bfloat16(), {"input": torch.ones(2, dtype=torch.bfloat16)})
        self.assertEqual(list(reference.own), ["0"])
