#!/usr/bin/env python3
"""Tests of the functions of the package, with the programs of a build in PATH."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import tempfile
import unittest
import warnings
import zipfile
from pathlib import Path

import meshplan
import torch
from torch import nn

PLAN = """\
plan mlp {
  model "mlp.pt2"
  mesh dp = 2, tp = 2

  let samples = 4
  input x: [batch = samples over dp, width]
  loss loss

  up:   colwise tp
  down: rowwise tp
}
"""


class Mlp(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(6, 8), nn.Linear(8, 6)

    def forward(self, x: torch.Tensor, scale: float = 1) -> dict[str, torch.Tensor]:
        return {"loss": (self.down(self.up(x).relu()) * scale).square().mean()}


class Fails(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        raise ValueError("this model computes nothing")


class Meshplan(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.plan = self.folder / "mlp.plan"
        self.plan.write_text(PLAN)

    def export(self, **options: object) -> Path:
        shapes = {"x": {0: torch.export.Dim("batch", min=2)}}
        return meshplan.export(
            Mlp(), {"x": torch.randn(4, 6)}, self.folder / "mlp.pt2", dynamic_shapes=shapes, **options
        )

    def test_a_module_is_exported_with_dims_left_open(self) -> None:
        path = self.export()
        self.assertEqual(path, self.folder / "mlp.pt2")
        program = torch.export.load(path)
        module = Mlp()
        module.load_state_dict(program.state_dict)
        x = torch.randn(3, 6)
        torch.testing.assert_close(program.module()(x=x), module(x))

    def test_inputs_by_position_and_constants(self) -> None:
        path = meshplan.export(Mlp(), (torch.randn(4, 6), 0.5), str(self.folder / "mlp.pt2"))
        program = torch.export.load(path)
        module = Mlp()
        module.load_state_dict(program.state_dict)
        x = torch.randn(4, 6)
        torch.testing.assert_close(program.module()(x, 0.5), module(x, 0.5))

    def test_what_writes_an_operand_is_decomposed(self) -> None:
        class Writes(Mlp):
            def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
                return {"loss": self.down(self.up(x).relu_()).square_().mean()}

        meshplan.export(Writes(), {"x": torch.randn(4, 6)}, self.folder / "mlp.pt2")
        self.assertEqual(meshplan.check(self.plan)["errors"], [])

    def test_a_model_of_hugging_face_gives_its_outputs_by_name(self) -> None:
        import transformers

        config = transformers.LlamaConfig(
            hidden_size=16, intermediate_size=24, num_hidden_layers=1, num_attention_heads=2, vocab_size=32
        )
        model = transformers.LlamaForCausalLM(config).eval()
        tokens = torch.randint(32, (2, 6))
        path = meshplan.export(model, {"input_ids": tokens, "labels": tokens}, self.folder / "llama.pt2")
        outputs = torch.export.load(path).module()(input_ids=tokens, labels=tokens)
        self.assertEqual((type(outputs), sorted(outputs)), (dict, ["logits", "loss"]))
        torch.testing.assert_close(outputs["loss"], model(input_ids=tokens, labels=tokens).loss)
        self.assertTrue(config.use_cache)
        with zipfile.ZipFile(path) as members:
            plan = json.loads(members.read("llama/extra/parallel_plan.json"))
        self.assertEqual(plan["tp_plan"]["model.layers.*.self_attn.q_proj"], "colwise")

    def test_a_model_inside_of_another_one_and_a_method_of_the_user(self) -> None:
        import transformers

        config = transformers.LlamaConfig(
            hidden_size=16, intermediate_size=24, num_hidden_layers=1, num_attention_heads=2, vocab_size=32
        )

        class Wraps(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.inner = transformers.LlamaForCausalLM(config)

            def forward(self, tokens: torch.Tensor) -> object:
                return self.inner(tokens, labels=tokens)

        model, tokens = Wraps().eval(), torch.randint(32, (2, 6))
        inner = model.inner
        own = inner.forward

        def tripled(*arguments: object, **keywords: object) -> object:
            output = own(*arguments, **keywords)
            output.loss = output.loss * 3
            return output

        for exported, inputs in ((model, (tokens,)), (inner, {"input_ids": tokens, "labels": tokens})):
            inner.forward = tripled
            loss = model(tokens).loss
            path = meshplan.export(exported, inputs, self.folder / "llama.pt2")
            program = torch.export.load(path).module()
            outputs = program(**inputs) if isinstance(inputs, dict) else program(*inputs)
            torch.testing.assert_close(outputs["loss"], loss)
            self.assertEqual((inner.forward, config.use_cache), (tripled, True))

    def test_an_archive_without_weights(self) -> None:
        whole = self.export().stat().st_size
        path = self.export(weights=False)
        self.assertLess(path.stat().st_size, whole)
        self.assertEqual(meshplan.check(self.plan)["totals"]["parameters"], 6 * 8 + 8 + 8 * 6 + 6)

    def test_a_failure_leaves_the_file_that_was_there(self) -> None:
        before = self.export().read_bytes()
        with self.assertRaisesRegex(ValueError, "this model computes nothing"):
            meshplan.export(Fails(), {"x": torch.randn(4, 6)}, self.folder / "mlp.pt2")
        self.assertEqual((self.folder / "mlp.pt2").read_bytes(), before)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["mlp.plan", "mlp.pt2"])

    def test_check_gives_the_report(self) -> None:
        self.export()
        report = meshplan.check(self.plan, {"samples": 8, "tp": 4})
        self.assertEqual((report["world_size"], report["errors"], report["warnings"]), (8, [], []))
        shapes = {name: each["layout"] for each in report["parameters"] for name in each["names"]}
        self.assertEqual(shapes["up.weight"], "[8 over tp, 6]")

    def test_times_are_those_of_the_cluster(self) -> None:
        self.export()
        report = meshplan.check(self.plan, device="cuda", cluster="h200")
        self.assertEqual((report["machine"]["name"], report["machine"]["assumed"]), ("h200", False))
        self.assertEqual(meshplan.diff(self.plan, self.plan, device="cuda", cluster="h200")["machine"], "h200")
        with self.assertRaisesRegex(meshplan.PlanError, "the devices of 'h200' are cuda, and the program is for cpu"):
            meshplan.compile(self.plan, cluster="h200")

    def test_a_wrong_plan_is_an_exception_with_its_messages(self) -> None:
        self.export()
        self.plan.write_text(PLAN.replace("up:   colwise", "upp:  colwise"))
        for call in (meshplan.check, meshplan.compile):
            with self.assertRaises(meshplan.PlanError) as caught:
                call(self.plan)
            self.assertIn(f"{self.plan}:9:3: error: ", str(caught.exception))
        with self.assertRaises(meshplan.PlanError) as caught:
            meshplan.check(self.plan)
        first = caught.exception.errors[0]
        self.assertEqual((first["file"], first["line"], first["column"]), (str(self.plan), 9, 3))
        self.assertIn(first["message"], str(caught.exception))
        self.assertFalse((self.folder / "mlp.sched").exists())

    def test_a_draft_a_difference_and_an_explanation(self) -> None:
        archive = self.export()
        drafted = self.folder / "drafted.plan"
        self.assertEqual(meshplan.init(archive, {"dp": 2, "tp": 2}, output=drafted, train=True), drafted)
        self.assertIn("mesh dp = 2, tp = 2", drafted.read_text())
        self.assertEqual(meshplan.check(drafted)["errors"], [])
        with self.assertRaisesRegex(meshplan.PlanError, "exists"):
            meshplan.init(archive, {"dp": 2}, output=drafted)
        meshplan.init(archive, "dp=2,tp=2", output=drafted, force=True)
        self.assertIn("mesh dp = 2, tp = 2", drafted.read_text())
        meshplan.init(
            archive, output=drafted, source=("megatron", "--tensor-model-parallel-size 2"), ranks=4, force=True
        )
        self.assertIn("the flags of Megatron-LM", drafted.read_text())
        other = self.folder / "other.plan"
        other.write_text(PLAN.replace("up:   colwise tp\n  down: rowwise tp", "rest: replicate"))
        self.assertIn("up.weight", json.dumps(meshplan.diff(self.plan, other, {"samples": 8})))
        why = meshplan.explain(self.plan, "up.weight")
        self.assertIn("colwise tp", json.dumps(why))
        with self.assertRaisesRegex(meshplan.PlanError, "nothing.weight"):
            meshplan.explain(self.plan, "nothing.weight")

    def test_the_version_is_that_of_the_programs(self) -> None:
        self.assertRegex(meshplan.__version__, r"^\d+\.\d+\.\d+$")
        with self.assertRaises(AttributeError):
            _ = meshplan.nothing

    def test_an_exception_goes_between_processes(self) -> None:
        with self.assertRaises(meshplan.PlanError) as caught:
            meshplan.check(self.folder / "none.plan")
        again = pickle.loads(pickle.dumps(caught.exception))
        self.assertEqual(
            (str(again), again.errors, again.warnings),
            (str(caught.exception), caught.exception.errors, caught.exception.warnings),
        )

    def test_what_is_warned_of_is_a_warning(self) -> None:
        self.export()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            meshplan.compile(self.plan)
        self.plan.write_text(PLAN.replace(" over dp", ""))
        with self.assertWarnsRegex(meshplan.PlanWarning, "mesh axis 'dp' splits nothing"):
            meshplan.compile(self.plan)

    def test_arguments_that_are_none(self) -> None:
        inputs, path = {"x": torch.randn(4, 6)}, self.folder / "mlp.pt2"
        for call, kind, message in (
            (lambda: meshplan.check(self.plan, ["tp=1"]), TypeError, "variables are a dict such as {'world': 8}, not"),
            (lambda: meshplan.export(torch.relu, inputs, path), TypeError, "module is a torch.nn.Module, and this is"),
            (lambda: meshplan.export(Mlp(), inputs["x"], path), TypeError, r"write \(tensor,\) for one argument"),
            (lambda: meshplan.export(Mlp(), inputs, self.plan), ValueError, "ends with .pt2, and this one is"),
            (lambda: meshplan.export(Fails(), inputs, self.folder / "no" / "m.pt2"), OSError, "no such folder: .*no$"),
        ):
            with self.assertRaisesRegex(kind, message):
                call()
        self.assertEqual([each.name for each in self.folder.iterdir()], ["mlp.plan"])

    def test_a_link_leads_to_the_archive(self) -> None:
        path = self.folder / "mlp.pt2"
        (self.folder / "kept").mkdir()
        path.symlink_to(self.folder / "kept" / "model.pt2")
        self.export()
        self.assertTrue(path.is_symlink())
        self.assertEqual(len(list((self.folder / "kept").iterdir())), 1)
        self.assertEqual(meshplan.check(self.plan)["errors"], [])

    def test_a_missing_plan(self) -> None:
        with self.assertRaisesRegex(meshplan.PlanError, "none.plan"):
            meshplan.check(self.folder / "none.plan")

    def test_values_that_have_no_form(self) -> None:
        with self.assertRaisesRegex(meshplan.PlanError, "device"):
            meshplan.check(self.plan, device="tpu")

    def test_compile_writes_a_schedule(self) -> None:
        self.export()
        self.assertEqual(meshplan.compile(self.plan), self.folder / "mlp.sched")
        other = meshplan.compile(self.plan, {"tp": 1}, output=self.folder / "other.sched", reference=True, strict=True)
        self.assertGreater(other.stat().st_size, (self.folder / "mlp.sched").stat().st_size)

    def python(self, code: str) -> str:
        return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip()

    def test_the_import_takes_no_pytorch(self) -> None:
        self.assertEqual(self.python("import sys, meshplan; print('torch' in sys.modules)"), "False")

    def test_export_stays_the_function(self) -> None:
        self.assertEqual(
            self.python("import meshplan.export, meshplan._torch; print(meshplan.export is meshplan._torch.export)"),
            "True",
        )

    def run_module(self, *arguments: str, missing: str | None = None) -> subprocess.CompletedProcess[str]:
        hide = f"import sys; sys.modules[{missing!r}] = None; " if missing else ""
        words = ["m", *arguments[1:]]
        run = f"import runpy, sys; sys.argv = {words!r}; runpy.run_module({arguments[0]!r}, run_name='__main__')"
        code = hide + run
        return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    def test_modules_say_which_package_is_missing(self) -> None:
        for module in ("meshplan.export", "meshplan.tokenize"):
            result = self.run_module(module, "--help", missing="transformers")
            self.assertEqual(
                (result.returncode, result.stderr),
                (
                    1,
                    f"python -m {module}: error: import of transformers halted; None in sys.modules; "
                    "help: pip install 'meshplan[hf]'\n",
                ),
            )

    def test_modules_export_models_and_make_data(self) -> None:
        out = str(self.folder / "llama.pt2")
        result = subprocess.run(
            [sys.executable, "-m", "meshplan.export", "--config", "lama", "-o", out], capture_output=True, text=True
        )
        self.assertEqual(
            (result.returncode, result.stderr.splitlines()[-1]),
            (1, "python -m meshplan.export: error: --config lama: neither a file nor a known model type"),
        )
        result = subprocess.run([sys.executable, "-m", "meshplan.tokenize", "--help"], capture_output=True, text=True)
        self.assertIn("usage: python -m meshplan.tokenize ", result.stdout)


if __name__ == "__main__":
    unittest.main()
