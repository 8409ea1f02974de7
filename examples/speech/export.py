#!/usr/bin/env python3
"""Exports a small speech-language model and its initial weights into the current folder.

  export.py [--batch N] [--width N] [--layers N]

One module holds a Whisper encoder, a projection, and a Llama decoder which reads what the projection gives in front of
the text. Its inputs are those of make_data.py.
"""

from __future__ import annotations

import argparse

import torch
from safetensors.torch import save_file
from torch import nn
from transformers import LlamaConfig, LlamaForCausalLM, WhisperConfig
from transformers.models.whisper.modeling_whisper import WhisperEncoder

MELS, FRAMES = 40, 200  # of the log-mel features of 2 s
TOKENS = 6  # of the text: start, four digits, end
WORDS = 12  # ten digits, start, end
STACKED = 4  # positions of the encoder that become one of the decoder


class SpeechModel(nn.Module):
    def __init__(self, width: int, layers: int) -> None:
        super().__init__()
        self.encoder = WhisperEncoder(
            WhisperConfig(
                d_model=width,
                encoder_layers=layers,
                encoder_attention_heads=4,
                encoder_ffn_dim=2 * width,
                num_mel_bins=MELS,
                max_source_positions=FRAMES // 2,
                # There are no weights to begin with: what stays as it is drawn has to let sound pass.
                init_std=width**-0.5,
            )
        )
        wide = 2 * width
        self.projection = nn.Sequential(nn.Linear(STACKED * width, wide), nn.GELU(), nn.Linear(wide, wide))
        self.decoder = LlamaForCausalLM(
            LlamaConfig(
                hidden_size=wide,
                intermediate_size=2 * wide,
                num_hidden_layers=layers,
                num_attention_heads=4,
                num_key_value_heads=2,
                vocab_size=WORDS,
                bos_token_id=WORDS - 2,
                eos_token_id=WORDS - 1,
                use_cache=False,
            )
        )

    def forward(self, features: torch.Tensor, input_ids: torch.Tensor) -> dict[str, torch.Tensor]:
        heard = self.encoder(features).last_hidden_state
        heard = self.projection(heard.unflatten(1, (-1, STACKED)).flatten(2))
        read = self.decoder.model.embed_tokens(input_ids)
        hidden = self.decoder.model(inputs_embeds=torch.cat([heard, read], dim=1)).last_hidden_state
        logits = self.decoder.lm_head(hidden[:, heard.shape[1] :])
        # After each word the next one is to be predicted.
        loss = nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), input_ids[:, 1:].flatten())
        return {"loss": loss, "logits": logits}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--width", type=int, default=64, help="of the encoder; the decoder's is twice that")
    parser.add_argument("--layers", type=int, default=2, help="of the encoder and of the decoder")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    model = SpeechModel(arguments.width, arguments.layers).eval()  # its dropouts have a probability of 0
    inputs = {
        "features": torch.randn(arguments.batch, MELS, FRAMES),
        "input_ids": torch.randint(WORDS, (arguments.batch, TOKENS)),
    }
    program = torch.export.export(model, (), inputs)
    torch.export.save(program, "speech.pt2")
    save_file(model.state_dict(), "speech.safetensors")
    save_file(inputs, "inputs.safetensors")


if __name__ == "__main__":
    main()
