#!/usr/bin/env python3
"""Tests of check_types.py on small trees."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

import check_types


class CheckTypes(unittest.TestCase):
    def errors(self, files: dict[str, str]) -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            for path, text in files.items():
                (Path(folder) / path).parent.mkdir(parents=True, exist_ok=True)
                (Path(folder) / path).write_text(text)
            return check_types.check(Path(folder))

    def test_two_of_one_name(self) -> None:
        text = "namespace meshplan {\n\nstruct Step {\n  int a;\n};\n\n} // namespace meshplan\n"
        self.assertEqual(
            self.errors({"compiler/a/one.h": text, "compiler/b/two.cpp": "\n" + text}),
            [
                "compiler/b/two.cpp:4: error: 'meshplan::Step' is defined at compiler/a/one.h:3 too; "
                "help: rename one of them"
            ],
        )

    def test_every_kind_of_type(self) -> None:
        for kind in ("struct", "class", "enum", "enum class", "union"):
            text = f"{kind} Step : Base {{\n"
            self.assertEqual(len(self.errors({"runtime/a.h": text, "runtime/b.h": text})), 1, kind)

    def test_names_that_differ(self) -> None:
        plain = "namespace meshplan {\nclass Step {\n};\n} // namespace meshplan\n"
        inner = "namespace meshplan::archive {\nclass Step {\n};\n} // namespace meshplan::archive\n"
        self.assertEqual(
            self.errors({"compiler/a.h": plain, "compiler/b.h": inner, "compiler/c.h": "class Step;\n"}), []
        )

    def test_the_two_sides_are_never_linked_together(self) -> None:
        text = "class Step {\n};\n"
        self.assertEqual(self.errors({"compiler/a.h": text, "runtime/a.h": text}), [])
        self.assertEqual(self.errors({"tools/meshplan/a.h": text, "tools/meshplan_run/a.h": text}), [])

    def test_unnamed_namespaces_keep_their_types(self) -> None:
        hidden = "namespace {\nclass Step {\n};\n} // namespace\n"
        self.assertEqual(self.errors({"compiler/a.cpp": hidden, "compiler/b.cpp": hidden}), [])
        shown = hidden + "class Step {\n};\n"
        self.assertEqual(len(self.errors({"compiler/a.cpp": shown, "compiler/b.cpp": shown})), 1)

    def test_members_are_no_types_of_the_namespace(self) -> None:
        text = "class {} {{\n  struct Group {{\n  }};\n}};\n"
        self.assertEqual(self.errors({"compiler/a.h": text.format("A"), "compiler/b.h": text.format("B")}), [])


if __name__ == "__main__":
    unittest.main()
