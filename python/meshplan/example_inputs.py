"""Random inputs for the models that export_model.py exports."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Callable, Mapping

import torch
import transformers

Tensors = dict[str, torch.Tensor]
Model = transformers.PreTrainedModel


class UsageError(Exception):
    """A request that cannot be met; its text is for the user."""


def accepts(model: Model, name: str) -> bool:
    return name in inspect.signature(model.forward).parameters


# Settings that determine inputs, if a configuration has them; otherwise a common size is used.
INPUT_SETTINGS = ("image_size", "num_channels")


def setting(config: transformers.PretrainedConfig, name: str, otherwise: int | None = None) -> int | list[int]:
    """A setting of a configuration or of one of the configurations inside it."""
    for holder in (config, *(getattr(config, part) for part in type(config).sub_configs)):
        if (value := getattr(holder, name, None)) is not None:
            return value
    if otherwise is None:
        raise UsageError(f"{type(config).__name__} has no {name}")
    return otherwise


class InputMaker:
    """Makes the inputs of one model by name."""

    def __init__(self, model: Model, arguments: argparse.Namespace) -> None:
        self.model, self.config, self.arguments = model, model.config, arguments
        self.generator = torch.Generator().manual_seed(arguments.seed)
        self.batch, self.sequence = arguments.batch, arguments.sequence
        self.decoder_sequence = arguments.decoder_sequence

    def integers(self, high: int, *shape: int) -> torch.Tensor:
        return torch.randint(high, (self.batch, *shape), generator=self.generator)

    def reals(self, *shape: int) -> torch.Tensor:
        return torch.randn(self.batch, *shape, generator=self.generator).to(getattr(torch, self.arguments.dtype))

    def tokens(self, sequence: int) -> torch.Tensor:
        return self.integers(self.config.get_text_config().vocab_size, sequence)

    def mask(self, sequence: int) -> torch.Tensor:
        """All ones except for the end of the last sample, so that the mask has an effect."""
        mask = torch.ones(self.batch, sequence, dtype=torch.int64)
        mask[-1, sequence - sequence // 4 :] = 0
        return mask

    def pixels(self) -> torch.Tensor:
        size = setting(self.config, "image_size", 224)
        sides = (size, size) if isinstance(size, int) else tuple(size)
        return self.reals(setting(self.config, "num_channels", 3), *sides)

    def audio_features(self) -> torch.Tensor:
        # The convolutions before the encoder halve the number of frames.
        return self.reals(self.config.num_mel_bins, 2 * self.config.max_source_positions)

    def waveform(self) -> torch.Tensor:
        """Enough samples for `sequence` steps of the encoder, and for the border of its convolutions."""
        return self.reals(self.config.inputs_to_logits_ratio * self.sequence + 80)

    def labels(self) -> torch.Tensor:
        if not accepts(self.model, "labels"):
            raise UsageError(f"--loss: {type(self.model).__name__}.forward() takes no labels")
        if type(self.model).__name__.endswith(("SequenceClassification", "ImageClassification")):
            return self.integers(self.config.num_labels)
        return self.tokens(self.decoder_sequence if self.config.is_encoder_decoder else self.sequence)

    def make(self, name: str) -> torch.Tensor:
        return MAKERS[name](self)


MAKERS: Mapping[str, Callable[[InputMaker], torch.Tensor]] = {
    "input_ids": lambda maker: maker.tokens(maker.sequence),
    "attention_mask": lambda maker: maker.mask(maker.sequence),
    "token_type_ids": lambda maker: maker.integers(setting(maker.config, "type_vocab_size"), maker.sequence),
    "decoder_input_ids": lambda maker: maker.tokens(maker.decoder_sequence),
    "decoder_attention_mask": lambda maker: maker.mask(maker.decoder_sequence),
    "pixel_values": InputMaker.pixels,
    "input_features": InputMaker.audio_features,
    "input_values": InputMaker.waveform,
    "labels": InputMaker.labels,
}


def input_names(model: Model, arguments: argparse.Namespace) -> list[str]:
    names = [model.main_input_name]
    if arguments.attention_mask:
        names.append("attention_mask")
    names += arguments.input
    if model.config.is_encoder_decoder and not arguments.loss:
        names.append("decoder_input_ids")
    if arguments.loss and not takes_loss_flag(model):
        names.append("labels")
    return list(dict.fromkeys(names))


def takes_loss_flag(model: Model) -> bool:
    """True for models whose loss needs no labels, only a flag."""
    return accepts(model, "return_loss") and not accepts(model, "labels")


def constant_inputs(model: Model, arguments: argparse.Namespace) -> dict[str, bool]:
    """Arguments that are not tensors: constants of the exported program, not inputs."""
    return {"return_loss": True} if arguments.loss and takes_loss_flag(model) else {}


def example_inputs(model: Model, arguments: argparse.Namespace) -> Tensors:
    """Random inputs. No two names share a tensor, because the trace would treat them as one input."""
    maker = InputMaker(model, arguments)
    inputs: Tensors = {}
    for name in input_names(model, arguments):
        if name != "labels" and not accepts(model, name):
            raise UsageError(f"--input {name}: {type(model).__name__}.forward() takes no {name}")
        if name not in MAKERS:
            raise UsageError(f"{type(model).__name__}: inputs named {name} cannot be made")
        inputs[name] = maker.make(name)
    return inputs
