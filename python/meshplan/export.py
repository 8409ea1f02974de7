"""`python -m meshplan.export`: exports a model of Hugging Face. `meshplan.export` is the function for modules."""

import sys

import meshplan
from meshplan._modules import run_module

if __name__ == "__main__":
    sys.exit(run_module("meshplan.hugging_face", "python -m meshplan.export"))
# `import meshplan.export` would otherwise replace the function by this module.
sys.modules[__name__] = meshplan.export  # type: ignore[assignment]
