"""The same models in PyTorch.

Apart from models.py: the memory of a process that imports PyTorch would count as the compiler's.
"""

from __future__ import annotations

import export_model
from bench import models


def load(model: models.Model) -> export_model.Model:
    arguments = export_model.parse_arguments([*model.source, "--attention", "sdpa", "-o", "not-written.pt2"])
    return export_model.load_model(arguments, export_model.load_config(arguments))
