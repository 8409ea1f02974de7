"""Runs a command of the package by its name.

  python test/harness COMMAND [WORD...]

A command is a module with a function `main`, which gets the words and returns the exit status.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
# The folder itself would hide modules of Python by the names of its own.
sys.path[0] = str(FOLDER.parent)
sys.path.insert(1, str(FOLDER.parents[1] / "python"))

COMMANDS = {
    "runs": "autocast bound_draws evaluation fault forward gradients memory outputs verify",
    "trainings": "adapters data drawn experts export log matrix mixtures nonfinite peaks same_bits shares training",
    "processes": "end_by_signal expect_failure interrupts kills launch mpi run_mpi run_processes slurm",
    "files": "damage damage_archive damage_model_json damage_schedule damage_tensors make_fixtures"
    " make_megatron_dataset random_tensors written",
    "models": "make_models",
    "survey": "architectures init model_table",
    "tables": "random_ops strides",
    "differential": "differential elsewhere",
    "operator_samples": "operator_samples",
}


def main(words: list[str]) -> int:
    rooms = {name: room for room, names in COMMANDS.items() for name in names.split()}
    if not words or words[0] not in rooms:
        print(
            f"harness: error: no command '{' '.join(words[:1])}'; there are {', '.join(sorted(rooms))}", file=sys.stderr
        )
        return 2
    name, room = words[0], rooms[words[0]]
    sys.argv[:2] = [f"harness {name}"]
    module = importlib.import_module(f"harness.{room}.{'command' if name == room else name}")
    return module.main(words[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
