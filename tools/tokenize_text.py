#!/usr/bin/env python3
"""`python -m meshplan.tokenize` of this source tree: makes a data set of text."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

from meshplan.tokenize_text import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
