"""Tests of matrix.py without models: the plans that it makes, and what it makes of programs that fail."""

from __future__ import annotations

import argparse
import contextlib
import io
import math
import re
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import torch
from safetensors.torch import load_file, save_file

from harness.models import make_models
from harness.trainings import matrix
from harness.trainings.matrix import CASES, STAGES, VARIANTS, Case, Job, Outcome, Stage, Variant
from harness.trainings.steps import add_comparison

PLAN = """plan p {
  model "model.pt2"
  mesh  dp = 1, tp = 1

  input x: [batch over dp, seq]
  input y: [batch over dp]
  loss loss
  a: colwise tp
}
"""


class Tables(unittest.TestCase):
    def test_every_model_exists_and_has_its_plans(self) -> None:
        for model, case in CASES.items():
            self.assertTrue(make_models.is_model(model), model)
            for plan in filter(None, (case.plan, case.sequence)):
                self.assertTrue((matrix.PLANS / plan).is_file(), plan)

    def test_every_model_with_a_loss_is_there(self) -> None:
        """But for what draws random numbers or has no weights, other exports and sizes of one that is there, and the
        mixtures of train_mixtures.test."""
        alike = {"llama_dynamic", "llama_decomposed", "smollm2", "opt_mask", "bloom_mask"}
        alike |= {"mixtral_six", "mixtral_balanced", "qwen2_moe", "qwen3_moe", "olmoe", "granitemoe", "phimoe"}
        alike |= {"glm4_moe", "deepseek_v2", "deepseek_v3", "gpt_oss_grouped", "qwen3_moe_balanced", "mixtral_lora"}
        trained = {
            re.sub(r"_(batch\d+|four|long)$", "", name)
            for name, options in make_models.MODELS.items()
            if "--loss" in options and not {"--train", "--meta"} & {*options}
        }
        self.assertEqual(trained - alike, set(CASES))

    def test_a_model_has_a_larger_batch(self) -> None:
        name = matrix.batched("gpt2")
        self.assertEqual(make_models.options_of(name), [*make_models.options_of("gpt2"), "--batch", "12"])
        self.assertEqual(matrix.batched("gpt2", "bf16"), f"{name}_bfloat16")
        half = make_models.options_of(f"{name}_bfloat16")
        self.assertEqual(half, [*make_models.options_of(name), "--dtype", "bfloat16"])
        self.assertEqual(matrix.batched("clip", batch=4), "clip_batch4")
        self.assertEqual(make_models.options_of("clip_batch4")[-2:], ["--batch", "4"])
        self.assertEqual(matrix.BATCH % (4 * max(variant.pieces for variant in VARIANTS.values())), 0)


def arguments_of(*words: str) -> argparse.Namespace:
    """Those of the command line."""
    return matrix.parse_arguments([*words, "--models", "/m", "--work", "/w"])


class Arguments(unittest.TestCase):
    def training(self, arguments: argparse.Namespace, case: Case) -> list[str]:
        arguments.optimizer = matrix.optimizer_of(arguments, case)
        return matrix.training_of(arguments)

    def test_a_step_of_sgd_in_float32(self) -> None:
        arguments = arguments_of("gpt2", "phi")
        self.assertEqual(arguments.names, ["gpt2", "phi"])
        self.assertEqual((arguments.parameters, arguments.master, arguments.seed), (True, None, None))
        self.assertEqual(self.training(arguments, Case(rate="1")), ["optimizer sgd { lr 10 }"])

    def test_masters_of_a_model_in_bf16(self) -> None:
        arguments = arguments_of("--precision", "bf16")
        self.assertEqual((arguments.parameters, arguments.master), (True, "float32"))
        expected = ["optimizer sgd { lr 10 }", "precision { master f32; reduce f32 }"]
        self.assertEqual(self.training(arguments, Case()), expected)

    def test_losses_are_those_of_adamw(self) -> None:
        arguments = arguments_of("--losses", "20", "--stages", "ddp")
        self.assertEqual((arguments.losses, arguments.parameters, arguments.stages), (20, False, ["ddp"]))
        for rate in ("1e-3", "1e-5"):
            expected = [f"optimizer adamw {{ lr {rate}; weight_decay 0.1 }}"]
            self.assertEqual(self.training(arguments, Case(rate=rate)), expected)

    def test_models_have_names(self) -> None:
        with contextlib.redirect_stderr(io.StringIO()) as said, self.assertRaises(SystemExit):
            arguments_of("gpt3")
        self.assertIn("unknown models: gpt3", said.getvalue())


class Plans(unittest.TestCase):
    def text(self, stage: Stage, variant: Variant) -> list[str]:
        way = Case("layers.*"), stage, variant
        return matrix.text_of(PLAN, Path("/a/b.pt2"), ["optimizer sgd { lr 10 }"], *way).splitlines()

    def test_statements_are_added(self) -> None:
        lines = self.text(STAGES["zero3"], VARIANTS["again_pieces"])
        self.assertEqual(lines[1:3], ['  model "/a/b.pt2"', "  mesh  dp = 1, tp = 1"])
        added = [
            "  optimizer sgd { lr 10 }",
            "  data dp { shard parameters, gradients, optimizer; unit layers.* }",
            "  recompute layers.*",
            "  microbatches 3",
            "}",
        ]
        self.assertEqual(lines[8:], added)

    def test_pieces_of_a_model_that_mixes_samples_have_a_mean(self) -> None:
        way = Case(mixes=True), STAGES["tp"], VARIANTS["pieces"]
        self.assertEqual(matrix.statements_of(*way), ["microbatches 3 mean"])
        calls = [[Job(model, "tp", variant).calls for variant in VARIANTS] for model in ("clip", "llama")]
        self.assertEqual(calls, [[1, 1, 3, 3], [1, 1, 1, 1]])

    def test_a_plain_step_has_an_optimizer_alone(self) -> None:
        self.assertEqual(self.text(STAGES["tp"], VARIANTS["plain"])[8:], ["  optimizer sgd { lr 10 }", "}"])

    def test_pods_divide_all_samples(self) -> None:
        lines = self.text(STAGES["hybrid"], VARIANTS["plain"])
        self.assertEqual(lines[2], "  mesh  pod = 1, dp = 1, tp = 1")
        self.assertEqual(lines[4:6], ["  input x: [batch over (pod, dp), seq]", "  input y: [batch over (pod, dp)]"])
        self.assertIn("optimizer over dp;", lines[9])

    def test_the_archive_of_a_draft_is_replaced(self) -> None:
        draft = PLAN.replace("model.pt2", "../models/m.pt2")
        text = matrix.text_of(draft, Path("/a/b.pt2"), [], Case(), STAGES["tp"], VARIANTS["plain"])
        self.assertIn('model "/a/b.pt2"\n', text)
        self.assertNotIn("models/m.pt2", text)

    def test_what_has_no_plan_is_drafted(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            program = Path(name) / "meshplan"
            program.write_text('#!/bin/sh\necho "$@" > "$6"\n')
            program.chmod(0o755)
            arguments = argparse.Namespace(work=Path(name), models=Path("/m"), meshplan=program, model="gpt2_batch12")
            plans = [matrix.plan_of(arguments, "gpt2", sequence) for sequence in (False, True)]
            self.assertEqual(plans[0], (matrix.PLANS / "gpt2.plan").read_text())
            draft = f"init /m/gpt2_batch12.pt2 --mesh dp=2,tp=2 -o {name}/gpt2_sequence.plan --force --sequence\n"
            self.assertEqual(plans[1], draft)
            self.assertNotIn("--sequence", matrix.plan_of(arguments, "phi", sequence=False))


class Batches(unittest.TestCase):
    def test_samples_have_different_numbers_of_labels(self) -> None:
        batch = {"input_ids": torch.ones(12, 5, dtype=torch.int64), "labels": torch.ones(12, 5, dtype=torch.int64)}
        found = matrix.with_uneven_labels(batch)
        self.assertTrue(torch.equal(found["input_ids"], batch["input_ids"]))
        ignored = (found["labels"] == matrix.IGNORED).sum(1)
        self.assertEqual(ignored.tolist(), [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1])
        # A rank and a piece have other numbers than the others.
        for groups in (2, 4, 6):
            self.assertGreater(len({int(group.sum()) for group in ignored.chunk(groups)}), 1)

    def test_labels_of_samples_all_count(self) -> None:
        for batch in ({"labels": torch.ones(12, dtype=torch.int64)}, {"pixels": torch.ones(12, 3)}):
            self.assertIs(matrix.with_uneven_labels(batch), batch)

    def inputs(self, losses: int) -> list[dict[str, torch.Tensor]]:
        """The batches of a model with one input."""
        with tempfile.TemporaryDirectory() as name:
            others = {"work": Path(name), "models": Path(name), "losses": losses}
            arguments = argparse.Namespace(model="m_batch4", batch="m", **others)
            tokens = {name: torch.arange(60).view(12, 5) for name in ("input_ids", "labels")}
            save_file(tokens, Path(name) / "m.inputs.safetensors")
            return [load_file(path) for path in matrix.make_inputs(arguments)]

    def test_each_step_has_a_batch(self) -> None:
        (one,) = self.inputs(0)
        self.assertTrue(torch.equal(one["input_ids"], torch.arange(60).view(12, 5)))
        self.assertEqual((one["labels"] == matrix.IGNORED).sum().item(), 21)
        first, second, _ = self.inputs(3)
        self.assertFalse(torch.equal(first["input_ids"], second["input_ids"]))
        counts = first["labels"] != matrix.IGNORED
        self.assertTrue(torch.equal(first["labels"][counts], first["input_ids"][counts]), "labels follow their tokens")

    def test_what_the_model_does_not_train(self) -> None:
        linear = torch.nn.Linear(2, 2)
        linear.bias.requires_grad_(False)
        program = torch.export.export(linear, (torch.ones(1, 2),))
        self.assertEqual(matrix.frozen_in(program), ["bias"])


class Outcomes(unittest.TestCase):
    def failure(self, program: str) -> Outcome | None:
        return matrix.ended(["sh", "-c", program])[0]

    def test_programs_that_fail(self) -> None:
        self.assertIsNone(self.failure("exit 0"))
        refused = self.failure("echo 'p.plan:1:2: error: no such axis' >&2; echo '  help: so' >&2; exit 1")
        self.assertEqual(refused, Outcome("refused", "no such axis"))
        self.assertEqual(self.failure("exit 1"), Outcome("WRONG", "sh ended with 1: no message"))
        defect = self.failure("echo \"p.plan:1:2: error: 'sched.compute' op overwrites x\" >&2; exit 1")
        self.assertEqual(defect, Outcome("WRONG", "sh ended with 1: 'sched.compute' op overwrites x"))
        message = self.failure("echo \"error: 'aten.add.Tensor' in the root module: no\" >&2; exit 1")
        self.assertEqual(message, Outcome("refused", "'aten.add.Tensor' in the root module: no"))
        self.assertEqual(self.failure("echo 'error: x' >&2; exit 2"), Outcome("WRONG", "sh ended with 2: x"))
        self.assertEqual(self.failure("kill -SEGV $$"), Outcome("WRONG", "sh ended with -11: no message"))

    def test_a_program_that_does_not_end(self) -> None:
        seconds, matrix.SECONDS = matrix.SECONDS, 1
        try:
            self.assertEqual(self.failure("exec sleep 60"), Outcome("WRONG", "sh does not end"))
        finally:
            matrix.SECONDS = seconds

    def job(self, meshplan: str, steps: str, scratch: int = 0) -> Outcome | None:
        """What becomes of a job with these programs."""
        with tempfile.TemporaryDirectory() as name:
            scripts = [Path(name) / "meshplan", Path(name) / "run-steps"]
            for script, text in zip(scripts, (meshplan, steps), strict=True):
                script.write_text(f"#!/bin/sh\n{text}\n")
                script.chmod(0o755)
            arguments = arguments_of("--meshplan", str(scripts[0]), "--steps-program", str(scripts[1]))
            arguments.work = arguments.models = Path(name)
            arguments.model, arguments.batches, arguments.optimizer = "m", [], "sgd { lr 1 }"
            arguments.scratch = scratch
            job = Job("llama", "zero3", "plain")
            (Path(name) / f"{job.stem}.safetensors").write_text("of yesterday")
            outcome, run = matrix.run_job(arguments, job, {False: PLAN})
            self.assertFalse(run.output.exists())
            self.assertEqual(run.mesh, "dp=2,tp=1")
            return outcome

    def test_only_the_compiler_refuses(self) -> None:
        self.assertIsNone(self.job("exit 0", "exit 0"))
        self.assertEqual(self.job("echo 'error: no' >&2; exit 1", "exit 0"), Outcome("refused", "no"))
        self.assertEqual(self.job("exit 0", "echo 'error: no' >&2; exit 1"), Outcome("WRONG", "no"))

    def test_what_ranks_hold_is_what_was_planned(self) -> None:
        self.assertIsNone(self.job("exit 0", "echo rank 0: peak 1049 planned 1000 kept 700 planned 700"))
        self.assertEqual(
            self.job("exit 0", "echo rank 0: peak 1051 planned 1000 kept 708 planned 700"),
            Outcome("WRONG", "memory: peak 1051, planned 1000; memory: kept 708, planned 700"),
        )

    def test_peaks_have_what_kernels_hold(self) -> None:
        self.assertIsNone(self.job("exit 0", "echo rank 0: peak 1100 planned 1000", scratch=50))
        self.assertEqual(
            self.job("exit 0", "echo rank 0: peak 1101 planned 1000 kept 7 planned 6", scratch=50),
            Outcome("WRONG", "memory: peak 1101, planned 1000; memory: kept 7, planned 6"),
        )
        self.assertEqual(
            self.job("exit 0", "echo rank 0: peak 949 planned 1000", scratch=50),
            Outcome("WRONG", "memory: peak 949, planned 1000"),
        )

    def test_a_model_that_cannot_be_prepared(self) -> None:
        stages, variants = ["ddp", "tp"], ["plain"]
        arguments = arguments_of("--stages", *stages, "--variants", *variants)
        jobs = [Job("phi", stage, "plain") for stage in stages]
        with mock.patch.object(make_models, "make", return_value=False):
            found = list(matrix.run_model(arguments, "phi"))
        self.assertEqual(found, [(job, Outcome("WRONG", "the model cannot be exported")) for job in jobs])
        arguments.meshplan = "false"
        with mock.patch.object(make_models, "make", return_value=True):
            found = list(matrix.run_model(arguments, "phi"))
        reason = "no plan is drafted: false ended with 1: no message"
        self.assertEqual(found, [(job, Outcome("WRONG", reason)) for job in jobs])


class Comparison(unittest.TestCase):
    """One weight of one number x, whose loss is x * x."""

    class Square(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.x = torch.nn.Parameter(torch.tensor([3.0]))

        def forward(self, scale: torch.Tensor) -> dict[str, torch.Tensor]:
            return {"loss": (scale * self.x * self.x).sum()}

    def outcome(self, loss: float, x: float) -> Outcome:
        parser = argparse.ArgumentParser()
        add_comparison(parser)
        others = {"optimizer": "sgd { lr 10 }", "seed": None, "parameters": True}
        arguments = argparse.Namespace(**vars(parser.parse_args([])) | others)
        scale = torch.ones(1)
        program = torch.export.export(self.Square(), (), {"scale": scale})
        references = matrix.references_of(program, matrix.settings_of(arguments), [{"scale": scale}])
        with tempfile.TemporaryDirectory() as name, contextlib.redirect_stdout(io.StringIO()) as said:
            run = matrix.Run(Path(name) / "p.plan", "dp=2", Path(name) / "p.safetensors")
            save_file({"step0.loss": torch.tensor(loss), "x": torch.tensor([x])}, run.output)
            outcome = matrix.compared(run, references, arguments)
        self.assertEqual(said.getvalue(), "")
        return outcome

    def test_verdicts(self) -> None:
        self.assertEqual(self.outcome(9, 3 - 60), Outcome("ok"))
        for loss, x, named in ((9, 3 - 30, "parameters: x"), (18, 3 - 60, "step 0: loss"), (9, math.nan, "x has inf")):
            outcome = self.outcome(loss, x)
            self.assertEqual(outcome.verdict, "WRONG")
            self.assertIn(named, outcome.reason)
        self.assertIn("; ", self.outcome(18, 3 - 30).reason)


class Page(unittest.TestCase):
    def table(self, *rows: tuple[str, str, str, Outcome]) -> list[str]:
        return matrix.table_of([(Job(*job), outcome) for *job, outcome in rows], ["ddp", "tp"])

    def test_cells_that_are_right(self) -> None:
        ok = Outcome("ok")
        rows = [("m", stage, variant, ok) for stage in ("ddp", "tp") for variant in ("plain", "again")]
        self.assertEqual(self.table(*rows), ["| model | ddp | tp |", "|---|---|---|", "| m | ok | ok |"])

    def test_each_reason_stands_once(self) -> None:
        lines = self.table(
            ("m", "ddp", "plain", Outcome("ok")),
            ("m", "ddp", "again", Outcome("WRONG", "x")),
            ("m", "ddp", "pieces", Outcome("refused", "y")),
            ("m", "ddp", "again_pieces", Outcome("WRONG", "x")),
            ("m", "tp", "plain", Outcome("ok")),
            ("n", "ddp", "plain", Outcome("refused", "y")),
            ("n", "ddp", "again", Outcome("refused", "y")),
            ("n", "tp", "plain", Outcome("refused", "x")),
        )
        self.assertEqual(
            lines[2:],
            [
                "| m | again, again_pieces: WRONG 1; pieces: refused 2 | ok |",
                "| n | refused 2 | refused 1 |",
                "",
                "- 1: x",
                "- 2: y",
            ],
        )
