"""The verdicts of checks."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence


class Failure(Exception):
    """What was seen is not what was expected."""


def expect(condition: bool, message: str) -> None:
    if not condition:
        raise Failure(message)


def verdict(what: str, right: bool, fault: str = "") -> bool:
    """Prints what was looked at and whether it is right; returns that."""
    print(f"{what}: {'ok' if right else 'WRONG'}{'' if right or not fault else f': {fault}'}", flush=True)
    return right


def run_checks(checks: Sequence[Callable[[], None]], only: Sequence[str] | None = None) -> int:
    """Runs all, or those with these names; the exit status, which is 1 if one has failed or a name is unknown."""
    unknown = sorted(set(only or ()) - {check.__name__ for check in checks})
    for name in unknown:
        print(f"{name}: no such check", flush=True)
    failed = bool(unknown)
    for check in checks:
        if only and check.__name__ not in only:
            continue
        start = time.monotonic()
        try:
            check()
            print(f"{check.__name__}: right ({time.monotonic() - start:.1f} s)", flush=True)
        except Failure as failure:
            failed = True
            print(f"{check.__name__}: {failure}", flush=True)
    return int(failed)
