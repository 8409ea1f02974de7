#!/usr/bin/env python3
"""Tests of the commands that a wheel installs, on a copy of the package with scripts in place of the programs."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "meshplan"
ECHO = '#!/bin/sh\necho "$0 $* LD_LIBRARY_PATH=$LD_LIBRARY_PATH"\nexit 3\n'


class Programs(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.site = Path(folder.name).resolve()
        shutil.copytree(PACKAGE, self.site / "meshplan", ignore=shutil.ignore_patterns("__pycache__", "bin"))
        self.programs = self.site / "meshplan" / "bin"
        self.programs.mkdir()
        (self.programs / "torch_version").write_text("2.11.0+cu130\n")
        for name in ("meshplan", "meshplan-run"):
            self.script(name, ECHO)

    def script(self, name: str, text: str) -> None:
        file = self.programs / name
        file.write_text(text)
        file.chmod(0o755)

    def install_torch(self, version: str, site: Path | None = None) -> Path:
        """A package that only looks like PyTorch."""
        site = site or self.site
        (site / "torch").mkdir(parents=True)
        (site / "torch" / "version.py").write_text(f"__version__ = '{version}'\n")
        (site / "torch" / "__init__.py").write_text("raise ImportError('the commands import no torch')\n")
        return site

    def run_command(
        self, name: str, *arguments: str, path: tuple[Path, ...] = (), **variables: str
    ) -> subprocess.CompletedProcess[str]:
        # -S: without the packages of this environment, which has a torch.
        places = [str(self.site), *map(str, path)]
        code = f"import sys; sys.path[:0] = {places!r}; import meshplan._programs as p; p.{name}()"
        return subprocess.run(
            [sys.executable, "-S", "-c", code, *arguments],
            env={"PATH": "/usr/bin:/bin", **variables},
            capture_output=True,
            text=True,
        )

    def expect_error(self, message: str, **options: tuple[Path, ...]) -> None:
        result = self.run_command("meshplan_run", "train", **options)
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertEqual(result.stderr, f"meshplan-run: error: {message}\n")

    def test_the_compiler_needs_no_torch(self) -> None:
        result = self.run_command("meshplan", "check", "a b.plan")
        self.assertEqual((result.returncode, result.stderr), (3, ""))
        self.assertEqual(result.stdout, f"{self.programs}/meshplan check a b.plan LD_LIBRARY_PATH=\n")

    def test_a_torch_beside_the_package_is_found_by_the_program(self) -> None:
        self.install_torch("2.11.0+cu130")
        result = self.run_command("meshplan_run", "train", "F.sched")
        self.assertEqual((result.returncode, result.stderr), (3, ""))
        self.assertEqual(result.stdout, f"{self.programs}/meshplan-run train F.sched LD_LIBRARY_PATH=\n")

    def test_a_torch_elsewhere_is_shown_to_the_loader(self) -> None:
        other = self.install_torch("2.11.0+cu130", self.site / "other")
        result = self.run_command("meshplan_run", path=(other,), LD_LIBRARY_PATH="/mine")
        folders = f"{other}/torch/lib:{other}/nvidia/nccl/lib:{other}/nvidia/cu13/lib:/mine"
        self.assertEqual(result.stdout, f"{self.programs}/meshplan-run  LD_LIBRARY_PATH={folders}\n")

    def test_without_torch(self) -> None:
        self.expect_error(
            "PyTorch is not installed, and this meshplan-run needs version 2.11.0+cu130; "
            f"help: {sys.executable} -m pip install 'torch==2.11.*'"
        )

    def test_another_torch(self) -> None:
        for version in ("2.12.0", "2.10.1", "3.11.0+cpu"):
            site = self.install_torch(version, self.site / version)
            self.expect_error(
                f"it was built against PyTorch 2.11.0+cu130, and {version} is installed in {site}; "
                f"help: {sys.executable} -m pip install 'torch==2.11.*'",
                path=(site,),
            )

    def test_another_build_of_the_same_series_may_serve(self) -> None:
        self.install_torch("2.11.1+cpu")
        self.script("meshplan-run", '#!/bin/sh\n[ "$1" = --version ] && exit 0\necho "runs with $1"\n')
        result = self.run_command("meshplan_run", "train")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "runs with train\n", ""))

    def test_another_build_of_the_same_series_may_lack_a_symbol(self) -> None:
        self.install_torch("2.11.1+cpu")
        self.script("meshplan-run", '#!/bin/sh\necho "symbol lookup error: undefined symbol: c10" >&2\nexit 127\n')
        self.expect_error(
            "it was built against PyTorch 2.11.0+cu130 and does not start with 2.11.1+cpu: "
            f"symbol lookup error: undefined symbol: c10; help: {sys.executable} -m pip install 'torch==2.11.0'"
        )

    def test_signals_reach_the_program(self) -> None:
        self.script("meshplan", "#!/bin/sh\nkill -TERM $$\n")
        self.assertEqual(self.run_command("meshplan").returncode, -signal.SIGTERM)

    def test_an_installed_command_that_finds_a_source_tree_does_not_start_itself(self) -> None:
        (self.programs / "meshplan").unlink()
        installed = self.site / "installed"
        installed.mkdir()
        command = installed / "meshplan"
        lines = (f"#!{sys.executable} -S", f"import sys; sys.path.insert(0, {str(self.site)!r})")
        command.write_text("\n".join([*lines, "from meshplan._programs import meshplan; meshplan()", ""]))
        command.chmod(0o755)

        def run(*folders: Path) -> subprocess.CompletedProcess[str]:
            path = os.pathsep.join(map(str, (installed, *folders, "/usr/bin", "/bin")))
            return subprocess.run([command, "fmt"], env={"PATH": path}, capture_output=True, text=True, timeout=20)

        result = run()
        self.assertEqual(result.returncode, 1)
        self.assertEqual(
            result.stderr,
            f"meshplan: error: meshplan is neither in {self.programs} nor in PATH; "
            "help: install the wheel of meshplan, or build it\n",
        )
        built = self.site / "built"
        built.mkdir()
        shutil.copy(self.programs / "meshplan-run", built / "meshplan")
        self.assertEqual(run(built).stdout, f"{built}/meshplan fmt LD_LIBRARY_PATH=\n")

    def test_a_source_tree_takes_programs_from_the_path(self) -> None:
        other = self.site / "programs"
        self.programs.rename(other)
        result = self.run_command("meshplan", "fmt", PATH=f"{other}{os.pathsep}/usr/bin:/bin")
        self.assertEqual(result.stdout, f"{other}/meshplan fmt LD_LIBRARY_PATH=\n")
        result = self.run_command("meshplan", "fmt")
        self.assertEqual(
            result.stderr,
            f"meshplan: error: meshplan is neither in {self.programs} nor in PATH; "
            "help: install the wheel of meshplan, or build it\n",
        )


if __name__ == "__main__":
    unittest.main()
