"""Command lines that commands have in common."""

from __future__ import annotations

import argparse
from pathlib import Path

PROGRAMS = {"meshplan": "meshplan", "meshplan-run": "meshplan-run", "steps-program": "run-steps"}


def parser_of(doc: str | None, *options: str) -> argparse.ArgumentParser:
    """A parser for a command with this documentation, and with these groups of options: `work`, `folders`, `programs`,
    `run` (one plan on one mesh), `runs` (several), `device`, `activations`."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in options:
        GROUPS[name](parser)
    return parser


def add_work(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--work", type=Path, required=True, help="where the command writes")


def add_folders(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--models", type=Path, required=True, help="where archives are, or are made")
    add_work(parser)


def add_programs(parser: argparse.ArgumentParser) -> None:
    for name, program in PROGRAMS.items():
        parser.add_argument(f"--{name}", default=program)


def add_runs(parser: argparse.ArgumentParser, several: bool = True) -> None:
    """A model, its plans, and the meshes that each of them is run on."""
    parser.add_argument("model", help="a name of models/make_models.py")
    add_folders(parser)
    add_programs(parser)
    number = "+" if several else None
    parser.add_argument("--plan", type=Path, nargs=number, required=True)
    parser.add_argument("--mesh", nargs=number, required=True)
    parser.add_argument("--statement", action="append", default=[], help="another statement of the plan")


def add_device(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="for which plans are compiled")
    parser.add_argument("--cluster", type=Path, help="the machines for which plans are compiled")


def add_activations(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--activations", choices=("bf16", "f16", "f32"), help="of partial sums while they are sent")


GROUPS = {
    "activations": add_activations,
    "device": add_device,
    "folders": add_folders,
    "programs": add_programs,
    "run": lambda parser: add_runs(parser, several=False),
    "runs": add_runs,
    "work": add_work,
}
