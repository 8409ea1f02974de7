"""The programs of the package, and the commands with their names that a wheel installs."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NoReturn

FOLDER = Path(__file__).parent / "bin"
# Folders with libraries of PyTorch, relative to the parent of `torch`; programs of a wheel find them by themselves.
LIBRARIES = ("torch/lib", "nvidia/nccl/lib", "nvidia/cu13/lib")


class ProgramError(Exception):
    """A program that cannot start; the text is for the user."""


def candidates(name: str) -> Iterator[str]:
    """The programs of that name in PATH, in its order."""
    for folder in os.get_exec_path():
        if found := shutil.which(name, path=folder):
            yield found


def is_other_file(file: str) -> bool:
    """False for the command that runs: an installed one that finds this package in PYTHONPATH would start itself."""
    return not (os.path.exists(sys.argv[0]) and os.path.samefile(file, sys.argv[0]))


def program(name: str) -> str:
    """The file of a program: the package's own, or, in a source tree, the one in PATH."""
    own = FOLDER / name
    found = str(own) if own.is_file() else next(filter(is_other_file, candidates(name)), None)
    if found is None:
        raise ProgramError(
            f"{name} is neither in {FOLDER} nor in PATH; help: install the wheel of meshplan, or build it"
        )
    return found


def version() -> str:
    """The version of the programs, such as 0.1.0."""
    said = subprocess.run([program("meshplan"), "--version"], check=True, capture_output=True, text=True).stdout
    return said.split()[1]


def public(version: str) -> str:
    """The version without its local part: 2.11.0 for 2.11.0+cpu."""
    return version.partition("+")[0]


def series(version: str) -> str:
    """2.11 for 2.11.0: the interface of PyTorch's libraries is stable within a series."""
    return ".".join(public(version).split(".")[:2])


def advice(version: str) -> str:
    return f"help: {sys.executable} -m pip install 'torch=={version}'"


def installed_torch(built: str) -> tuple[Path, str]:
    """The folder that holds the installed `torch`, and its version. `torch` is not imported, which would take seconds.

    Fails if it is of another series than `built`.
    """
    spec = importlib.util.find_spec("torch")
    locations = spec.submodule_search_locations if spec else None
    version_file = Path(locations[0]) / "version.py" if locations else None
    if version_file is None or not version_file.is_file():
        raise ProgramError(
            f"PyTorch is not installed, and this meshplan-run needs version {built}; {advice(series(built) + '.*')}"
        )
    folder = version_file.parents[1]
    match = re.search(r"""__version__ = ['"](.+)['"]""", version_file.read_text())
    version = match[1] if match else "an unknown version"
    if series(version) != series(built):
        raise ProgramError(
            f"it was built against PyTorch {built}, and {version} is installed in {folder}; "
            + advice(series(built) + ".*")
        )
    return folder, version


def environment(folder: Path) -> dict[str, str]:
    """This process's environment, extended so that the loader finds a PyTorch that is not beside this package."""
    variables = dict(os.environ)
    if folder.resolve() != FOLDER.parents[1].resolve():
        given = [variables["LD_LIBRARY_PATH"]] if variables.get("LD_LIBRARY_PATH") else []
        variables["LD_LIBRARY_PATH"] = os.pathsep.join([*(str(folder / part) for part in LIBRARIES), *given])
    return variables


def check_that_it_loads(file: Path, built: str, found: str, variables: Mapping[str, str]) -> None:
    """Another build of the same series (2.11.1, 2.11.0+cpu) should have all symbols; the loader checks it."""
    if found == built:
        return
    result = subprocess.run(
        [file, "--version"],
        env={**variables, "LD_BIND_NOW": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    if result.returncode != 0:
        reason = result.stderr.strip() or f"it ended with status {result.returncode}"
        raise ProgramError(
            f"it was built against PyTorch {built} and does not start with {found}: {reason}; {advice(public(built))}"
        )


def start(name: str, variables: Mapping[str, str]) -> NoReturn:
    """Replaces this process by the program, so that signals and the exit status are the program's."""
    file = program(name)
    sys.stdout.flush()
    os.execve(file, [name, *sys.argv[1:]], dict(variables))


def fail(name: str, error: Exception) -> NoReturn:
    print(f"{name}: error: {error}", file=sys.stderr)
    sys.exit(1)


def meshplan() -> NoReturn:
    try:
        start("meshplan", os.environ)
    except (ProgramError, OSError) as error:
        fail("meshplan", error)


def meshplan_run() -> NoReturn:
    try:
        built = (FOLDER / "torch_version").read_text().strip()
        folder, found = installed_torch(built)
        variables = environment(folder)
        check_that_it_loads(FOLDER / "meshplan-run", built, found, variables)
        start("meshplan-run", variables)
    except (ProgramError, OSError) as error:
        fail("meshplan-run", error)
