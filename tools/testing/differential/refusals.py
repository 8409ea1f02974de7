"""Why the compiler may refuse a random case. Any other message is a failure."""

from __future__ import annotations

import re

REFUSALS: dict[str, str] = {}


def reason_of(text: str) -> str:
    """The reason behind the first error of the compiler, or nothing if it is none that may be."""
    found = re.search(r"error: (.*)", text)
    message = found.group(1) if found else text.strip()[-300:]
    return re.sub(r"\d+", "N", re.sub(r"'[^']*'", "'_'", message))
