#!/usr/bin/env python3
"""Tests of check_docs.py on small trees, with mlir-tblgen and a stand-in for meshplan."""

import tempfile
import unittest
from pathlib import Path

import check_docs
from check_docs import Page, Section

PASSES = """include "mlir/Pass/PassBase.td"
def Fold : Pass<"plan-fold"> {
  let summary = "%s";
}
"""
TD = "compiler/transforms/fold/passes.td"
PAGES = (Page("passes.md", (Section(TD, ("-gen-pass-doc",), "Phase fold"),), "Passes"),)
PAGE = f"""<!-- Made by tools/check_docs.py --update from {TD}. -->

# Passes

## Phase fold

### `-plan-fold`

_Fold it_
"""
# Accepts every plan without the word `wrong`, and names the line of that word otherwise.
MESHPLAN = """#!/bin/sh
[ "$1 $2" = "fmt --check" ] || exit 2
line=$(grep -n wrong "$3" | cut -d: -f1)
[ -z "$line" ] || { echo "$3:$line:3: error: unknown statement 'wrong'" >&2; exit 1; }
"""


class Tree(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def write(self, path: str, text: str) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def check(self, **options: object) -> list[str]:
        return check_docs.check(self.root, **{"pages": (), **options})


class GeneratedPages(Tree):
    def setUp(self) -> None:
        super().setUp()
        self.write(TD, PASSES % "fold it")

    def test_update_writes_the_page(self) -> None:
        self.assertEqual(self.check(pages=PAGES, update=True), [])
        self.assertEqual((self.root / "docs/generated/passes.md").read_text(), PAGE)
        self.assertEqual(self.check(pages=PAGES), [])

    def test_page_that_drifted(self) -> None:
        self.write("docs/generated/passes.md", PAGE.replace("Fold it", "Fold them"))
        (error,) = self.check(pages=PAGES)
        self.assertEqual(
            error.splitlines(),
            [
                "docs/generated/passes.md:9: error: the page differs from the definitions",
                "@@ -9 +9 @@",
                "-_Fold them_",
                "+_Fold it_",
            ],
        )

    def test_page_that_is_missing(self) -> None:
        (error,) = self.check(pages=PAGES)
        self.assertIn("docs/generated/passes.md:1: error: the page differs from the definitions", error)

    def test_page_that_nothing_makes(self) -> None:
        self.write("docs/generated/passes.md", PAGE)
        self.write("docs/generated/old.md", "")
        self.assertEqual(
            self.check(pages=PAGES),
            ["docs/generated/old.md:1: error: no row of PAGES in tools/check_docs.py generates this page"],
        )

    def test_definitions_that_no_page_shows(self) -> None:
        self.assertEqual(self.check(), [f"{TD}:1: error: no row of PAGES in tools/check_docs.py lists this file"])

    def test_definitions_with_an_error(self) -> None:
        self.write(TD, "def Fold : Pass;")
        with self.assertRaisesRegex(check_docs.ToolError, r"passes\.td:1:12: error: "):
            self.check(pages=PAGES)


class Examples(Tree):
    def setUp(self) -> None:
        super().setUp()
        self.meshplan = self.write("bin/meshplan", MESHPLAN)
        self.meshplan.chmod(0o755)

    def errors(self, page: str) -> list[str]:
        self.write("docs/page.md", page)
        return self.check(meshplan=str(self.meshplan))

    def test_whole_plan_and_statements(self) -> None:
        self.assertEqual(self.errors("```plan\nplan a {\n}\n```\ntext\n```plan\nlm_head: colwise tp\n```\n"), [])

    def test_errors_have_the_line_of_the_page(self) -> None:
        self.assertEqual(
            self.errors("# Page\n\n```plan\nplan a {\n  wrong\n}\n```\n"),
            [
                "docs/page.md:3: error: the example is not a plan in the form of `meshplan fmt`\n"
                "docs/page.md:5:3: error: unknown statement 'wrong'"
            ],
        )

    def test_errors_in_statements_have_the_line_of_the_page(self) -> None:
        (error,) = self.errors("```plan\nlm_head: colwise tp\nwrong\n```\n")
        self.assertIn("docs/page.md:3:3: error: unknown statement 'wrong'", error)

    def test_other_blocks_are_not_checked(self) -> None:
        self.assertEqual(self.errors("```text\nwrong\n```\n```\nwrong\n```\n"), [])

    def test_plans_with_a_file_name(self) -> None:
        (error,) = self.errors("```plan a.plan\nplan a {\n  wrong\n}\n```\n")
        self.assertIn("docs/page.md:3:3: error: unknown statement 'wrong'", error)

    def test_without_the_program(self) -> None:
        self.write("README.md", "```plan\nwrong\n```\n")
        self.assertEqual(self.check(), [])


class Fences(Tree):
    def errors(self, page: str) -> list[str]:
        self.write("docs/page.md", page)
        return self.check()

    def test_commands_in_their_blocks(self) -> None:
        self.assertEqual(self.errors("```sh\nmeshplan check a.plan\n```\n```console\n$ srun x\nout\n```\n"), [])
        self.assertEqual(self.errors("```\nmeshplan-run: error: no\nplan a\n```\n"), [])

    def test_commands_in_other_blocks(self) -> None:
        error = "docs/page.md:1: error: "
        marked = "commands belong in a block ```sh, or with `$ ` in front in ```console, which is not run"
        self.assertEqual(self.errors("```\nout\nmeshplan check a.plan\n```\n"), [error + marked])
        self.assertEqual(self.errors("```\n$ date\n```\n"), [error + marked])
        self.assertEqual(
            self.errors("```bash\ndate\n```\n"), [error + "commands belong in a block ```sh or ```console, not ```bash"]
        )
        self.assertEqual(
            self.errors("```console\ndate\n```\n"), [error + "no line of the block ```console begins with `$ `"]
        )


class Adopted(Tree):
    def test_names_that_the_page_lacks(self) -> None:
        styles, flags = check_docs.ADOPTED
        self.write(styles, '    {"colwise", Meaning::colwise},\n    {"colwise_rep", Meaning::colwise},\n')
        self.write(flags, '\n    {"lr", taken(1)},\n    {"bf16", taken(0)},\n')
        self.write(check_docs.ADOPTED_ON, "`colwise_rep` `--lr` `bf16`\n")
        page = check_docs.ADOPTED_ON
        self.assertEqual(
            self.check(),
            [
                f"{styles}:1: error: 'colwise' is not on the page {page}",
                f"{flags}:3: error: '--bf16' is not on the page {page}",
            ],
        )


class Links(Tree):
    def test_links(self) -> None:
        self.write("docs/language.md", "# The plan language\n\n## Paths, and `rest`\n")
        self.write(
            "docs/page.md",
            "[a](language.md#paths-and-rest) [top](#page) [llvm](https://llvm.org#top)\n\n"
            "```\n[in a block](nowhere.md)\n# Nowhere\n```\n[dialect](../dialect/plan.td)\n\n# Page\n"
            "[b](language.md#rest) [c](#nowhere)\n",
        )
        self.assertEqual(
            self.check(),
            [
                "docs/page.md:7: error: the link leads nowhere: '../dialect/plan.td'",
                "docs/page.md:10: error: the page has no heading for the link: 'language.md#rest'",
                "docs/page.md:10: error: the page has no heading for the link: '#nowhere'",
            ],
        )

    def test_build_folders_are_left_out(self) -> None:
        self.write("build-asan/page.md", "[a](b.md)")
        self.assertEqual(self.check(), [])


if __name__ == "__main__":
    unittest.main()
