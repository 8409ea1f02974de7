#!/usr/bin/env python3
"""Runs the whole path for one model under several plans and meshes, and compares with PyTorch.

  check_forward.py MODEL --models FOLDER --work FOLDER --plan P.plan... --mesh dp=2,tp=2...

MODEL is a name of make_models.py; its archive is made in --models when it is not there. Each plan names "model.pt2".
For each plan and mesh: compile, run the ranks as threads, compare every output as compare_forward.py does, and compare
the memory that was metered with what the compiler planned: parameters exactly, the peak within 20 %.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from compare_forward import Reference, load_program
from safetensors.torch import load_file

PEAK_TOLERANCE = 0.2  # of the planned peak; what `check` promises


def check_memory(memory: dict, label: str) -> bool:
    """True if what the ranks metered agrees with the plan, which says the largest of them."""
    planned, ranks = memory["planned"], memory["ranks"]
    right = True
    held = max(rank["parameters"] for rank in ranks)
    if held != planned["parameters"]:
        print(f"{label}: the largest rank holds {held} bytes of parameters, planned {planned['parameters']}")
        right = False
    peak = max(rank["peak"] for rank in ranks)
    if abs(peak - planned["peak"]) > PEAK_TOLERANCE * planned["peak"]:
        print(f"{label}: the largest rank has a peak of {peak} bytes, planned {planned['peak']}")
        right = False
    return right


def forward(arguments: argparse.Namespace, plan: Path, mesh: str, output: Path) -> bool:
    """Compiles and runs one cell; false if the memory disagrees."""
    base = arguments.models / arguments.model
    definitions = [f"-D{axis}" for axis in mesh.split(",")]
    schedule = output.with_suffix(".sched")
    subprocess.run([arguments.meshplan, "compile", plan, *definitions, "-o", schedule], check=True)
    files = ["--weights", f"{base}.safetensors", "--inputs", f"{base}.inputs.safetensors", "--outputs", output]
    command = [arguments.meshplan_run, "forward", schedule, *files, "--json", "--timeout", "120"]
    result = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    return check_memory(json.loads(result.stdout)["memory"], output.stem)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--models", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--plan", type=Path, nargs="+", required=True)
    parser.add_argument("--mesh", nargs="+", required=True)
    parser.add_argument("--meshplan", default="meshplan")
    parser.add_argument("--meshplan-run", default="meshplan-run")
    arguments = parser.parse_args()

    maker = Path(__file__).with_name("make_models.py")
    subprocess.run([sys.executable, maker, arguments.models, arguments.model], check=True)
    arguments.work.mkdir(parents=True, exist_ok=True)
    archive = arguments.models / f"{arguments.model}.pt2"
    right = True
    outputs: list[Path] = []
    for plan in arguments.plan:
        copy = arguments.work / plan.name
        copy.write_text(plan.read_text().replace("model.pt2", str(archive.resolve())))
        for mesh in arguments.mesh:
            outputs.append(arguments.work / f"{plan.stem}-{mesh.replace('=', '').replace(',', '-')}.safetensors")
            right &= forward(arguments, copy, mesh, outputs[-1])

    inputs = load_file(f"{arguments.models / arguments.model}.inputs.safetensors")
    reference = Reference(load_program(archive), inputs)
    for output in outputs:
        right &= reference.compare(load_file(output), output.stem)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
