"""`python -m meshplan.tokenize`: makes a data set from text."""

import sys

from meshplan._modules import run_module

if __name__ == "__main__":
    sys.exit(run_module("meshplan.tokenize_text", "python -m meshplan.tokenize"))
