"""Tests of the differential test: draws repeat, cases survive a file, failures get smaller, statements are counted."""

from __future__ import annotations

import contextlib
import dataclasses
import random
import subprocess
import tempfile
import unittest
import unittest.mock
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from harness import command
from harness.differential import own_runs, run_case
from harness.differential.case import Case, Entry, Step, read_case
from harness.differential.case_process import CaseProcess
from harness.differential.choices import Choices
from harness.differential.coverage import LEAST, WANTED, Coverage, column_of
from harness.differential.draw import PLANS, draw_case, without_ties
from harness.differential.elsewhere import own_result, result_of, write_case
from harness.differential.models.attention import Attention
from harness.differential.models.fans import arranged
from harness.differential.models.layers import STEPS
from harness.differential.models.made_weights import FORMS, fan_faults, init_items, layout_faults, made_layers
from harness.differential.models.model import make_inputs, make_model
from harness.differential.operators.functions import integers
from harness.differential.operators.vocabulary import selected
from harness.differential.operators.whole_dims import with_majority
from harness.differential.plans.plan_text import BRACES, FLAT, NESTED, OVERRIDES, plan_text
from harness.differential.refusals import reason_of
from harness.differential.shrink import shrink
from harness.differential.unreached import REASONS
from harness.differential.unreached import reason_of as unreached_because


class CaseProcessTest(unittest.TestCase):
    def says(self, script: str, seconds: float = 20) -> list[str]:
        """Of three runs of a program that is this script."""
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder, "run-cases")
            program.write_text(f"#!/bin/sh\n{script}\n")
            program.chmod(0o755)
            process = CaseProcess(str(program), Path(folder, "errors"))
            said = [process.run([Path("a b.sched"), Path("w")], seconds) for _ in range(3)]
            if process.process:
                process.process.kill()
                process.process.communicate()
            return said

    def test_one_process_runs_several_cases(self) -> None:
        self.assertEqual(self.says("for case in 1 2 3; do read line; echo ok; done"), ["", "", ""])
        self.assertEqual(
            self.says(r"""IFS= read -r line; printf 'error: <%s>\n' "$line" """),
            ["run-cases: error: <forward\ta b.sched\tw>"] * 3,
        )

    def test_another_one_runs_what_follows_a_failure(self) -> None:
        self.assertEqual(
            self.says("read line; echo ok; read line; echo 'error: no such file'; exec sleep 60"),
            ["", "run-cases: error: no such file", ""],
        )
        self.assertEqual(self.says("read line; echo why >&2; exit 3"), ["run-cases: ends with 3: why\n"] * 3)
        self.assertEqual(self.says("exec sleep 60", 0.2), ["run-cases: hangs"] * 3)


class ElsewhereTest(unittest.TestCase):
    def test_cases_are_written_run_and_taken(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder, results = Path(name), Path(name, "results")
            for ending in ("sched", "weights", "inputs", "batch0", "batch1"):
                (folder / f"base.{ending}").write_text(ending)
            write_case(folder / "written", 7, folder / "base")
            write_case(folder / "written", 8, folder / "base", ["--set", "seed=3"], 2)
            write_case(folder / "written", 9, folder / "base", [], 1)
            programs = {
                "run-cases": "read -r program s w i result; cat $s $w $i >$result; echo ok",
                "run-steps": """[ "$1" = --set ] || exit 3; shift 2; cat "$1" "$2" "$4" "$5" >"$3" """,
            }
            for program, script in programs.items():
                (folder / program).write_text(f"#!/bin/sh\n{script}\n")
                (folder / program).chmod(0o755)
            options = [f"--{program}={folder / program}" for program in programs]
            ended = subprocess.run(
                command("elsewhere", folder / "written", f"--results={results}", *options),
                capture_output=True,
                text=True,
            )
            self.assertEqual(ended.stdout, "3 cases: 1 have no result\ncase9: run-steps ends with 3: \n")
            self.assertEqual((results / "case7.result").read_text(), "schedweightsinputs")
            self.assertIsNone(own_result(results, 7))
            self.assertEqual((results / "case8.result").read_text(), "schedweightsbatch0batch1")
            self.assertEqual(result_of(results, 8), (results / "case8.result", ""))
            self.assertEqual(result_of(results, 9), (None, "run-steps ends with 3: "))
            self.assertEqual(result_of(results, 10), (None, "it was not run"))


class OwnRunsTest(unittest.TestCase):
    """PyTorch's own runs where a case is run, here on the CPU."""

    def test_their_errors_bound_those_of_the_case(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder, inputs = Path(name), {"input": torch.randn(6, 8, dtype=torch.bfloat16)}
            program = torch.export.export(torch.nn.Linear(8, 64).bfloat16(), (), inputs)
            torch.export.save(program, folder / "base.pt2")
            save_file(inputs, folder / "base.inputs")
            for ending in ("sched", "weights"):
                (folder / f"base.{ending}").touch()
            for seed, addends in ((7, 1), (8, 4)):
                write_case(folder, seed, folder / "base", model="model3.pt2", addends=addends)
            own_runs.run_all(sorted(folder.glob("case*.json")), folder, "cpu")
            reference = run_case.CaseReference(program, inputs)
            once, rounded = (load_file(own_result(folder, seed)) for seed in (7, 8))
            self.assertTrue(torch.equal(once["0"], reference.own["0"]))
            reference.take_errors(rounded)
            error = (rounded["0"].double() - reference.wide["0"]).abs().max().item()
            self.assertEqual(reference.deviation("0", once["0"]).own, error)
            self.assertFalse(torch.equal(once["0"], rounded["0"]), "addends that are rounded")


class DrawTest(unittest.TestCase):
    def test_what_one_device_chooses_has_no_equal_elements(self) -> None:
        ties = []

        def topk(scores: torch.Tensor, *_: object, **__: object) -> torch.return_types.topk:
            ties.append(any(len(set(row)) < len(row) for row in scores.flatten(0, -2).tolist()))
            return torch.topk(scores, 1)

        x = torch.arange(24.0).view(2, 3, 4).remainder(3)
        with unittest.mock.patch.object(torch.Tensor, "topk", topk):
            for distinct in (False, True):
                selected(x, x, Choices([0, 0, 1], distinct))
        self.assertEqual(ties, [True, False])
        for size in range(1, 9):
            repeated = with_majority(torch.randn(2, size), 1)
            self.assertTrue(torch.equal(repeated.mode(1).values, repeated[:, 0]))
            self.assertTrue(((repeated == repeated[:, :1]).sum(1) * 2 > size).all())
        case = without_ties(draw_case(7))
        self.assertTrue(all(step.distinct for block in case.blocks for step in block.steps))

    def test_a_number_draws_one_case(self) -> None:
        self.assertEqual(draw_case(7), draw_case(7))
        self.assertNotEqual(draw_case(7), draw_case(8))

    def test_pytorch_runs_what_is_drawn(self) -> None:
        for number in range(0, 60 * PLANS, PLANS):
            case = draw_case(number)
            with torch.no_grad():
                outputs = make_model(case)(**make_inputs(case))
            for name, tensor in outputs.items():
                self.assertTrue(torch.isfinite(tensor.double()).all(), f"case {number}, {name}")

    def test_a_case_survives_a_file(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "case.json")
            draw_case(3).write(path)
            self.assertEqual(read_case(path), draw_case(3))

    def test_every_step_is_drawn(self) -> None:
        drawn = {
            step.name for number in range(0, 1200, PLANS) for block in draw_case(number).blocks for step in block.steps
        }
        self.assertEqual(drawn, set(STEPS))

    def test_plans_of_one_model(self) -> None:
        cases = [draw_case(number) for number in range(8 * PLANS, 9 * PLANS)]
        self.assertTrue(all(case.model() == cases[0].model() for case in cases))
        self.assertGreater(len({str(case.entries) for case in cases}), 1)
        self.assertNotEqual(draw_case(9 * PLANS).model(), cases[0].model())

    def test_shapes_do_not_depend_on_the_dtype(self) -> None:
        generator = random.Random(5)
        for name, step in STEPS.items():
            for shape in ((3, 4, 6), (2, 3, 4, 6), (2, 3, 2, 4, 4)):
                numbers = [generator.randrange(1 << 16) for _ in range(12)]
                x = torch.rand(shape)
                shapes = {step(x.to(dtype), Choices(numbers)).shape for dtype in (torch.float32, torch.bfloat16)}
                self.assertEqual(len(shapes), 1, f"{name} of {shape} by {numbers}")

    def test_tied_projections_are_placed_once(self) -> None:
        tied = 0
        for number in range(0, 200 * PLANS, PLANS):
            case = draw_case(number)
            made = [Attention(block, case.sizes) for block in case.blocks if block.kind == "attention"]
            for attention in made:
                key = getattr(attention, "key", None)
                if key is not None and key.weight is attention.query.weight:
                    tied += 1
                    self.assertIsNone(key.bias, f"case {number}")
        self.assertGreater(tied, 0)


class RunnerTest(unittest.TestCase):
    """Of what the cases of one model share, with stand-ins for PyTorch and for the programs."""

    class Judge:
        """Judges as many cases as wrong at first as `worse` says."""

        worse = 0

        def __init__(self, *_: object, **__: object) -> None:
            self.own: dict[str, torch.Tensor] = {}

        def share(self, _: object) -> float:
            RunnerTest.Judge.worse -= 1
            return 2.0 if RunnerTest.Judge.worse >= 0 else 0.5

        def mismatch(self, _: object) -> None:
            return None

    def run_cases(self, numbers: list[int], worse: int = 0) -> int:
        """How many models were exported."""
        self.Judge.worse, exports = worse, []

        def export(case: Case, _: Path) -> run_case.Model:
            exports.append(case.seed)
            return run_case.Model(case.model(), torch.nn.Identity(), None, {})

        stand_ins = {"export": export, "write_plan": None, "compile_plan": None, "forward": None}
        stand_ins |= {"share_of": lambda *_: 0.5, "CaseReference": self.Judge}
        with contextlib.ExitStack() as stack:
            for name, stand_in in stand_ins.items():
                stack.enter_context(unittest.mock.patch.object(run_case, name, stand_in or (lambda *_: None)))
            runner = run_case.Runner(run_case.Programs("", "", "", Path()))
            for number in numbers:
                self.assertEqual(runner.run(draw_case(number)).kind, run_case.RIGHT)
        return len(exports)

    def test_ranks_have_the_one_thread_of_the_reference(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder, "meshplan-run")
            program.write_text("#!/bin/sh\nnproc >&2; exit 1\n")
            program.chmod(0o755)
            programs = run_case.Programs("", str(program), "", Path(folder))
            with self.assertRaisesRegex(run_case.CaseError, r"forward ends with 1: 1\n"):
                run_case.forward(programs, draw_case(0), Path(folder, "case"))

    def test_cases_of_one_model_export_it_once(self) -> None:
        self.assertEqual(self.run_cases(list(range(PLANS))), 1)
        self.assertEqual(self.run_cases([0, PLANS, 0]), 3)

    def test_a_model_whose_weights_were_turned_is_made_anew(self) -> None:
        self.assertEqual(self.run_cases([0, 1], worse=1), 2)


class Scaled(torch.nn.Module):
    """Five roundings of each element in 16 bits."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(features))

    def forward(self, start: torch.Tensor, mask: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return start * self.scale + start * self.scale.flip(0) + start * self.scale.roll(3)


class BoundTest(unittest.TestCase):
    def share(self, y: float) -> float:
        """Of 288, which PyTorch's run on the inputs happens to give exactly. Other inputs make numbers below 20."""
        drawn = next(case for case in map(draw_case, range(0, 100 * PLANS, PLANS)) if case.stem.kind == "hidden")
        drawn = dataclasses.replace(drawn, half=True)
        inputs = make_inputs(drawn)
        inputs["start"] = torch.full_like(inputs["start"], 96)
        program = torch.export.export(Scaled(drawn.sizes.features).bfloat16(), (), inputs)
        ours = torch.full_like(inputs["start"], y)
        return run_case.share_of(run_case.CaseReference(program, inputs), drawn, {"0": ours})

    def test_errors_are_held_against_those_of_numbers_as_large(self) -> None:
        self.assertEqual(self.share(288), 0)
        self.assertTrue(0.5 < self.share(290) <= 1, "rounded otherwise: by up to 0.25 three times, 0.5 and 1")
        self.assertGreater(self.share(292), 1)

    def test_what_lies_beside_a_number(self) -> None:
        ones = torch.ones(1000)
        found = run_case.beside(ones, torch.Generator().manual_seed(1))
        ends = [torch.nextafter(torch.tensor(1.0), torch.tensor(end)).item() for end in (0.0, 2.0)]
        self.assertEqual(set(found.tolist()), {1.0, *ends})
        integers = torch.arange(3)
        self.assertTrue(run_case.beside(integers, torch.Generator()) is integers)


class ShrinkTest(unittest.TestCase):
    def test_what_does_not_matter_goes(self) -> None:
        case = next(case for case in map(draw_case, range(100)) if len(case.blocks) > 3 and case.sizes.heads > 2)
        kept = case.blocks[-1].name

        def fails(candidate: Case) -> bool:
            return any(block.name == kept for block in candidate.blocks)

        smallest = shrink(case, fails, seconds=60)
        self.assertEqual([block.name for block in smallest.blocks], [kept])
        self.assertEqual((smallest.entries, smallest.outputs, smallest.blocks[0].steps), ([], {}, []))
        self.assertEqual((smallest.sizes.heads, smallest.ranks), (2, 1))


class MadeWeightsTest(unittest.TestCase):
    """Of weights that are computed from others: what each form states about itself, and what is held against it."""

    def test_every_form_is_drawn_and_makes_a_weight(self) -> None:
        drawn = set()
        for number in range(0, 60 * PLANS, PLANS):
            case = draw_case(number, only="made")
            for _, layer in made_layers(make_model(case)):
                drawn.add(layer.kind)
                tensors = {**dict(layer.named_parameters()), **dict(layer.named_buffers())}
                outputs, inputs = (case.sizes.features, case.sizes.inner)[:: -1 if layer.role == "wide" else 1]
                shape = (inputs, outputs) if layer.form.turned else (outputs, inputs)
                self.assertEqual(layer.form.make(tensors).shape, shape, layer.kind)
        self.assertEqual(drawn, set(FORMS))

    def test_wrong_features_are_told(self) -> None:
        case = draw_case(0, only="made")
        case.axes, model = [("tp", 2)], make_model(case)
        path, layer = next(made_layers(model))
        case.entries = [Entry(path, ["colwise tp"])]
        divided = layer.divided("output")

        def report(divided: dict[str, int]) -> dict:
            rows = []
            for position, each in made_layers(model):
                for name, parameter in each.named_parameters():
                    wanted = divided.get(name) if position == path else None
                    dims = [f"{size}{' over tp' if dim == wanted else ''}" for dim, size in enumerate(parameter.shape)]
                    rows.append({"names": [f"{position}.{name}"], "layout": f"[{', '.join(dims)}]"})
            return {"parameters": rows}

        self.assertEqual(layout_faults(case, model, report(divided)), [])
        faults = layout_faults(case, model, report({name: 1 - dim for name, dim in divided.items()}))
        self.assertEqual(len(faults), len(divided))
        self.assertEqual(len(layout_faults(case, model, report({}))), len(divided))

    def test_wrong_widths_are_told(self) -> None:
        model = make_model(draw_case(0, only="made"))
        items = [item for item in init_items(model, Choices([])) if item.endswith("fan in")]
        layers = dict(made_layers(model))

        def schedule(factor: float) -> str:
            lines = []
            for name in (item.split()[0] for item in items):
                path, _, leaf = name.rpartition(".")
                width = factor * (2 / layers[path].form.uses[leaf].fans[0]) ** 0.5
                lines.append(f'["{name}"] trainable init <kind = normal, mean = 0.0 : f64, std = {width} : f64>')
            return "\n".join(lines)

        self.assertGreater(len(items), 0)
        self.assertEqual(fan_faults(items, model, schedule(1)), [])
        self.assertEqual(len(fan_faults(items, model, schedule(1.1))), len(items))
        self.assertEqual(len(fan_faults(items, model, "")), len(items))


class PlanTest(unittest.TestCase):
    def test_forms_say_the_same(self) -> None:
        case = draw_case(1)
        case.axes, case.inputs, case.outputs = [("tp", 2)], {}, {}
        case.entries = [Entry("a.x", ["colwise tp"]), Entry("a.y", ["colwise tp"]), Entry("a.z", ["replicate"])]
        expected = {
            FLAT: "  a.x: colwise tp\n  a.y: colwise tp\n  a.z: replicate\n",
            NESTED: "  a {\n    x: colwise tp\n    y: colwise tp\n    z: replicate\n  }\n",
            BRACES: "  a {\n    {x, y}: colwise tp\n    z: replicate\n  }\n",
            OVERRIDES: "  a {\n    {x, y, z}: colwise tp\n    override z: replicate\n  }\n",
        }
        for form, lines in expected.items():
            case.form = form
            self.assertEqual(
                plan_text(case, "m.pt2", uncovered=False),
                'plan random {\n  model "m.pt2"\n  mesh tp = 2\n' + lines + "}\n",
            )


class FanTest(unittest.TestCase):
    def test_operators_read_dims_in_every_order(self) -> None:
        x = torch.randn(2, 5, 6)
        shapes = {tuple(arranged(x, Step("neg", [0] * 11 + [number])).shape) for number in range(6)}
        self.assertEqual(shapes, {(2, 5, 6), (2, 6, 5), (5, 2, 6), (6, 2, 5), (5, 6), (10, 6)})

    def test_windows_run_over_images_whose_channels_are_divided(self) -> None:
        x = torch.randn(2, 5, 6)
        shapes = {tuple(arranged(x, Step("pool", [0] * 11 + [number])).shape) for number in range(6)}
        lines = {(2, 6, 4), (2, 5, 4)}
        images = {(*shape, 2) for shape in lines}
        self.assertEqual(shapes, lines | images | {(*shape, 2) for shape in images})

    def test_what_splits_a_dim_reads_it_as_it_is(self) -> None:
        x = torch.randn(2, 5, 6)
        self.assertTrue(all(arranged(x, Step("split", [0] * 11 + [number])) is x for number in range(8)))


class StepTest(unittest.TestCase):
    def test_integers_are_those_of_numbers_that_are_rounded_otherwise(self) -> None:
        quarters = torch.arange(-14, 15) / 4.0
        below, above = (torch.nextafter(quarters, torch.full_like(quarters, end)) for end in (-9.0, 9.0))
        self.assertTrue(torch.equal(integers(below), integers(above)))
        self.assertEqual((integers(quarters).min(), integers(quarters).max()), (-11, 12))


class ReadingTest(unittest.TestCase):
    def test_columns_of_statements(self) -> None:
        columns = {
            "colwise tp parts 2": "colwise",
            "rowwise (dp, tp)": "rowwise",
            "weight: split 0 over tp": "parameter",
            "input start": "input",
            "input 1 split 1 over tp": "border",
            "output hidden": "border",
            "uneven": "uneven",
            "replicate": "",
        }
        for text, column in columns.items():
            self.assertEqual(column_of(text), column)

    def test_a_cell_without_draws_is_missing_or_has_a_reason(self) -> None:
        coverage = Coverage(["aten.add.Tensor", "aten.lstm.input", "aten.ones.default"])
        for _ in range(LEAST):
            coverage.add({("aten.add.Tensor", column) for column in WANTED if column != "tied"})
        self.assertEqual(coverage.missing(), [("aten.add.Tensor", "tied"), ("aten.lstm.input", "uneven")])
        lines = coverage.table().splitlines()
        self.assertEqual(lines[1].split()[1:], ["10", "10", "10", "10", "0", "0", "0", "10", "0", "10"])
        self.assertEqual(lines[2].split()[1:], ["0", "a", "a", "a", "0", "0", "0", "0", "a", "a"])
        self.assertTrue(lines[4].startswith("a: it reads all features"))

    def test_reasons_are_those_of_columns_that_count(self) -> None:
        for reason, patterns, columns in REASONS:
            self.assertTrue(patterns and set(columns) <= set(WANTED), reason)
        self.assertEqual(unreached_because("aten.gru_cell.default", "uneven"), "", "samples are split unevenly")
        self.assertNotEqual(unreached_because("aten.gru_cell.default", "colwise"), "")
        self.assertNotEqual(unreached_because("aten.zeros_like.default", "uneven"), "")
        self.assertEqual(unreached_because("aten.add.Tensor", "parts"), "")

    def test_only_known_refusals_are_refusals(self) -> None:
        self.assertEqual(
            reason_of("a.plan:1:2: error: dim 1 of the output of 'a' has size 2, fewer than tp = 3\n"),
            "more ranks than elements",
        )
        self.assertEqual(reason_of("error: 'plan.call' op result 0 is wrong"), "")
        self.assertEqual(reason_of("Assertion failed"), "")
