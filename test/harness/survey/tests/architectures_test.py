"""Tests of survey/architectures.py and survey/small_configs.py."""

from __future__ import annotations

import unittest

from harness.survey import architectures, small_configs


def parameter(name: str, layout: str) -> dict:
    return {"names": [name], "layout": layout}


class Parts(unittest.TestCase):
    def test_are_whole_if_none_of_their_weights_is_divided(self) -> None:
        parameters = [
            parameter("h.0.attn.q.weight", "[8 over tp, 8]"),
            parameter("h.0.attn.k.weight", "[8, 8]"),
            parameter("h.0.mlp.up.weight", "[8, 8]"),
            parameter("h.0.mlp.up.bias", "[8]"),
            parameter("h.0.mlp.experts.down", "[2, 8, 8]"),
            parameter("h.1.mixer.in_proj.weight", "[8, 8]"),
        ]
        found = architectures.whole_parts(parameters, {"h.1.mixer.in_proj.weight"})
        self.assertEqual(found, {"experts": ["h.*.mlp.experts"], "mlp": ["h.*.mlp"]})

    def test_of_what_lies_beside_them_nothing_counts(self) -> None:
        for name in ("h.0.mlp.gate.weight", "h.0.mlp.router.weight", "h.0.attn.relative_attention_bias.weight"):
            self.assertIsNone(architectures.part_of(name), name)
        self.assertEqual(architectures.part_of("h.0.mlp.gate_proj.weight"), ("mlp", "h.*.mlp"))


class Configurations(unittest.TestCase):
    def test_have_small_sizes_that_two_ranks_divide(self) -> None:
        values = {"hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 32000}
        small = small_configs.small(values | {"rms_norm_eps": 1e-5, "num_experts": 1, "head_dim": 128})
        self.assertEqual(
            small,
            {"hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 128, "head_dim": 16},
        )

    def test_keep_a_layer_of_each_kind(self) -> None:
        kinds = ["linear_attention"] * 3 + ["full_attention"]
        small = small_configs.small({"layer_types": kinds * 6, "num_hidden_layers": 24})
        self.assertEqual(small, {"layer_types": ["linear_attention", "full_attention"], "num_hidden_layers": 2})

    def test_have_heads_of_two_parts_with_latent_keys(self) -> None:
        heads = {"num_attention_heads": 128, "num_key_value_heads": 128, "kv_lora_rank": 512}
        small = small_configs.small(
            heads | {"qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "qk_head_dim": 192, "head_dim": 64}
        )
        self.assertEqual(small["qk_head_dim"], small["qk_nope_head_dim"] + small["qk_rope_head_dim"])
        self.assertEqual((small["num_key_value_heads"], small["head_dim"]), (4, small["qk_rope_head_dim"]))

    def test_have_small_configurations_inside(self) -> None:
        small = small_configs.small({"text_config": {"model_type": "t", "hidden_size": 512}})
        self.assertEqual(small, {"text_config": {"model_type": "t", "hidden_size": 64}})
