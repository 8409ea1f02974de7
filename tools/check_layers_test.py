#!/usr/bin/env python3
"""Tests of check_layers.py on small trees."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import check_layers


class CheckLayers(unittest.TestCase):
    def errors(self, files: dict[str, str]) -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            for path, text in files.items():
                (Path(folder) / path).parent.mkdir(parents=True, exist_ok=True)
                (Path(folder) / path).write_text(text)
            return check_layers.check(Path(folder))

    def expect(self, files: dict[str, str], *expected: str) -> None:
        self.assertEqual(self.errors(files), list(expected))

    def test_allowed_tree(self) -> None:
        self.expect(
            {
                "compiler/sharding/a.h": '#include "dialect/plan/plan.h"\n#include "mlir/IR/Types.h"\n#include <map>\n',
                "compiler/sharding/a.cpp": '#include "compiler/sharding/a.h"\n',
                "compiler/transforms/partition/p.cpp": '#include "compiler/sharding/a.h"\n',
                "compiler/target/cpp/t.cpp": '#include "runtime/schema/schedule_generated.h"\n',
                "compiler/pipeline/p.cpp": '#include "compiler/transforms/partition/passes.h"\n',
                "runtime/tensor/torch/t.cpp": "#include <ATen/ATen.h>\n",
                "runtime/comm/threads/c.cpp": '#include "runtime/base/status.h"\n',
                "tools/meshplan.cpp": '#include "compiler/pipeline/p.h"\n#include "runtime/schema/extent.h"\n',
            }
        )

    def test_wall(self) -> None:
        self.expect(
            {
                "compiler/support/a.h": '#include "runtime/base/status.h"\n',
                "runtime/exec/b.cpp": '\n#include "compiler/support/a.h"\n',
                "runtime/base/c.h": '#include "llvm/ADT/StringRef.h"\n',
            },
            "compiler/support/a.h:1: error: compiler/support must not include runtime/base ('runtime/base/status.h')",
            "runtime/base/c.h:1: error: runtime/base must not include llvm ('llvm/ADT/StringRef.h')",
            "runtime/exec/b.cpp:2: error: runtime/exec must not include compiler/support ('compiler/support/a.h')",
        )

    def test_program_on_both_sides(self) -> None:
        self.expect(
            {"tools/both.cpp": '#include "compiler/support/a.h"\n#include "runtime/exec/run.h"\n'},
            "tools/both.cpp:2: error: a program uses either the compiler or the runtime: "
            "'runtime/exec/run.h' and 'compiler/support/a.h'",
        )

    def test_phases_do_not_include_each_other(self) -> None:
        self.expect(
            {"compiler/transforms/partition/p.cpp": '#include "compiler/transforms/propagate/q.h"\n'},
            "compiler/transforms/partition/p.cpp:1: error: compiler/transforms/partition must not include "
            "compiler/transforms/propagate ('compiler/transforms/propagate/q.h')",
        )

    def test_dialects_are_apart(self) -> None:
        self.expect(
            {"dialect/sched/ops.td": 'include "mlir/IR/OpBase.td"\ninclude "dialect/plan/attrs.td"\n'},
            "dialect/sched/ops.td:2: error: dialect/sched must not include dialect/plan ('dialect/plan/attrs.td')",
        )

    def test_libraries_stay_at_their_edge(self) -> None:
        self.expect(
            {
                "runtime/comm/a.cpp": "#include <mpi.h>\n",
                "runtime/comm/mpi/b.cpp": "#include <mpi.h>\n",
                "runtime/exec/c.cpp": "#include <torch/torch.h>\n",
                "dialect/plan/d.cpp": "#include <c10/util/Half.h>\n",
            },
            "dialect/plan/d.cpp:1: error: dialect/plan must not include torch ('c10/util/Half.h')",
            "runtime/comm/a.cpp:1: error: runtime/comm must not include mpi ('mpi.h')",
            "runtime/exec/c.cpp:1: error: runtime/exec must not include torch ('torch/torch.h')",
        )

    def test_schema_is_for_target_and_artifact(self) -> None:
        text = '#include "runtime/schema/schedule_generated.h"\n#include "runtime/schema/extent.h"\n'
        self.expect(
            {"compiler/sharding/a.cpp": text},
            "compiler/sharding/a.cpp:1: error: compiler/sharding must not include runtime/schema "
            "('runtime/schema/schedule_generated.h')",
        )

    def test_paths_outside_rooms(self) -> None:
        self.expect(
            {"compiler/support/a.cpp": '#include "a.h"\n', "compiler/misc/b.h": "", "compiler/transforms/c.h": ""},
            "compiler/misc/b.h:1: error: the file lies in no room of tools/check_layers.py",
            "compiler/support/a.cpp:1: error: 'a.h' is not in a room; include paths start at the top of the tree",
            "compiler/transforms/c.h:1: error: the file lies in no room of tools/check_layers.py",
        )

    def test_cmake_dependencies(self) -> None:
        self.expect(
            {
                "runtime/base/CMakeLists.txt": "meshplan_library(NAME meshplan-base SRCS a.cpp DEPS fmt::fmt)\n",
                "compiler/support/CMakeLists.txt": (
                    "meshplan_library(\n  NAME meshplan-support\n  SRCS a.cpp\n"
                    "  DEPS LLVMSupport # fine\n       meshplan-base meshplan-torch)\n"
                ),
            },
            "compiler/support/CMakeLists.txt:5: error: compiler/support must not link runtime/base ('meshplan-base')",
            "compiler/support/CMakeLists.txt:5: error: compiler/support must not link torch ('meshplan-torch')",
        )

    def test_exit_status(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "runtime/base").mkdir(parents=True)
            (Path(folder) / "runtime/base/a.h").write_text('#include "mlir/IR/Types.h"\n')
            run = subprocess.run([sys.executable, check_layers.__file__, folder], capture_output=True, text=True)
        self.assertEqual(run.returncode, 1)
        self.assertIn("help: what each room may use is the table ROOMS", run.stdout)


if __name__ == "__main__":
    unittest.main()
