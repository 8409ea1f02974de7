"""Reads the statements of a training: which parameters are trained, by which numbers, and what PyTorch has to do."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Sequence

from harness.differential import case
from harness.plans import numbers_of
from harness.reference.addends import RoundedProducts
from harness.reference.training import Settings

DTYPES = {"f64": "float64", "f32": "float32", "bf16": "bfloat16"}
Numbers = dict[str, float]
Groups = list[list[str]]  # the names of each parameter


def named(groups: Groups, paths: Iterable[str]) -> Groups:
    """The parameters that the paths of a plan name, by themselves or by a module around them."""
    patterns = [re.escape(path).replace(r"\*\*\.", r"(?:.*\.)?").replace(r"\*", r"[^.]*") for path in paths]
    pattern = re.compile(rf"(?:{'|'.join(patterns)})(?:\..*)?")
    return [names for names in groups if any(pattern.fullmatch(name) for name in names)]


def items_of(text: str) -> list[str]:
    """`P, [Q, R]` as `P` and `[Q, R]`."""
    return [item.strip() for item in re.split(r",(?![^\[]*\])", text) if item.strip()]


def find(statements: Sequence[case.Statement], head: str) -> case.Statement | None:
    return next((each for each in statements if each.head == head or each.head.startswith(f"{head} ")), None)


def option(statement: case.Statement | None, name: str) -> str:
    """What follows the name of an option; empty without it."""
    options = statement.options if statement else []
    return next((each.partition(" ")[2] for each in options if each.split()[0] == name), "")


def untrained(statements: Sequence[case.Statement], groups: Groups) -> Groups:
    """Parameters that are frozen, or that the loss does not reach."""
    found: Groups = []
    for statement in statements:
        for word in ("freeze", "unused"):
            if statement.head.startswith(f"{word} "):
                found += named(groups, items_of(statement.head.removeprefix(word)))
        if statement.head.startswith("train only "):
            trained = named(groups, items_of(statement.head.removeprefix("train only")))
            found += [names for names in groups if names not in trained]
    return found


def groups_of(optimizer: case.Statement) -> list[tuple[list[str], Numbers]]:
    """The paths of each group and its own numbers: `group P, Q { lr 0.1; weight_decay 0 }`."""
    found = []
    for text in optimizer.options:
        if text.startswith("group "):
            head, _, inside = text.removeprefix("group ").rstrip(" }").partition(" {")
            found.append((items_of(head), numbers_of(items.strip() for items in inside.split(";"))))
    return found


def calls_of(statements: Sequence[case.Statement]) -> int:
    """How often a step calls the model, each time with inputs of its own."""
    microbatches = find(statements, "microbatches")
    return int(microbatches.head.split()[1]) if microbatches and microbatches.head.endswith(" mean") else 1


def addends_of(drawn: case.Case) -> int:
    """In how many addends, each of them rounded, ranks may make a product of 16 bits: as few as an axis allows, which
    are the largest, and lose the most."""
    wide = option(find(drawn.statements, "precision"), "activations") == "f32"
    sizes = [size for _, size in drawn.axes if size > 1]
    return min(sizes, default=1) if drawn.half and not wide else 1


def rounded_addends(drawn: case.Case) -> contextlib.AbstractContextManager[object]:
    """While it is on, PyTorch makes products of 16 bits as ranks may make them."""
    return RoundedProducts(count) if (count := addends_of(drawn)) > 1 else contextlib.nullcontext()


def keeps_states(optimizer: case.Statement) -> bool:
    return optimizer.head != "optimizer sgd" or bool(option(optimizer, "momentum"))


def settings_of(drawn: case.Case, groups: Groups) -> Settings:
    """What PyTorch is told of the training of a case."""
    optimizer, precision = find(drawn.statements, "optimizer"), find(drawn.statements, "precision")
    clip, loss = find(drawn.statements, "clip_grad_norm"), find(drawn.statements, "loss")
    if optimizer is None:
        raise ValueError("a training without an optimizer")
    # What is stored in more digits than it is read is trained in them.
    master = option(precision, "master") or option(precision, "storage")
    return Settings(
        optimizer=optimizer.head.split()[1],
        numbers=numbers_of(optimizer.options),
        seed=drawn.random_seed,
        per=loss.head.partition(" per ")[2] if loss else None,
        loss_scale=float((re.findall(r"\d+", option(precision, "loss_scale")) or ["1"])[0]),
        clip=float(clip.head.split()[1]) if clip else 0,
        master=DTYPES.get(master),
        states=DTYPES.get(option(precision, "state")),
        microbatches=calls_of(drawn.statements),
        frozen=sorted({name for names in untrained(drawn.statements, groups) for name in names}),
        # Gradients that are accumulated in 16 bits have errors that PyTorch's own run has not.
        parameters=optimizer.head == "optimizer sgd" and option(precision, "reduce") != "bf16",
    )
