"""The same models in PyTorch.

Separate from models.py, because the memory of a process that imports PyTorch would be counted as the compiler's.
"""

from __future__ import annotations

from bench import models
from meshplan import hugging_face


def load(model: models.Model) -> hugging_face.Model:
    arguments = hugging_face.parse_arguments([*model.source, "--attention", "sdpa", "-o", "not-written.pt2"])
    return hugging_face.load_model(arguments, hugging_face.load_config(arguments))
