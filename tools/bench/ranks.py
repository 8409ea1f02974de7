"""Compiles a model for several ranks, and measures their forward pass with `meshplan-run bench`."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from bench import models

SCHEDULE = "bench.sched"


def compile_schedule(model: models.Model, programs: Path, where: Path, **definitions: int) -> None:
    command = [str(programs / "meshplan"), "compile", model.plan.name, "-o", SCHEDULE]
    command += [f"-D{name}={value}" for name, value in definitions.items()]
    subprocess.run(command, cwd=where, check=True)


def measure(programs: Path, where: Path, steps: int, launcher: tuple[str, ...] = ()) -> dict:
    """The report of `meshplan-run bench`, for ranks that are threads, or processes of the launcher."""
    command = [*launcher, str(programs / "meshplan-run"), "bench", SCHEDULE, "--steps", str(steps), "--json"]
    command += ["--weights", "weights.safetensors", "--inputs", "inputs.safetensors"]
    output = subprocess.run(command, cwd=where, check=True, stdout=subprocess.PIPE).stdout
    return json.loads(output)


def step_seconds(programs: Path, where: Path, steps: int, launcher: tuple[str, ...] = ()) -> float:
    """Median seconds of a step of the slowest rank."""
    return measure(programs, where, steps, launcher)["step_seconds"]["median"]


def load_seconds(programs: Path, where: Path) -> float:
    """Seconds until the slowest rank has its weights and inputs."""
    return measure(programs, where, steps=1)["load_seconds"]
