"""`python -m meshplan.X` for modules that need packages that the wheel does not depend on."""

from __future__ import annotations

import importlib
import sys


def run_module(name: str, program: str) -> int:
    """Calls main() of the module `name` with the arguments of this process."""
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        print(f"{program}: error: {error}; help: pip install 'meshplan[hf]'", file=sys.stderr)
        return 1
    try:
        return module.main(sys.argv[1:], program)
    except KeyboardInterrupt:
        return 130
