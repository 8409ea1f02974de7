"""Tests of the differential test of trainings: draws, statements, the reference, shrinking, counting.

With MESHPLAN in the environment, the path of the compiler, it is asked whether drawn plans parse.
"""

from __future__ import annotations

import math
import os
import random
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import ClassVar

import torch

from harness.differential import run_case, training
from harness.differential.case import Case, Entry, Statement, read_case
from harness.differential.coverage import ANY, LEAST
from harness.differential.draw import PLANS, draw_case
from harness.differential.models.model import make_inputs, make_model
from harness.differential.plans.data_draw import DataDraw
from harness.differential.plans.plan_text import plan_text, statement_text
from harness.differential.plans.statement_draw import StatementDraw, parameter_groups, unreached
from harness.differential.plans.statements import find, groups_of, items_of, named, option, settings_of, untrained
from harness.differential.plans.training_draw import draw_training, is_smooth
from harness.differential.refusals import reason_of
from harness.differential.shrink import shrink, without_path
from harness.differential.tests.small_cases import case_of, with_loss
from harness.differential.training_coverage import KINDS, StatementCoverage, TrainingCoverage, kinds_of, step_coverage
from harness.plans import numbers_of
from harness.reference.deviations import MOST_DRAWS
from harness.reference.training import OPTIMIZERS

Tensors = dict[str, torch.Tensor]


class DrawTest(unittest.TestCase):
    def test_a_number_draws_one_training(self) -> None:
        self.assertEqual(draw_training(5), draw_training(5))
        self.assertNotEqual(draw_training(5).statements, draw_training(6).statements)
        self.assertEqual(draw_training(4).model(), draw_training(7).model())
        self.assertNotEqual(draw_training(4).model(), draw_training(8).model())

    def test_a_training_survives_a_file(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for number in range(12):
                draw_training(number).write(Path(folder, "case.json"))
                self.assertEqual(read_case(Path(folder, "case.json")), draw_training(number))

    def test_pytorch_trains_what_is_drawn(self) -> None:
        for number in range(0, 40 * PLANS, PLANS):
            case = draw_training(number)
            model = make_model(case)
            model(**make_inputs(case))["loss"].backward()
            groups = parameter_groups(model)
            missing = named(groups, unreached(case, model))
            for names, parameter in zip(groups, model.parameters(), strict=True):
                if names in missing:
                    self.assertIsNone(parameter.grad, f"case {number}, {names}")
                else:
                    self.assertTrue(torch.isfinite(parameter.grad.double()).all(), f"case {number}, {names}")

    def test_a_model_is_one_training_or_runs_forward(self) -> None:
        case = draw_training(0)
        forward = draw_case(0)
        self.assertEqual((forward.steps, forward.statements), (0, []))
        self.assertNotIn("loss loss", plan_text(forward, "m.pt2", uncovered=False))
        self.assertIn("loss loss", plan_text(case, "m.pt2", uncovered=False))
        other = draw_training(0)
        other.dropout += 0.25
        self.assertNotEqual(case.model(), other.model())

    def test_every_statement_is_drawn(self) -> None:
        coverage = StatementCoverage()
        for number in range(2000):
            coverage.add(kinds_of(draw_training(number)))
        self.assertEqual(coverage.missing(), [])

    def test_kernels_of_pytorch_that_tell_nothing_are_not_drawn(self) -> None:
        """Batch norms of 16 bits are rounded by strides; group norms end PyTorch where their input is frozen."""
        halves, groups = 0, 0
        for number in range(0, 300 * PLANS, PLANS):
            case = draw_training(number)
            modules = list(make_model(case).modules())
            halves += case.half
            self.assertFalse(case.half and any(isinstance(module, torch.nn.BatchNorm1d) for module in modules))
            if any(isinstance(module, torch.nn.GroupNorm) for module in modules):
                groups += 1
                heads = {statement.head.split()[0] for statement in case.statements}
                self.assertFalse(heads & {"freeze", "train"}, f"case {number}")
        self.assertGreater(min(halves, groups), 0)

    def test_something_is_trained(self) -> None:
        for number in (*range(200), 20292):  # whose blocks and head have no parameters
            case = draw_training(number)
            groups = parameter_groups(make_model(case))
            self.assertLess(len(untrained(case.statements, groups)), len(groups), f"case {number}")

    def test_where_rounding_decides_one_step_is_compared(self) -> None:
        drawn = [draw_training(seed) for seed in range(0, 400, 4)]
        self.assertIn(2, {each.steps for each in drawn if is_smooth(each)})
        for each in drawn:
            names = {step.name for block in each.blocks for step in block.steps}
            compared = any(statement.head == "optimizer sgd" for statement in each.statements)
            if compared and ("relu" in names or any(block.kind == "experts" for block in each.blocks)):
                self.assertEqual(each.steps, 1)

    def test_data_blocks_share_out_what_no_style_divides(self) -> None:
        case = case_of()
        case.axes = [("dp", 2), ("tp", 2)]
        case.entries = [
            Entry("blocks.e0.router", ["rowwise (tp, dp)"]),
            Entry("stem", ["colwise tp, output replicate"]),
        ]
        draw = DataDraw(case, make_model(case), [], None)  # type: ignore[arg-type]
        draw.owners = ["stem", "blocks.e0", "blocks.e0.router", "head.logits"]
        self.assertEqual(draw.free_paths(["dp"], ["dp"]), ["stem", "head.logits"])
        self.assertEqual(draw.free_paths(["tp"], ["tp"]), ["head.logits"])
        self.assertEqual(draw.free_paths([], []), draw.owners)

    def test_data_blocks_name_what_is_trained(self) -> None:
        case = case_of(Statement("freeze stem, blocks.*"))
        model = make_model(case)
        draw = DataDraw(case, model, parameter_groups(model), random.Random(0))
        self.assertEqual(draw.inside(draw.owners), ["head"])
        case.statements = [Statement("freeze blocks.*")]
        self.assertEqual(draw.inside(draw.owners), ["stem", "head"])
        case.statements = [Statement("train only blocks.e0.router")]
        draw.owners = ["stem", "head.logits"]
        self.assertEqual([statement for _ in range(20) for statement in draw.draw()], [])

    def test_operators_that_the_loss_does_not_read_are_not_kept(self) -> None:
        """A tied head may have logits that are an output alone, though its weight is trained."""
        case = case_of(head="tied")
        model = make_model(case)
        draw = StatementDraw(case, model, None)  # type: ignore[arg-type]
        self.assertEqual(draw.kept(["head"]), "linear")
        model.head.is_read = False
        self.assertEqual(draw.kept(["head"]), "")
        unread = [draw_training(number) for number in range(3000, 3200)]
        unread = [drawn for drawn in unread if drawn.head.kind == "tied" and not make_model(drawn).head.is_read]
        self.assertGreater(len(unread), 0)
        for drawn in unread:
            self.assertFalse([each for each in drawn.statements if each.head == "recompute head keep linear"])

    @unittest.skipUnless("MESHPLAN" in os.environ, "no compiler")
    def test_drawn_plans_parse(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            plan = Path(folder, "case.plan")
            for number in range(0, 200, 3):
                plan.write_text(plan_text(draw_training(number), "case.pt2", uncovered=False))
                done = subprocess.run([os.environ["MESHPLAN"], "fmt", plan], capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stderr), (0, ""), plan.read_text())


class StatementTest(unittest.TestCase):
    GROUPS: ClassVar = [
        ["stem.weight", "head.weight"],
        ["blocks.a0.up.weight"],
        ["blocks.a0.up.bias"],
        ["blocks.a01.bias"],
    ]

    def test_paths_name_parameters(self) -> None:
        tied, weight, bias, other = self.GROUPS
        self.assertEqual(named(self.GROUPS, ["blocks.a0"]), [weight, bias])
        self.assertEqual(named(self.GROUPS, ["head"]), [tied])
        self.assertEqual(named(self.GROUPS, ["blocks.*"]), [weight, bias, other])
        self.assertEqual(named(self.GROUPS, ["**.bias"]), [bias, other])
        self.assertEqual(named(self.GROUPS, ["blocks.a0.up.bias", "stem.weight"]), [tied, bias])
        self.assertEqual(named(self.GROUPS, ["blocks.a"]), [])

    def test_what_is_not_trained(self) -> None:
        tied, weight, _, other = self.GROUPS
        frozen = untrained([Statement("freeze stem"), Statement("unused blocks.a01.bias")], self.GROUPS)
        self.assertEqual(frozen, [tied, other])
        self.assertEqual(untrained([Statement("train only blocks.a0, head")], self.GROUPS), [other])
        self.assertEqual(untrained([Statement("clip_grad_norm 1")], self.GROUPS), [])
        self.assertIn(weight, untrained([Statement("train only **.bias")], self.GROUPS))

    def test_items(self) -> None:
        self.assertEqual(items_of(" stem, [blocks.a, head], blocks.*"), ["stem", "[blocks.a, head]", "blocks.*"])

    def test_numbers_of_optimizers(self) -> None:
        optimizer = Statement(
            "optimizer adamw", ["lr 1e-2", "betas (0.8, 0.95)", "group stem, head { lr 0.3; eps 1e-6 }"]
        )
        self.assertEqual(numbers_of(optimizer.options), {"lr": 0.01, "beta1": 0.8, "beta2": 0.95})
        self.assertEqual(groups_of(optimizer), [(["stem", "head"], {"lr": 0.3, "eps": 1e-6})])
        self.assertEqual(numbers_of(["momentum 0.9", "nesterov"]), {"momentum": 0.9, "nesterov": 1.0})

    def test_options(self) -> None:
        statement = Statement("precision", ["reduce bf16", "master f32"])
        self.assertEqual(
            (option(statement, "master"), option(statement, "state"), option(None, "state")), ("f32", "", "")
        )
        self.assertEqual(statement_text(statement), "precision { reduce bf16; master f32 }")
        self.assertEqual(statement_text(Statement("microbatches 2")), "microbatches 2")
        self.assertIs(find([statement, Statement("data dp")], "precision"), statement)
        self.assertIsNone(find([Statement("unused stem")], "un"))

    def test_what_is_compared(self) -> None:
        case = case_of(
            Statement("optimizer sgd", ["lr 0.1", "momentum 0.9"]),
            Statement("precision", ["state bf16", "storage f32"]),
            Statement("clip_grad_norm 0.5"),
            Statement("freeze stem"),
        )
        found = settings_of(case, self.GROUPS)
        self.assertEqual((found.optimizer, found.numbers, found.clip), ("sgd", {"lr": 0.1, "momentum": 0.9}, 0.5))
        self.assertEqual((found.master, found.states, found.parameters), ("float32", "bfloat16", True))
        self.assertEqual(found.frozen, ["head.weight", "stem.weight"])
        self.assertEqual(found.loss_scale, 1)
        for text, scale in (("loss_scale 8", 8), ("loss_scale dynamic { initial 64 }", 64)):
            case.statements[1] = Statement("precision", [text])
            self.assertEqual(settings_of(case, self.GROUPS).loss_scale, scale)

    def test_what_is_rounded_more_than_in_pytorch_is_judged_by_losses(self) -> None:
        optimizer = Statement("optimizer sgd", ["lr 0.1"])
        rounds = Statement("precision", ["reduce bf16", "master f32"])
        self.assertFalse(settings_of(case_of(optimizer, rounds), self.GROUPS).parameters)
        self.assertFalse(settings_of(case_of(Statement("optimizer adam", ["lr 0.1"])), self.GROUPS).parameters)


class ReferenceTest(unittest.TestCase):
    """Results that PyTorch itself has made, by hand, and the same with one number wrong."""

    OPTIMIZER = Statement("optimizer sgd", ["lr 0.1", "momentum 0.9", "group head { lr 0.03; weight_decay 0.2 }"])

    def exported(self, case: Case) -> torch.export.ExportedProgram:
        with tempfile.TemporaryDirectory() as folder:
            return run_case.export(case, Path(folder, "case")).program

    def result(self, case: Case, factor: float = 1.0) -> Tensors:
        """What run-steps should write; the gradients of the second block of parameters may be multiplied."""
        model = make_model(case)
        options = {"lr": 0.1, "momentum": 0.9}
        head = [parameter for name, parameter in model.named_parameters() if name.startswith("head")]
        others = [parameter for name, parameter in model.named_parameters() if not name.startswith("head")]
        groups = [{"params": others}, {"params": head, "lr": 0.03, "weight_decay": 0.2}]
        optimizer = OPTIMIZERS["sgd"](groups, **options)
        losses = {}
        for step, batch in enumerate(training.batches(case)):
            optimizer.zero_grad()
            loss = model(**batch)["loss"]
            loss.backward()
            others[0].grad.mul_(factor)
            optimizer.step()
            losses[f"step{step}.loss"] = loss.detach()
        return losses | {name: tensor.detach() for name, tensor in model.named_parameters()}

    def judged(self, case: Case, ours: Tensors) -> tuple[float, str]:
        return training.compared(case, self.exported(case), ours)

    def test_pytorch_is_right(self) -> None:
        case = case_of(self.OPTIMIZER, steps=2)
        share, wrong = self.judged(case, self.result(case))
        self.assertEqual(wrong, "")
        self.assertLessEqual(share, 1)

    def test_a_gradient_that_counts_twice_is_found(self) -> None:
        case = case_of(self.OPTIMIZER)
        for factor in (2.0, 0.5, 1.01):
            share, wrong = self.judged(case, self.result(case, factor))
            self.assertGreater(share, 1, factor)
            self.assertRegex(wrong, r"^parameters: stem\.weight has .* WRONG$")

    def test_a_loss_that_is_wrong_is_found(self) -> None:
        case = case_of(self.OPTIMIZER)
        ours = self.result(case)
        ours["step0.loss"] *= 1.0001
        self.assertRegex(self.judged(case, ours)[1], r"^step 0: loss .* WRONG$")

    def test_groups_without_their_numbers_are_found(self) -> None:
        case = case_of(self.OPTIMIZER)
        ours = self.result(case)
        case.statements = [Statement("optimizer sgd", self.OPTIMIZER.options[:2])]
        self.assertRegex(self.judged(case, ours)[1], r"parameters: head\.logits\.weight has")

    def test_a_parameter_that_should_be_frozen_is_found(self) -> None:
        case = case_of(self.OPTIMIZER)
        ours = self.result(case)
        case.statements.append(Statement("freeze stem"))
        self.assertRegex(self.judged(case, ours)[1], r"parameters: stem\.weight has")

    def test_a_loss_that_is_not_redefined_is_found(self) -> None:
        """Sums of samples that count in unequal numbers, taken for the mean over all."""
        case = with_loss("mean")
        case.statements = [self.OPTIMIZER]
        ours = self.result(case)
        self.assertEqual(self.judged(case, ours)[1], "")
        case.statements = [self.OPTIMIZER, Statement("loss loss per token")]
        self.assertEqual(self.judged(case, ours)[1], "")
        case.statements = [self.OPTIMIZER, Statement("loss loss per sequence")]
        self.assertRegex(self.judged(case, ours)[1], r"^step 0: loss .* WRONG; parameters: .* WRONG$")

    def test_steps_have_inputs_of_their_own(self) -> None:
        first, second = training.batches(case_of(steps=2))
        self.assertFalse(torch.equal(first["labels"], second["labels"]))

    def test_a_step_has_the_inputs_of_all_calls(self) -> None:
        case = case_of(Statement("microbatches 2"))
        (plain,) = training.batches(case)
        case.statements = [Statement("microbatches 3 mean")]
        (batch,) = training.batches(case)
        for name, tensor in batch.items():
            first, second, third = tensor.chunk(3)
            self.assertTrue(torch.equal(first, plain[name]))
            self.assertFalse(torch.equal(second, third))

    def test_masks_of_further_draws_leave_a_key(self) -> None:
        """A draw whose loss is not a number would tell nothing, and the next ones would have to stand for it."""
        case = case_of(self.OPTIMIZER, kind="attention")
        with torch.enable_grad():
            reference, _ = training.reference_of(case, self.exported(case))
            for _ in range(3):
                losses, _ = reference.add_draw()
                self.assertTrue(all(map(math.isfinite, losses)))
                self.assertTrue(reference.inputs_of(reference.batches[0])["mask"][:, 0].all())

    def test_further_draws_have_other_inputs_or_weights_beside_those_of_the_case(self) -> None:
        case = case_of(self.OPTIMIZER)
        case.half = True
        with torch.enable_grad():
            reference, _ = training.reference_of(case, self.exported(case))
            first = reference.batches[0]["labels"]
            weights = [parameter.detach().clone() for parameter in reference.make(False).own]

            def steps_away() -> float:
                """The largest change of a weight in steps from number to number, or a part of one."""
                changes = [
                    ((own - weight).abs() / (weight.abs() * torch.finfo(weight.dtype).eps)).max().item()
                    for own, weight in zip(reference.make(False).own, weights, strict=True)
                ]
                return max(changes)

            reference.add_draw()
            self.assertTrue(torch.equal(first, reference.batches[0]["labels"]))
            self.assertTrue(0 < steps_away() <= 1.01, "a step is up to eps of a number, and is rounded here")
            exact = reference.make(True).own
            self.assertTrue(all(map(torch.equal, exact, (own.double() for own in reference.make(False).own))))
            reference.add_draw()
            self.assertFalse(torch.equal(first, reference.batches[0]["labels"]))
            self.assertEqual(steps_away(), 0)
            # As many as are needed, and no more.
            self.assertGreater(reference.share(1e6, lambda: reference.loss_bound(0)), 1)
            self.assertEqual(reference.draws, MOST_DRAWS)
            self.assertEqual(reference.share(0.0, lambda: reference.loss_bound(0)), 0.0)
            self.assertEqual(reference.draws, MOST_DRAWS)


class ShrinkTest(unittest.TestCase):
    def test_statements_go_one_by_one(self) -> None:
        case = case_of(
            Statement("data dp", ["shard optimizer", "bucket 4 KiB", "overlap none"]),
            Statement("microbatches 2"),
            Statement("optimizer sgd", ["lr 0.1", "momentum 0.9"]),
            Statement("recompute blocks.*"),
            steps=2,
        )

        def fails(candidate: Case) -> bool:
            data = find(candidate.statements, "data dp")
            return data is not None and "bucket 4 KiB" in data.options

        smallest = shrink(case, fails, seconds=60)
        self.assertEqual(smallest.statements, [Statement("data dp", ["bucket 4 KiB"])])
        self.assertEqual(smallest.steps, 1, "a training stays one")

    def test_a_block_goes_from_the_statements_too(self) -> None:
        statement = Statement("data dp on blocks.a0.up, head", ["unit [blocks.a0, stem], blocks.b1", "keep blocks.a0"])
        expected = Statement("data dp on head", ["unit blocks.b1"])
        self.assertEqual(without_path(statement, "blocks.a0"), expected)
        self.assertIsNone(without_path(Statement("recompute blocks.a0"), "blocks.a0"))
        self.assertEqual(without_path(Statement("freeze blocks.a01"), "blocks.a0"), Statement("freeze blocks.a01"))
        self.assertEqual(
            without_path(Statement("recompute blocks.a0, stem keep linear"), "blocks.a0"),
            Statement("recompute stem keep linear"),
        )
        self.assertIsNone(without_path(Statement("train only blocks.a0"), "blocks.a0"))
        optimizer = Statement("optimizer sgd", ["lr 1", "group blocks.a0 { lr 2 }"])
        self.assertEqual(without_path(optimizer, "blocks.a0"), Statement("optimizer sgd", ["lr 1"]))


class CountTest(unittest.TestCase):
    def test_kinds_of_a_plan(self) -> None:
        case = case_of(
            Statement("data pod, dp", ["shard parameters, gradients, optimizer over dp", "unit [stem, head]"]),
            Statement("optimizer sgd", ["lr 0.1", "nesterov", "group head { weight_decay 0 }"]),
            Statement("precision", ["master f32", "loss_scale dynamic { initial 8 }"]),
            Statement("nonfinite gradients skip"),
            Statement("recompute head keep linear"),
            Statement("train only head"),
            Statement("microbatches 2"),
        )
        expected = {"data, parameters, hybrid", "unit", "unit of several", "optimizer sgd", "lr", "nesterov", "group"}
        expected |= {
            "nonfinite gradients skip",
            "loss_scale dynamic",
            "weight_decay",
            "master f32",
            "recompute",
            "recompute keep",
            "train only",
            "microbatches 2",
        }
        self.assertEqual(kinds_of(case), {(kind,) for kind in expected})
        case.statements = [
            Statement("loss loss per sequence"),
            Statement("data dp", ["shard optimizer", "contiguous gradients, parameters", "register buffers"]),
        ]
        expected = {"loss per sequence", "data, optimizer", "contiguous gradients", "contiguous parameters"}
        self.assertEqual(kinds_of(case), {(kind,) for kind in expected | {"register buffers"}})
        case.statements = [Statement("data dp", ["bucket 1 KiB", "offload optimizer, parameters"])]
        expected = {"data, none", "bucket", "offload optimizer", "offload parameters"}
        self.assertEqual(kinds_of(case), {(kind,) for kind in expected})
        case.statements = [Statement("microbatches 3 mean")]
        self.assertEqual(kinds_of(case), {("microbatches mean",)})
        case.statements = [Statement("data dp on stem", ["bucket none", "overlap gradients, parameters", "prefetch 2"])]
        expected = {"data, none", "data on", "bucket none", "overlap gradients", "overlap parameters", "prefetch 2"}
        self.assertEqual(kinds_of(case), {(kind,) for kind in expected})

    def test_kinds_with_few_draws_are_missing(self) -> None:
        coverage = StatementCoverage()
        for _ in range(LEAST):
            coverage.add({("clip_grad_norm",)})
        self.assertEqual({kind for (kind,) in coverage.missing()}, set(KINDS) - {"clip_grad_norm"})
        self.assertRegex(coverage.table(), rf"\nclip_grad_norm +{LEAST}\n")
        self.assertTrue(coverage.summary().endswith(f"1 in {LEAST} trainings or more"))

    def test_operators_of_steps_are_counted_by_what_divides_them(self) -> None:
        coverage = step_coverage(["meshplan.sgd", "aten.add.Tensor", "aten.gelu_backward.default", "meshplan.to_host"])
        self.assertEqual(coverage.targets, ["aten.gelu_backward.default", "meshplan.sgd", "meshplan.to_host"])
        for _ in range(LEAST):
            coverage.add(
                {("meshplan.sgd", "colwise"), ("meshplan.sgd", "uneven"), ("aten.gelu_backward.default", "tied")}
            )
        self.assertEqual(coverage.missing(), [("aten.gelu_backward.default", ANY)], "uneven and tied are not styles")
        self.assertRegex(coverage.table(), rf"\nmeshplan.sgd +{LEAST} +{LEAST} +0 ")
        self.assertIn("1 operators and 1 reasons", coverage.summary())

    def test_a_training_counts_for_both_tables(self) -> None:
        coverage = TrainingCoverage(["meshplan.sgd"])
        coverage.add({("clip_grad_norm",), ("meshplan.sgd", "rowwise")})
        self.assertEqual(coverage.counts["clip_grad_norm",], 1)
        self.assertEqual(coverage.counts["meshplan.sgd", ANY], 1)
        self.assertEqual(len(coverage.missing()), len(KINDS) + 1)
        self.assertIn("meshplan.sgd", coverage.table())

    def test_reasons_of_refusals(self) -> None:
        message = "error: microbatches cannot be concatenated: an operator reads samples of several microbatches"
        self.assertEqual(reason_of(message), "samples of several microbatches are mixed")
        self.assertEqual(reason_of("error: 'plan.call' op has an operand that is partial over \"microbatch\""), "")
