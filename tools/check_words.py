#!/usr/bin/env python3
"""Checks that texts use the field's words: comments, strings, documentation and messages in tests.

WORDS lists words and phrases that must not be used, with the words to use instead. Code is not checked, so identifiers
may contain them. A phrase is also found if a line break of a comment or string splits it.
Usage: check_words.py [--list] [ROOT]. Prints `file:line:col: error: ...` for each; exit status 1 if there is one.
--list prints the table with its reasons.
"""

from __future__ import annotations

import bisect
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Words:
    """A pattern of whole words, in any case. It is allowed inside a match of one of the patterns in `allowed`."""

    pattern: str
    instead: str
    reason: str
    allowed: tuple[str, ...] = ()


FIELD = "the field has a term for it"
CLEAR = "a reader has to guess what is meant"
ONE_THING = "one word names one thing"
GERMAN = "it is not idiomatic English"

WORDS = (
    Words(
        "behind",
        "'after' for time and order; else name the relation",
        FIELD,
        ("l(?:eft|eaves?|eaving) (?:\\S+ )?behind",),
    ),
    Words("dealt", "'split' or 'distributed'", FIELD, ("dealt with",)),
    Words("in one piece", "'coalesced'", FIELD),
    Words("(?:computed?|computes|computing|made|makes?|making) (?:again|anew)", "'recompute'", FIELD),
    Words("(?:computes|computed|computing) (?:[\\w`]+ ){1,3}again", "'recompute'", FIELD),
    Words("anew", "'again', or a verb with 're-'", GERMAN),
    Words("(?:is|are|be) no numbers?", "'non-finite' or 'NaN' for a value, 'is not a number' for a text", FIELD),
    Words(
        "(?:is|are|be) no (?!longer|more|less|fewer|numbers?\\b)[a-z]+",
        "'is not'",
        GERMAN,
        ("there (?:\\w+ )?(?:is|are|be) no \\w+", "(?:is|are) there no \\w+"),
    ),
    Words("(?:is|are) none of (?:its|the|these|those|their)", "'is not one of'", GERMAN),
    Words("share[sd]?(?: \\w+)? out|sharing(?: \\w+)? out", "'shard' or 'split'", FIELD),
    Words(
        "add(?:s|ed|ing)?(?: it| them)? up",
        "'sum', 'accumulate' or 'reduce'",
        FIELD,
        ("add(?:s|ed|ing)? up to (?:\\d+|a|the|one)",),
    ),
    Words("put(?:s|ting)? together", "'concatenate', 'merge' or 'combine'", FIELD),
    Words("what (?:a|each|the|every|its|their) ranks? (?:holds?|held|has|have)", "'shard' or 'local tensor'", FIELD),
    Words("(?:in|into) hiding", "'as a side effect'", FIELD),
    Words("foretells?", "'predict'", FIELD),
    Words("(?:turned|the other way) round", "'reversed'", FIELD),
    Words("t(?:ell|ells|old) apart", "'distinguish'", CLEAR),
    Words("tak(?:e|es|en|ing) back|took back", "'remove', 'undo' or 'restore'", CLEAR),
    Words("go(?:es)? away|went away", "'is removed' or 'is freed'", CLEAR),
    Words("(?:goes|go|went|gone|going) on", "'continue'", CLEAR, ("(?:is|was|what) going on", "what goes on")),
    Words("stands? twice", "'is repeated'", GERMAN),
    Words("stands? (?:there|here)", "'is'", GERMAN),
    Words("where (?:it|they|these|those) stands?", "'at its own position'", GERMAN),
    Words("say?(?:s|id)? (?:nothing |something |more |less )?of", "'state', 'describe' or 'about'", GERMAN),
    Words("plans? of others", "'foreign plan'", CLEAR),
    Words("nobody|somebody|whoever", "the part of the program that does it", CLEAR),
    Words(
        "(?:a|the|its|their|each|every|other|another|same|own|this|that|these|those|only|several|many|two|no|some)"
        " places?",
        "'location' in a file, 'index' or 'position' in a list, 'coordinate' of a rank",
        ONE_THING + ": place is the phase",
        ("the place (?:phase|pass|passes)", "take[sn]? (?:the|its|their) place"),
    ),
    Words("once more", "'again'", GERMAN),
)

# What may separate two words of a phrase: blanks, and the border of two comment lines or of two adjacent strings.
GAP = r'(?:[ \t]+|[ \t]*(?:"[ \t]*)?\n[ \t]*(?:(?://+<?|#+|\*)[ \t]*|f?")?)'


def with_gaps(pattern: str) -> str:
    return pattern.replace(" ", GAP)


# One pattern for all rows. The letters that a match may begin with come first, which is ten times as fast.
ROWS = "|".join(f"(?P<w{row}>{with_gaps(words.pattern)})" for row, words in enumerate(WORDS))
PATTERN = re.compile(rf"\b(?=[abcdefgimnopstw])(?:{ROWS})\b", re.I)
ALLOWED = [[re.compile(rf"\b(?:{with_gaps(phrase)})\b", re.I) for phrase in words.allowed] for words in WORDS]


# Spans of text in each kind of file. A character literal is matched, so that its quote begins no string, and ignored.
C_TEXT = re.compile(
    r"""'(?:\\.|[^'\\\n])'|R"(?P<raw>\w*)\((?:.|\n)*?\)(?P=raw)"|"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*(?:.|\n)*?\*/"""
)
TD_TEXT = re.compile(r"""\[\{(?:.|\n)*?\}\]|"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*(?:.|\n)*?\*/""")
SLASH_COMMENT = re.compile(r"//[^\n]*|/\*(?:.|\n)*?\*/")
PYTHON_TEXT = re.compile(
    r"""#[^\n]*|\"{3}(?:\\.|(?!\"{3})(?:.|\n))*\"{3}|'{3}(?:\\.|(?!'{3})(?:.|\n))*'{3}"""
    r"""|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'"""
)
SCRIPT_TEXT = re.compile(r"""(?:^|(?<=\s))#[^\n]*|"(?:\\.|[^"\\])*"|'[^']*'""", re.M)
EVERYTHING = re.compile(r"(?:.|\n)+")
TEXTS = {
    ".h": C_TEXT,
    ".cpp": C_TEXT,
    ".fbs": C_TEXT,
    ".td": TD_TEXT,
    ".g4": SLASH_COMMENT,
    ".plan": SLASH_COMMENT,
    ".mlir": SLASH_COMMENT,
    ".py": PYTHON_TEXT,
    ".cmake": SCRIPT_TEXT,
    ".md": EVERYTHING,
    ".test": EVERYTHING,
}
# The table itself and its tests, and what mlir-tblgen makes of files that are checked.
UNCHECKED = {"tools/check_words.py", "tools/check_words_test.py", "docs/generated"}


def text_of(path: Path) -> re.Pattern[str] | None:
    """The pattern of texts in a file; None for a file that is not checked."""
    if path.suffix or path.name == "CMakeLists.txt":
        return SCRIPT_TEXT if path.name == "CMakeLists.txt" else TEXTS.get(path.suffix)
    with path.open("rb") as file:
        line = file.readline(80)
    if not line.startswith(b"#!"):
        return None
    return PYTHON_TEXT if b"python" in line else SCRIPT_TEXT


def files(root: Path) -> Iterator[tuple[Path, str]]:
    """All files of the tree and their names, without build folders and hidden ones."""
    for folder, inner, names in os.walk(root):
        where = Path(folder)
        inner[:] = sorted(
            each
            for each in inner
            if not each.startswith((".", "build")) and (where / each).relative_to(root).as_posix() not in UNCHECKED
        )
        for name in sorted(names):
            path = (where / name).relative_to(root).as_posix()
            if path not in UNCHECKED and not name.startswith("."):
                yield where / name, path


def is_allowed(text: str, row: int, found: re.Match[str]) -> bool:
    begin, end = max(0, found.start() - 80), found.end() + 80
    return any(
        each.start() <= found.start() and found.end() <= each.end()
        for phrase in ALLOWED[row]
        for each in phrase.finditer(text, begin, end)
    )


def check_text(name: str, text: str, spans: re.Pattern[str]) -> Iterator[str]:
    matches = list(PATTERN.finditer(text))
    ends: list[tuple[int, int]] = []  # end and begin of each text, in order
    for span in spans.finditer(text) if matches else ():
        if spans is not C_TEXT or span[0][0] != "'":
            ends.append((span.end(), span.start()))
    for found in matches:
        at = bisect.bisect_right(ends, (found.start(), len(text)))
        row = int((found.lastgroup or "w0")[1:])
        if at == len(ends) or found.start() < ends[at][1] or is_allowed(text, row, found):
            continue
        line = text.count("\n", 0, found.start()) + 1
        column = found.start() - text.rfind("\n", 0, found.start())
        shown = " ".join(re.findall(r"\w+", found[0]))
        yield f"{name}:{line}:{column}: error: '{shown}': write {WORDS[row].instead}"


def check(root: Path) -> list[str]:
    """All banned words under `root`."""
    errors: list[str] = []
    for path, name in files(root):
        if spans := text_of(path):
            errors += check_text(name, path.read_text(errors="replace"), spans)
    return errors


def table() -> str:
    return "\n".join(f"{words.pattern}\n    write {words.instead}: {words.reason}" for words in WORDS)


def main() -> int:
    arguments = sys.argv[1:]
    if arguments == ["--list"]:
        print(table())
        return 0
    errors = check(Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent)
    print("\n".join(errors), end="\n" if errors else "")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
