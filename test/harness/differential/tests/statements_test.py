"""Tests of what is drawn of buffers, of the host and of losses that a plan redefines in the differential test."""

from __future__ import annotations

import random
import unittest
from collections import Counter
from typing import ClassVar

import torch

from harness.differential import run_case
from harness.differential.case import Case, Statement
from harness.differential.models.model import LOSSES, loss_kind, make_inputs, make_model
from harness.differential.models.redefined_loss import redefined, wanted_labels
from harness.differential.plans.memory_draw import (
    REFUSED,
    add_memory,
    contiguous_kinds,
    converts,
    offloaded_kinds,
    without_memory,
)
from harness.differential.plans.plan_text import plan_text
from harness.differential.plans.statements import find, option, settings_of
from harness.differential.plans.training_draw import draw_training
from harness.differential.tests.small_cases import case_of, case_of_statements, with_loss
from harness.reference.loss_units import IGNORED, UNITS

Tensors = dict[str, torch.Tensor]


class MemoryDrawTest(unittest.TestCase):
    """What is drawn of buffers and of the host is what the compiler takes, but for a share of them."""

    GROUPS: ClassVar = [["stem.weight"], ["blocks.a0.up.weight"], ["head.logits.weight"]]
    SHARD = "shard parameters, gradients, optimizer"

    def kinds(self, data: Statement, *others: Statement) -> tuple[list[str], list[str]]:
        """What may be contiguous, and what may lie on the host."""
        case = case_of_statements(data, *others)
        return contiguous_kinds(case, data), offloaded_kinds(case, data, self.GROUPS)

    def test_what_is_moved_in_one_piece_is_contiguous(self) -> None:
        cases = {
            (self.SHARD,): ["parameters", "gradients"],
            (self.SHARD, "bucket 4 KiB"): ["parameters", "gradients"],
            (self.SHARD, "bucket none"): [],
            ("shard optimizer over dp",): ["parameters", "gradients"],
            ("bucket 64 KiB",): ["gradients"],
            ("bucket none",): [],
            ("average in collective",): [],
        }
        for options, expected in cases.items():
            self.assertEqual(self.kinds(Statement("data dp", list(options)))[0], expected, options)

    def test_what_is_converted_before_it_is_gathered_is_not(self) -> None:
        data = Statement("data dp", [self.SHARD])
        for dtype in ("storage f64", "gather f64"):
            self.assertEqual(self.kinds(data, Statement("precision", [dtype]))[0], ["gradients"], dtype)
        for dtype in ("gather f32", "storage f32", "master f64", "reduce f64"):
            self.assertEqual(self.kinds(data, Statement("precision", [dtype]))[0], ["parameters", "gradients"], dtype)
        # Parameters that are only gathered after the optimizer are as they are stored.
        whole = Statement("data dp", ["shard gradients, optimizer"])
        self.assertIn("parameters", self.kinds(whole, Statement("precision", ["storage f64"]))[0])
        beside = Statement("data dp", ["shard gradients, optimizer", "overlap parameters"])
        self.assertNotIn("parameters", self.kinds(beside, Statement("precision", ["storage f64"]))[0])
        case = case_of_statements(Statement("precision", ["gather bf16"]))
        self.assertTrue(converts(case))
        case.half = True
        self.assertFalse(converts(case))

    def test_the_host_holds_what_is_read_of_copies(self) -> None:
        sgd, momentum = Statement("optimizer sgd", ["lr 1"]), Statement("optimizer sgd", ["lr 1", "momentum 0.9"])
        data, whole = Statement("data dp", [self.SHARD]), Statement("data dp", ["shard optimizer"])
        self.assertEqual(self.kinds(data, sgd)[1], ["parameters"])
        self.assertEqual(self.kinds(data, momentum)[1], ["parameters", "optimizer"])
        self.assertEqual(self.kinds(whole, momentum)[1], ["optimizer"])
        self.assertEqual(self.kinds(whole, Statement("optimizer adamw"))[1], ["optimizer"])
        self.assertEqual(self.kinds(whole, sgd, Statement("precision", ["master f64"]))[1], ["optimizer"])
        self.assertEqual(self.kinds(whole, sgd)[1], [])
        self.assertEqual(self.kinds(whole)[1], [])

    def test_an_optimizer_keeps_nothing_for_frozen_parameters(self) -> None:
        adam, data = Statement("optimizer adam"), Statement("data dp on stem, head", ["shard optimizer"])
        self.assertEqual(self.kinds(data, adam, Statement("freeze stem"))[1], ["optimizer"])
        self.assertEqual(self.kinds(data, adam, Statement("train only blocks.*"))[1], [])
        self.assertEqual(self.kinds(data, adam, Statement("freeze stem"), Statement("unused head"))[1], [])

    def test_nothing_is_drawn_without_a_data_block(self) -> None:
        case = case_of(Statement("optimizer adam"))
        for seed in range(20):
            add_memory(case, self.GROUPS, random.Random(seed))
        self.assertEqual(case.statements, [Statement("optimizer adam")])

    def test_few_draws_are_refused(self) -> None:
        counts, refused, draws = Counter[str](), 0, 3000
        for seed in range(draws):
            data = Statement("data dp", ["shard optimizer"])
            add_memory(case_of_statements(data, Statement("optimizer adam")), self.GROUPS, random.Random(seed))
            words = [option.split()[0] for option in data.options[1:]]
            counts.update(words)
            self.assertNotEqual(set(words), {"contiguous", "offload"})
            self.assertFalse("register" in words and "contiguous" not in words, data)
            refused += option(data, "offload").startswith("parameters")
        self.assertGreater(min(counts["contiguous"], counts["offload"], counts["register"]), 100)
        self.assertLess(refused, 2 * REFUSED * draws)


class PlacesTest(unittest.TestCase):
    """Each training that says where things lie is run without saying so, too."""

    def test_what_says_so_goes(self) -> None:
        data = Statement("data dp", ["shard optimizer", "contiguous parameters", "register buffers", "unit stem"])
        other = Statement("optimizer adam", ["lr 1e-3"])
        plain = without_memory(case_of_statements(data, other))
        assert plain is not None
        self.assertEqual(plain.statements, [Statement("data dp", ["shard optimizer", "unit stem"]), other])
        offloads = case_of_statements(Statement("data dp on stem", ["offload optimizer", "bucket 1 KiB"]))
        plain = without_memory(offloads)
        assert plain is not None
        self.assertEqual(plain.statements, [Statement("data dp on stem", ["bucket 1 KiB"])])
        self.assertEqual(offloads.statements[0].options[0], "offload optimizer", "the case itself stays")

    def test_others_are_run_once(self) -> None:
        self.assertIsNone(without_memory(case_of_statements(Statement("data dp", ["bucket 1 KiB"]), Statement("x y"))))
        self.assertIsNone(without_memory(case_of_statements()))

    def test_every_plan_that_is_drawn_keeps_an_option(self) -> None:
        """A block of data without any would be refused."""
        found = 0
        for number in range(300):
            plain = without_memory(draw_training(number))
            if plain is not None:
                found += 1
                data = find(plain.statements, "data")
                self.assertTrue(data and data.options, f"case {number}")
        self.assertGreater(found, 50)

    def test_bits_are_compared(self) -> None:
        ours = {"loss": torch.tensor(1.0), "w": torch.tensor([0.0, float("nan")]), "n": torch.zeros(0)}
        self.assertEqual(run_case.differing(ours, {name: tensor.clone() for name, tensor in ours.items()}), [])
        for changed in (torch.tensor([-0.0, float("nan")]), torch.zeros(2, dtype=torch.float64), torch.zeros(1, 2)):
            self.assertEqual(run_case.differing(ours, ours | {"w": changed}), ["w"])
        self.assertEqual(run_case.differing(ours, ours | {"extra": torch.zeros(1)}), ["extra"])
        self.assertEqual(run_case.differing({"a": torch.zeros(1)}, {}), ["a"])


class RedefinedLossTest(unittest.TestCase):
    """The loss per token or per sequence against PyTorch's own reductions and against sums by hand."""

    def made(self, case: Case) -> tuple[Tensors, torch.Tensor]:
        inputs = make_inputs(case)
        with torch.no_grad():
            return make_model(case)(**inputs), inputs["labels"]

    def test_only_classes_count(self) -> None:
        case = with_loss("mean")
        outputs, labels = self.made(case)
        rows = outputs["logits"].flatten(0, 1)
        self.assertEqual(outputs["loss"], torch.nn.functional.cross_entropy(rows, labels.flatten()))
        case.plain = False
        self.assertNotEqual(self.made(case)[0]["loss"], outputs["loss"])

    def test_what_does_not_count_is_an_output(self) -> None:
        """What no output needs is not in an archive, and its parameters are in no module that a plan may name."""
        case = draw_training(31160)  # whose block gives an output beside the hidden state
        self.assertTrue(case.plain)
        self.assertEqual(set(self.made(case)[0]), {"hidden", "logits", "loss", "s0"})
        case.plain = False
        self.assertEqual(set(self.made(case)[0]), {"hidden", "logits", "loss"})

    def test_labels_that_do_not_count_differ_by_sample(self) -> None:
        labels = self.made(with_loss("mean"))[1]
        counts = (labels != IGNORED).sum(1)
        self.assertEqual((counts[0], counts[-1]), (labels.size(1), 0))
        case = with_loss("mean")
        case.plain = False
        self.assertTrue((make_inputs(case)["labels"] >= 0).all())

    def test_a_mean_over_targets_is_per_token(self) -> None:
        for loss, head in (*((loss, "tokens") for loss in LOSSES[1:6]), ("mean", "tied"), ("sum", "pooled")):
            case = with_loss(loss, head)
            outputs, labels = self.made(case)
            wanted = wanted_labels(case.head, labels)
            divisor = (wanted != IGNORED).sum() if loss_kind(case.head) == "sum" else 1
            torch.testing.assert_close(redefined(case, outputs, labels, "token"), outputs["loss"] / divisor)

    def test_weights_do_not_change_what_counts(self) -> None:
        case = with_loss("weighted")
        outputs, labels = self.made(case)
        weights = torch.arange(outputs["logits"].size(-1)) * 0.07 + 0.5
        counted = labels[labels != IGNORED]
        # PyTorch divides by the weights of the targets.
        expected = outputs["loss"] * weights[counted].sum() / len(counted)
        torch.testing.assert_close(redefined(case, outputs, labels, "token"), expected)

    def test_a_sample_counts_as_much_as_another(self) -> None:
        for loss, head in (("mean", "tokens"), ("ignored", "tokens"), ("shifted", "tokens"), ("mean", "pooled")):
            case = with_loss(loss, head)
            outputs, labels = self.made(case)
            wanted = wanted_labels(case.head, labels)
            logits = outputs["logits"].reshape(len(labels), -1, case.sizes.vocabulary)
            sums = 0.0
            for rows, own in zip(logits, wanted, strict=True):
                losses = [
                    -rows[position].log_softmax(0)[label] for position, label in enumerate(own) if label != IGNORED
                ]
                sums += sum(losses) / max(len(losses), 1)
            found = redefined(case, outputs, labels, "sequence")
            torch.testing.assert_close(found, torch.as_tensor(sums / len(labels)), msg=f"{loss}, {head}")

    def test_what_is_drawn(self) -> None:
        found = Counter[str]()
        for number in range(400):
            case = draw_training(number)
            loss = find(case.statements, "loss")
            if case.plain:
                self.assertNotEqual(loss_kind(case.head), "none")
                self.assertIn(case.head.kind, ("tokens", "tied", "pooled"))
            found[f"{case.plain}, {loss.head if loss else 'model'}"] += 1
        for unit in UNITS:
            self.assertGreater(found[f"True, loss loss per {unit}"], 10)
        self.assertGreater(found["True, model"], 10)
        self.assertLess(found["False, loss loss per token"] + found["False, loss loss per sequence"], 12)

    def test_plans_say_it_once(self) -> None:
        case = case_of(Statement("loss loss per token"))
        self.assertEqual(plan_text(case, "m.pt2", uncovered=False).count("loss loss"), 1)
        self.assertIn("  loss loss per token\n", plan_text(case, "m.pt2", uncovered=False))

    def test_pytorch_is_asked_for_it(self) -> None:
        optimizer = Statement("optimizer sgd", ["lr 0.1"])
        self.assertEqual(settings_of(case_of(optimizer), []).per, None)
        for statement, calls in (("microbatches 3 mean", 3), ("microbatches 3", 1)):
            self.assertEqual(settings_of(case_of(optimizer, Statement(statement)), []).microbatches, calls)
        for unit in UNITS:
            case = case_of(optimizer, Statement(f"loss loss per {unit}"))
            self.assertEqual(settings_of(case, []).per, unit)
