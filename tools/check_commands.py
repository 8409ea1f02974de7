#!/usr/bin/env python3
"""Runs the commands of the documentation, as a reader would paste them.

Each page with a block ```sh is one bash session, in the order of the page, in a copy of this tree that has the programs
of --build in build/. Blocks are:

- ```sh: pasted. The first one of a page may have words after the language: `long` if the page takes minutes, and is run
  with --long only; `after PAGE` if it continues where PAGE ends, in its folder and with its files.
- ```output: what the block ```sh before it prints. `...` stands for the rest of a line, and alone for any lines.
- ```python FILE, ```plan FILE and the like: saved under that name in the current folder. A block ```python without a
  name is a program, and is run.

Blocks ```console and those of other languages are not run. Prints `PAGE:LINE: error: ...` for a command that fails and
for an output that differs; exit status 1 if there is one.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from check_docs import Block, blocks, markdown_files

FENCE = "MESHPLAN_END_OF_BLOCK"
SHOWN_LINES = 25  # of what a command that failed has printed


@dataclass(frozen=True)
class Page:
    """A page with commands. `after` is the page that it continues, `is_long` what its first block says."""

    name: str
    blocks: tuple[Block, ...]
    after: str = ""
    is_long: bool = False


def page_of(name: str, text: str) -> Page | None:
    """None if the page has no commands; ValueError if its first block says what is not known."""
    all_blocks = tuple(blocks(text))
    first = next((block for block in all_blocks if block.language == "sh"), None)
    if first is None:
        return None
    words, after, is_long = [*first.words], "", False
    while words:
        word = words.pop(0)
        if word == "long":
            is_long = True
        elif word == "after" and words:
            after = words.pop(0)
        else:
            raise ValueError(f"{name}:{first.line}: error: unknown word after ```sh: '{word}'")
    return Page(name, all_blocks, after, is_long)


def script_of(page: Page, outputs: Path) -> str:
    """A script whose lines have the numbers of the page: what stands between blocks is empty.

    The block ```sh at line N prints into the file N of `outputs`. If a command fails, `failed` has its line.
    The files `folder` and `exported` have the folder and the environment in which the session ends.
    """
    end = f"pwd >{outputs}/folder; export -p | grep -v 'declare -x \\(OLD\\)\\?PWD=' >{outputs}/exported"
    lines = [f"set -Eeo pipefail; trap 'echo $LINENO >{outputs}/failed' ERR; trap \"{end}\" EXIT"]

    def add(line: int, text: str) -> None:
        lines.extend([""] * (line - len(lines)))
        lines[line - 1] += ("; " if lines[line - 1] else "") + text

    for block in page.blocks:
        log = f"exec >{outputs}/{block.line} 2>&1"
        if block.language == "sh":
            add(block.line, log)
            lines.extend(block.text.splitlines())
        elif block.language == "python" and not block.words:
            add(block.line, f"{log}; python - <<'{FENCE}'")
            lines.extend([*block.text.splitlines(), FENCE])
        elif block.words and block.language != "console":
            add(block.line, f"cat >'{block.words[0]}' <<'{FENCE}'")
            lines.extend([*block.text.splitlines(), FENCE])
    return "\n".join(lines) + "\n"


def pattern_of(output: str) -> re.Pattern[str]:
    def line_pattern(line: str) -> str:
        if line == "...":
            return r"(?:.*\n)*"
        return re.escape(line.rstrip()).replace(re.escape("..."), ".*") + r"[ ]*\n"

    return re.compile("".join(map(line_pattern, output.rstrip("\n").split("\n"))))


def compare_outputs(page: Page, outputs: Path) -> Iterator[str]:
    ran: Block | None = None
    for block in page.blocks:
        if block.language in ("sh", "python"):
            ran = block if block.language == "sh" or not block.words else ran
        if block.language != "output":
            continue
        log = outputs / str(ran.line) if ran else None
        if log is None:
            yield f"{page.name}:{block.line}: error: no block ```sh stands before the block ```output"
        elif log.exists():
            printed = log.read_text().rstrip("\n") + "\n"
            if not pattern_of(block.text).fullmatch(printed):
                yield f"{page.name}:{block.line}: error: the commands print\n{printed.rstrip()}"


@dataclass(frozen=True)
class Session:
    """What a page leaves: its copy of the tree, the folder in which it ends, and a file that sets its environment."""

    tree: Path
    folder: Path
    exported: Path | None = None


class Runner:
    def __init__(self, root: Path, build: Path, work: Path, limit: float, installed: bool) -> None:
        self.root, self.build, self.work, self.limit = root, build, work, limit
        self.left_out = (".", "build", "python") if installed else (".", "build")
        self.environment = dict(os.environ)
        # Not seen by a reader: progress bars, and the temporary files of this run.
        self.environment |= {"TQDM_DISABLE": "1", "PYTHONDONTWRITEBYTECODE": "1"}

    def new_tree(self, name: str) -> Path:
        """The sources as links, and build/ with the programs and the Python environment of the build."""
        tree = self.work / name.replace("/", "_")
        (tree / "build").mkdir(parents=True)
        for entry in self.root.iterdir():
            if not entry.name.startswith(self.left_out):
                (tree / entry.name).symlink_to(entry)
        for entry in ("bin", "python"):
            (tree / "build" / entry).symlink_to(self.build / entry)
        return tree

    def copy(self, session: Session, name: str) -> Session:
        tree = self.work / name.replace("/", "_")
        shutil.copytree(session.tree, tree, symlinks=True)
        return Session(tree, tree / session.folder.relative_to(session.tree), session.exported)

    def run(self, page: Page, start: Session) -> tuple[Session | None, list[str]]:
        """The session after the page, or None and the errors."""
        outputs = Path(tempfile.mkdtemp(dir=self.work))
        script = outputs / "script"
        script.write_text(script_of(page, outputs))
        path = os.pathsep.join(str(start.tree / "build" / folder) for folder in ("bin", "python/bin"))
        environment = self.environment | {"PATH": path + os.pathsep + os.environ["PATH"]}
        if start.exported:
            script.write_text(f"source {start.exported}; {script.read_text()}")
        status = self.status_of(script, start.folder, environment)
        if status is None:
            return None, [f"{page.name}:1: error: the commands of the page take more than {self.limit:.0f} s"]
        errors = list(compare_outputs(page, outputs)) if status == 0 else [self.failure(page, outputs, status)]
        if errors:
            return None, errors
        return Session(start.tree, Path((outputs / "folder").read_text().strip()), outputs / "exported"), []

    def status_of(self, script: Path, folder: Path, environment: dict[str, str]) -> int | None:
        """None if the time is up. Nothing that the script has started is left."""
        with subprocess.Popen(
            ["bash", script], cwd=folder, env=environment, stdin=subprocess.DEVNULL, start_new_session=True
        ) as session:
            try:
                return session.wait(self.limit)
            except subprocess.TimeoutExpired:
                return None
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(session.pid, signal.SIGKILL)

    def failure(self, page: Page, outputs: Path, status: int) -> str:
        failed = outputs / "failed"
        line = int(failed.read_text().split()[0]) if failed.exists() else 1
        logs = [block.line for block in page.blocks if block.line <= line and (outputs / str(block.line)).exists()]
        printed = (outputs / str(logs[-1])).read_text().splitlines() if logs else []
        head = f"{page.name}:{line}: error: the command fails with status {status}"
        return "\n".join([head, *printed[-SHOWN_LINES:]])


def find_pages(root: Path) -> tuple[dict[str, Page], list[str]]:
    pages: dict[str, Page] = {}
    errors = []
    for path in markdown_files(root):
        name = path.relative_to(root).as_posix()
        try:
            if page := page_of(name, path.read_text()):
                pages[name] = page
        except ValueError as error:
            errors.append(str(error))
    for page in pages.values():
        if page.after and (page.after not in pages or pages[page.after].after):
            errors.append(
                f"{page.name}:1: error: 'after {page.after}' names no page that begins with commands of its own"
            )
    return pages, errors


def check(
    root: Path,
    build: Path,
    names: Sequence[str] = (),
    with_long: bool = False,
    limit: float = 3000,
    installed: bool = False,
) -> list[str]:
    """All errors; of the pages `names`, or of all that are quick, or with `with_long` of all that are not."""
    pages, errors = find_pages(root)
    errors += [f"{name}:1: error: the page has no commands" for name in names if name not in pages]
    if errors:
        return errors
    wanted = [page for page in pages.values() if (page.name in names if names else page.is_long == with_long)]
    ends: dict[str, Session | None] = {}
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(root, build, Path(folder).resolve(), limit, installed)

        def end_of(name: str) -> Session | None:
            """Runs a page that others continue once."""
            if name not in ends:
                tree = runner.new_tree(name)
                ends[name], found = runner.run(pages[name], Session(tree, tree))
                errors.extend(found)
            return ends[name]

        for page in wanted:
            if not page.after:
                end_of(page.name)
            elif start := end_of(page.after):
                errors += runner.run(page, runner.copy(start, page.name))[1]
    return errors


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True, metavar="FOLDER", help="has bin/ and python/")
    parser.add_argument("--long", action="store_true", help="runs the pages that take minutes, and no others")
    parser.add_argument(
        "--installed", action="store_true", help="`import meshplan` is that of --build, not this tree's"
    )
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="such as docs/first-steps.md")
    options = parser.parse_args()
    root = Path(__file__).resolve().parent.parent
    errors = check(root, options.build.resolve(), options.pages, options.long, installed=options.installed)
    if errors:
        print(*errors, sep="\n")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
