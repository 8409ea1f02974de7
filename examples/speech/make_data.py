#!/usr/bin/env python3
"""Makes speech and what is said: four digits, spoken by the voices of espeak-ng (a package of Debian).

  make_data.py [--samples N] [--held-out N] [--voices NAME...]

Writes train.safetensors and held_out.safetensors into the current folder, with `features`, the log-mel features of
Whisper for 2 s, and `input_ids`: the word that begins a text (10), four digits, and the word that ends it (11).
"""

from __future__ import annotations

import argparse
import io
import subprocess
import sys
import wave

import numpy
import torch
from safetensors.torch import save_file
from transformers import WhisperFeatureExtractor

RATE, SECONDS, DIGITS = 22050, 2, 4  # of espeak-ng; of a sample
START, END = 10, 11
VOICES = ("en-gb", "en-us", "en-us+f3", "en-gb-scotland+m3", "en-gb-x-rp+f4", "en-us+m7")


def spoken(digit: int, voice: str) -> numpy.ndarray:
    """One word, without the silence around it."""
    command = ["espeak-ng", "-v", voice, "-s", "200", "--stdout", str(digit)]
    with wave.open(io.BytesIO(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)) as file:
        sound = numpy.frombuffer(file.readframes(file.getnframes()), numpy.int16).astype(numpy.float32) / 32768
    (loud,) = numpy.nonzero(numpy.abs(sound) > 0.01)
    return sound[loud[0] : loud[-1] + 1]


def sample(digits: numpy.ndarray, words: list[numpy.ndarray], random: numpy.random.Generator) -> numpy.ndarray:
    """The digits one after the other, each somewhere in its part of the time, over a little noise."""
    sound = random.normal(0, 0.003, SECONDS * RATE).astype(numpy.float32)
    part = len(sound) // len(digits)
    for place, digit in enumerate(digits):
        word = words[digit][:part]
        start = place * part + random.integers(part - len(word) + 1)
        sound[start : start + len(word)] += word
    return sound


def save(path: str, count: int, voices: list[list[numpy.ndarray]], random: numpy.random.Generator) -> None:
    extract = WhisperFeatureExtractor(
        feature_size=40, sampling_rate=RATE, hop_length=RATE // 100, n_fft=512, chunk_length=SECONDS
    )
    digits = random.integers(10, size=(count, DIGITS))
    sounds = [sample(row, voices[random.integers(len(voices))], random) for row in digits]
    features = extract(sounds, sampling_rate=RATE, return_tensors="pt").input_features
    text = numpy.pad(digits, [(0, 0), (1, 1)], constant_values=(START, END))
    save_file({"features": features, "input_ids": torch.from_numpy(text)}, path)
    print(f"{path}: {count} samples of {len(voices)} voices, features {list(features.shape[1:])}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=4096)
    parser.add_argument("--held-out", type=int, default=256)
    parser.add_argument("--voices", nargs="+", default=VOICES, help="of espeak-ng")
    arguments = parser.parse_args()
    try:
        voices = [[spoken(digit, voice) for digit in range(10)] for voice in arguments.voices]
    except FileNotFoundError:
        print("make_data.py: error: espeak-ng is not installed; help: apt-get install espeak-ng", file=sys.stderr)
        return 1
    random = numpy.random.default_rng(0)
    save("train.safetensors", arguments.samples, voices, random)
    save("held_out.safetensors", arguments.held_out, voices, random)
    return 0


if __name__ == "__main__":
    sys.exit(main())
