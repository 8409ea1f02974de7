"""The metadata of the wheel: version, the PyTorch that its programs were built against, and the platform."""

from __future__ import annotations

import subprocess
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel

PROGRAMS = Path(__file__).parent / "meshplan" / "bin"


class BinaryDistribution(Distribution):
    """Installed where the files of one platform are."""

    def has_ext_modules(self) -> bool:
        return True


class AnyPython(bdist_wheel):
    """For every Python 3 of this platform: the modules are Python."""

    def get_tag(self) -> tuple[str, str, str]:
        return "py3", "none", super().get_tag()[2]


said = subprocess.run([PROGRAMS / "meshplan", "--version"], check=True, capture_output=True, text=True).stdout
series = ".".join((PROGRAMS / "torch_version").read_text().split(".")[:2])
setup(
    version=said.split()[1],
    install_requires=[f"torch=={series}.*"],
    distclass=BinaryDistribution,
    cmdclass={"bdist_wheel": AnyPython},
)
