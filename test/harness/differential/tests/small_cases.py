"""Small trainings with statements of one's own, for tests."""

from __future__ import annotations

import copy
import functools

from harness.differential.case import Case, Statement
from harness.differential.draw import PLANS
from harness.differential.models.model import LOSSES
from harness.differential.plans.training_draw import draw_training


@functools.cache
def small_training(kind: str, head: str) -> Case:
    return next(
        case
        for case in map(draw_training, range(0, 400 * PLANS, PLANS))
        if case.stem.kind == "text" and [block.kind for block in case.blocks] == [kind] and case.head.kind == head
    )


def case_of(*statements: Statement, kind: str = "gated", head: str = "tokens", steps: int = 1) -> Case:
    """A small training in which these statements stand."""
    drawn = copy.deepcopy(small_training(kind, head))
    drawn.head.numbers = [1]  # a mean of token losses
    drawn.statements, drawn.steps, drawn.half, drawn.dropout = list(statements), steps, False, 0.0
    drawn.decompose, drawn.plain = False, False
    return drawn


def case_of_statements(*statements: Statement) -> Case:
    """Of which only the statements are read."""
    return Case(0, None, None, [], None, statements=list(statements))  # type: ignore[arg-type]


def with_loss(loss: str, head: str = "tokens") -> Case:
    """A small training whose loss is that of classes alone."""
    drawn = case_of(head=head)
    drawn.head.numbers, drawn.plain = [LOSSES.index(loss)], True
    return drawn
