#!/usr/bin/env python3
"""Tests of check_commands.py on small trees, with a stand-in for a program."""

import tempfile
import unittest
from pathlib import Path

import check_commands

START = "# Page\n\n```sh\nmkdir build/work && cd build/work\n```\n"


class Commands(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name, "tree")
        self.build = Path(folder.name, "build-x")
        self.write("source.txt", "of the tree\n")
        for name in ("bin", "python"):
            (self.build / name).mkdir(parents=True)
        program = self.build / "bin" / "say"
        program.write_text('#!/bin/sh\necho "says $*"\n')
        program.chmod(0o755)

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def errors(self, text: str, **options: object) -> list[str]:
        self.write("docs/page.md", text)
        return check_commands.check(self.root, self.build, **options)

    def test_a_page_is_one_session(self) -> None:
        page = START + "```text a.txt\n$HOME\n```\n```sh\nexport A=1\ncat a.txt ../../source.txt\n```\n"
        page += "```output\n$HOME\nof the tree\n```\n```sh\nsay $A\n```\n```output\nsays 1\n```\n"
        self.assertEqual(self.errors(page), [])
        self.assertEqual(sorted(path.name for path in self.root.iterdir()), ["docs", "source.txt"])

    def test_a_command_that_fails_has_its_line(self) -> None:
        page = START + "```sh\nsay a\n\nls missing\nsay b\n```\n"
        (error,) = self.errors(page)
        self.assertRegex(error, r"^docs/page.md:9: error: the command fails with status 2\nsays a\nls: .*'missing'.*$")
        (error,) = self.errors(START + "```sh\nfalse | cat\n```\n")
        self.assertEqual(error, "docs/page.md:7: error: the command fails with status 1")

    def test_output(self) -> None:
        page = "```sh\nsay one two\nsay three\nsay four\n```\n```output\n%s\n```\n"
        for shown in ("says one two\nsays three\nsays four", "says one ...\n...\nsays four", "...", "says ...\n..."):
            self.assertEqual(self.errors(page % shown), [], shown)
        for shown in ("says one two\nsays four", "says one two\nsays three\nsays four five", "one two\n..."):
            self.assertEqual(
                self.errors(page % shown),
                ["docs/page.md:6: error: the commands print\nsays one two\nsays three\nsays four"],
                shown,
            )

    def test_output_without_commands(self) -> None:
        self.assertEqual(
            self.errors("```output\na\n```\n```sh\nsay a\n```\n"),
            ["docs/page.md:1: error: no block ```sh stands before the block ```output"],
        )

    def test_programs_in_python(self) -> None:
        page = "```sh\nsay a\n```\n```python a.py\nx = 'of a file'\n```\n```python\nfrom a import x\nprint(x)\n```\n"
        self.write("docs/page.md", page + "```output\nof a file\n```\n")
        (self.build / "python" / "bin").mkdir()
        (self.build / "python" / "bin" / "python").symlink_to("/usr/bin/python3")
        self.assertEqual(check_commands.check(self.root, self.build), [])

    def test_other_blocks_are_not_run(self) -> None:
        self.assertEqual(self.errors("```console\n$ ls missing\n```\n```\nmissing\n```\n"), [])

    def test_pages_that_continue_others(self) -> None:
        self.write("docs/first.md", START + "```sh\nexport A=2\ntouch made\n```\n")
        page = "```sh after docs/first.md\nls\nsay $A in ${PWD##*/}\n%s\n```\n"
        self.assertEqual(self.errors(page % "rm made" + "```output\nmade\nsays 2 in work\n```\n"), [])
        self.write("docs/second.md", page % "ls made")
        self.assertEqual(self.errors(page % "rm made"), [])
        self.assertEqual(
            self.errors("```sh after docs/none.md\n```\n"),
            ["docs/page.md:1: error: 'after docs/none.md' names no page that begins with commands of its own"],
        )

    def test_a_page_is_not_run_after_one_that_fails(self) -> None:
        self.write("docs/first.md", "```sh\nfalse\n```\n")
        self.assertEqual(
            self.errors("```sh after docs/first.md\nfalse\n```\n"),
            ["docs/first.md:2: error: the command fails with status 1"],
        )

    def test_long_pages(self) -> None:
        self.write("docs/page.md", "```sh long\nfalse\n```\n")
        self.write("docs/quick.md", "```sh\nsay quick\n```\n")
        failed = ["docs/page.md:2: error: the command fails with status 1"]
        self.assertEqual(check_commands.check(self.root, self.build), [])
        self.assertEqual(check_commands.check(self.root, self.build, with_long=True), failed)
        self.assertEqual(check_commands.check(self.root, self.build, ["docs/page.md"]), failed)

    def test_pages_that_take_too_long(self) -> None:
        self.assertEqual(
            self.errors("```sh\nsleep 10\n```\n", limit=0.2),
            ["docs/page.md:1: error: the commands of the page take more than 0 s"],
        )

    def test_the_module_of_the_tree_is_left_out_where_one_is_installed(self) -> None:
        self.write("python/meshplan.py", "")
        page = "```sh\nls python\n```\n"
        self.assertEqual(self.errors(page), [])
        (error,) = self.errors(page, installed=True)
        self.assertIn("docs/page.md:2: error: the command fails with status 2", error)

    def test_words_that_are_not_known(self) -> None:
        self.assertEqual(
            self.errors("# Page\n```sh slow\n```\n"),
            ["docs/page.md:2: error: unknown word after ```sh: 'slow'"],
        )

    def test_a_page_without_commands(self) -> None:
        self.assertEqual(
            self.errors("# Page\n", names=["docs/page.md"]), ["docs/page.md:1: error: the page has no commands"]
        )


if __name__ == "__main__":
    unittest.main()
