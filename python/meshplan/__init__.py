"""Sharding plans for PyTorch models: the programs `meshplan` and `meshplan-run`, and what Python needs beside them.

`export` writes a module as an archive that plans name, `check` says what a plan makes of it, `compile` writes the
schedule that `meshplan-run` trains. Nothing here imports PyTorch before it is used.
"""

from meshplan._plans import PlanError, PlanWarning, check, compile
from meshplan._torch import export

__all__ = ["PlanError", "PlanWarning", "check", "compile", "export"]
