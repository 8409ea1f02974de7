#!/usr/bin/env python3
"""`python -m meshplan.export` of this source tree: exports a model of Hugging Face."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

from meshplan.hugging_face import main, parse_arguments, run

__all__ = ["main", "parse_arguments", "run"]

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
