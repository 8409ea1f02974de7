"""Small random configurations of the model types of transformers, for the survey of drafts.

Sizes follow from the names of the settings, so that two ranks can divide heads, features, groups and experts; the table
at the end has what a model needs besides.
"""

from __future__ import annotations

import re

import transformers
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

VOCABULARY = 128

# What a setting that is a number of this name becomes, the first that matches. Numbers that are smaller stay.
SIZES: list[tuple[str, int]] = [
    (r"vocab_size$|^vocab|vocab_size_per", VOCABULARY),
    (r"(_token_id|_token_index|_index|_token)$", 3),
    (r"(key_value|kv).*heads?$|num_kv|n_kv|kv_n_heads|linear_num_key_heads|num_key_heads", 2),
    (r"mamba_(n|num)_heads|mamba_num_heads|^n_mamba_heads|mamba_n_heads|linear_num_value_heads|num_value_heads", 8),
    (r"n_?groups?$|n_group$|num_groups|ngroups|topk_group", 2),
    (r"d_head$", 16),
    (r"heads?$", 4),
    (r"(qk_rope|rope).*(dim|size)$|rotary_dim|rope_dim", 8),
    (r"head_?(dim|size)$|d_kv$|d_head$|head_dim_.*|kv_channels", 16),
    (r"lora_rank|_rank$|_rank_|low_rank", 16),
    (r"(interval|period|every|frequency|freq|_step)$|moe_layer_freq|sparse_step", 2),
    (r"offset$", 1),
    (r"first_k_dense|num_dense_layers|num_nextn|num_mtp|mtp|n_dense", 1),
    (r"(experts_per|per_tok|top_k$|topk$|num_selected|num_experts_per|experts_per_token|moe_k$|k_selected)", 2),
    (r"shared_experts?$|num_shared|n_shared", 1),
    (r"experts?$|num_local_experts|n_routed|moe_num", 4),
    (r"max_.*positions?$|position_embeddings|n_positions|n_ctx|max_seq|seq_len|context_length|max_position", 64),
    (r"window|block_length", 8),
    (r"chunk_size|block_size|chunk", 8),
    (r"n?_?layers?$|^depth$|num_.*layers|n_layer|_depth$|num_.*blocks?$", 2),
    (r"image_size|img_size|input_size", 32),
    (r"patch", 8),
    (r"state_size|d_state|ssm_state|state_dim", 16),
    (r"intermediate|ffn|inner|mlp|d_ff|feed_forward|feedforward|hidden_dim$", 128),
    (
        r"(hidden|embed|embedding|model|projection|output|channel|channels|width|d_model|n_embd|embd|dim|size|features)$"
        r"|hidden_size|embed|d_model|_dim|dim_|width|lru",
        64,
    ),
]

# Lists of one entry for each layer, of which every kind has to be there.
LAYER_LISTS = re.compile(
    r"layers?_?(block_)?types?$|layer_pattern|layers_block|mlp_layer_types|attention_types|pattern$"
)

OVERRIDES: dict[str, dict[str, object]] = {
    "bamba": {"mamba_n_groups": 2},
    "cohere_compass_text": {"layer_types": ["sliding_attention", "full_attention"]},
    "diffllama": {"num_attention_heads": 8, "num_key_value_heads": 4},
    "donut-swin": {"window_size": 4},
    "dots1": {"n_routed_experts": 4, "n_shared_experts": 1},
    "efficientnet": {"image_size": 64},
    "esm": {"vocab_size": VOCABULARY, "pad_token_id": 1, "mask_token_id": 3},
    "falcon_h1": {"mamba_n_groups": 2, "mamba_d_ssm": 128},
    "gemma3n_text": {"num_kv_shared_layers": 0},
    "gpt_neo": {
        "num_layers": 2,
        "attention_types": [[["global", "local"], 1]],
        "attention_layers": ["global", "local"],
    },
    "granitemoehybrid": {"mamba_n_groups": 2},
    "hunyuan_v1_dense": {"head_dim": 16, "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0}},
    "hunyuan_v1_moe": {"head_dim": 16, "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0}},
    "mamba2": {"num_heads": 8},
    "ministral": {"head_dim": 16},
    "mobilevitv2": {"image_size": 64},
    "nemotron": {"head_dim": 16, "num_key_value_heads": 2},
    "reformer": {"is_decoder": True},
    "swin": {"window_size": 4},
    "xlstm": {"num_heads": 4, "hidden_size": 64},
    "xmod": {"default_language": "en_XX"},
    "zamba2": {"mamba_ngroups": 2, "attention_hidden_size": 128, "attention_head_dim": 32},
}


def small_number(name: str, value: int) -> int:
    for pattern, size in SIZES:
        if re.search(pattern, name):
            return min(value, size)
    return value


def small_list(name: str, values: list) -> list:
    """Sizes of stages grow; what counts layers is one each."""
    if not values or not all(isinstance(value, int) and not isinstance(value, bool) for value in values):
        return values
    if re.search(r"depth|layers|blocks", name):
        return [min(value, 1) for value in values]
    if re.search(r"heads", name):
        return [2 if index < 2 else 4 for index in range(len(values))]
    if re.search(r"hidden_sizes|embed_dims?|dims?$|channels|hidden_dims|neck|widths", name):
        return [min(value, 16 << min(index, 3)) for index, value in enumerate(values)]
    return values


def is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def small(values: dict, is_top: bool = True) -> dict:
    """The settings that differ, at any depth."""
    made: dict[str, object] = {}
    layers = [name for name, value in values.items() if LAYER_LISTS.search(name) and isinstance(value, list)]
    kinds: list = []
    for name in layers:
        kinds = list(dict.fromkeys(str(value) for value in values[name]))
    for name, value in values.items():
        if isinstance(value, dict) and name.endswith("config"):
            made[name] = {
                **small(value, False),
                **({"model_type": value["model_type"]} if "model_type" in value else {}),
            }
        elif is_number(value):
            made[name] = small_number(name, value)
        elif isinstance(value, list) and name not in layers:
            made[name] = small_list(name, value)
    if "qk_rope_head_dim" in made and "head_dim" in made:
        made["head_dim"] = made["qk_rope_head_dim"]
    if {"qk_head_dim", "qk_rope_head_dim", "qk_nope_head_dim"} <= made.keys():
        made["qk_head_dim"] = made["qk_rope_head_dim"] + made["qk_nope_head_dim"]
    # Latent keys and values are made for each head.
    if "kv_lora_rank" in values and {"num_key_value_heads", "num_attention_heads"} <= made.keys():
        made["num_key_value_heads"] = made["num_attention_heads"]
    count = max(2, len(kinds))
    for name in layers:
        own = [value for index, value in enumerate(values[name]) if value not in values[name][:index]]
        made[name] = [own[index % len(own)] for index in range(count)] if own else []
    if layers:
        for name in ("num_hidden_layers", "n_layer", "num_layers", "n_layers"):
            if name in values:
                made[name] = count
    return {name: value for name, value in made.items() if value != values[name] or isinstance(value, dict)}


def merged(values: dict, other: dict) -> dict:
    result = dict(values)
    for name, value in other.items():
        nested = isinstance(value, dict) and isinstance(result.get(name), dict)
        result[name] = merged(result[name], value) if nested else value
    return result


def small_values(name: str) -> dict:
    """The settings of a small model of this type."""
    config: transformers.PretrainedConfig = CONFIG_MAPPING[name]()
    return merged(small(config.to_dict()), OVERRIDES.get(name, {}))
