#!/usr/bin/env python3
"""Tests of check_words.py on small trees."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import check_words

# A text that each row of the table refuses, in the order of the table.
REFUSED = (
    "freed behind its last use",
    "dealt to ranks",
    "moved in one piece",
    "made again",
    "computes the statistics again",
    "begun anew",
    "are no numbers",
    "is no multiple",
    "is none of the axes",
    "shares them out",
    "added up",
    "put together",
    "what a rank holds",
    "in hiding",
    "foretell",
    "the other way round",
    "told apart",
    "takes back",
    "goes away",
    "goes on",
    "stands twice",
    "stands there",
    "where it stands",
    "says nothing of",
    "plans of others",
    "nobody",
    "the place",
    "once more",
)
ALLOWED = (
    "left behind, leave nothing behind",
    "errors are dealt with",
    "parts that add up to 12, and others that add up to the dim",
    "there is no axis, there are no ranks, there may be no mesh",
    "it is no longer, there are no more",
    "what is going on",
    "takes the place of",
    "in place, the place phase",
    "says on which",
)


class CheckWords(unittest.TestCase):
    def errors(self, files: dict[str, str]) -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            for path, text in files.items():
                (Path(folder) / path).parent.mkdir(parents=True, exist_ok=True)
                (Path(folder) / path).write_text(text)
            return check_words.check(Path(folder))

    def test_message(self) -> None:
        self.assertEqual(
            self.errors({"compiler/a.cpp": "int a;\nint b; // rows are dealt to ranks\n"}),
            ["compiler/a.cpp:2:20: error: 'dealt': write 'split' or 'distributed'"],
        )

    def test_every_row(self) -> None:
        self.assertEqual(len(REFUSED), len(check_words.WORDS))
        for text, words in zip(REFUSED, check_words.WORDS, strict=True):
            (error,) = self.errors({"a.md": f"It {text} now.\n"}) or [""]
            self.assertTrue(error.endswith(f": write {words.instead}"), (text, error))
            self.assertEqual(len(self.errors({"a.md": f"It {text.upper()} now.\n"})), 1, text)

    def test_allowed_phrases(self) -> None:
        for text in ALLOWED:
            self.assertEqual(self.errors({"a.md": f"{text}.\n"}), [], text)

    def test_a_replacement_is_not_refused(self) -> None:
        for words in check_words.WORDS:
            self.assertEqual(self.errors({"a.md": f"Write {words.instead}: {words.reason}.\n"}), [], words.pattern)

    def test_only_comments_and_strings_of_code(self) -> None:
        for path, text in (
            ("a.h", "int dealt;\n"),
            ("a.cpp", "dealt = '\"'; dealt(behind);\n"),
            ("a.py", "dealt = behind\n"),
            ("a.plan", "plan dealt { model.behind: rowwise tp }\n"),
            ("a.mlir", "func.func @dealt(%behind: i1)\n"),
            ("CMakeLists.txt", "set(dealt ${behind})\n"),
            ("run", "#!/usr/bin/env bash\ndealt=$behind\n"),
        ):
            self.assertEqual(self.errors({path: text}), [], path)

    def test_texts_of_each_kind_of_file(self) -> None:
        for path, text in (
            ("a.h", "/// dealt\n"),
            ("a.cpp", 'auto a = \'"\'; f("dealt");\n'),
            ("a.cpp", 'f(R"(dealt)"); /* nothing */\n'),
            ("a.fbs", "a: int; // dealt\n"),
            ("a.td", 'def A { let summary = "dealt"; }\n'),
            ("a.td", "def A { let description = [{\n  Rows are dealt.\n}]; }\n"),
            ("a.g4", "a : 'b' ; // dealt\n"),
            ("a.plan", "plan a { /* dealt */ }\n"),
            ("a.mlir", "// expected-error@+1 {{dealt}}\n"),
            ("a.test", "CHECK: dealt\n"),
            ("a.py", '"""Rows\n\nare dealt."""\n'),
            ("a.py", "a = 1  # dealt\n"),
            ("a.py", "print(f'dealt {a}')\n"),
            ("a.cmake", "# dealt\n"),
            ("CMakeLists.txt", 'message(FATAL_ERROR "dealt")\n'),
            ("run", "#!/usr/bin/env bash\necho $# # dealt\n"),
            ("run", "#!/usr/bin/env python3\n# dealt\n"),
            ("a.md", "Rows are dealt.\n"),
        ):
            self.assertEqual(len(self.errors({path: text})), 1, (path, text))

    def test_phrases_over_several_lines(self) -> None:
        for path, text in (
            ("a.h", "/// moved in one\n/// piece\n"),
            ("a.cpp", 'f("moved in one "\n  "piece");\n'),
            ("a.py", "# moved in one\n# piece\n"),
            ("a.md", "moved in one\npiece\n"),
        ):
            (error,) = self.errors({path: text})
            self.assertIn("error: 'in one piece': write 'coalesced'", error)

    def test_what_is_not_checked(self) -> None:
        self.assertEqual(
            self.errors(
                {"build-dev/a.md": "dealt", ".git/a.md": "dealt", "docs/generated/a.md": "dealt", "a.txt": "dealt"}
            ),
            [],
        )

    def test_exit_status(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, check_words.__file__, folder]
            self.assertEqual(subprocess.run(command, capture_output=True).returncode, 0)
            (Path(folder) / "a.md").write_text("dealt\n")
            run = subprocess.run(command, capture_output=True, text=True)
            self.assertEqual(
                (run.returncode, run.stdout), (1, "a.md:1:1: error: 'dealt': write 'split' or 'distributed'\n")
            )


if __name__ == "__main__":
    unittest.main()
