"""Sharding plans for PyTorch models: the programs `meshplan` and `meshplan-run`, and their Python interface.

`export` writes a module as an archive, `init` drafts a plan for it, `check` reports the effects of a plan, `compile`
writes the schedule that `meshplan-run` trains. Nothing here imports PyTorch before it is used.
"""

from meshplan._plans import PlanError, PlanWarning, check, compile, diff, explain, init
from meshplan._programs import version as _version
from meshplan._torch import export

__all__ = ["PlanError", "PlanWarning", "check", "compile", "diff", "explain", "export", "init"]


def __getattr__(name: str) -> str:
    if name == "__version__":
        return _version()
    raise AttributeError(f"module 'meshplan' has no attribute {name!r}")
