"""Draws a case from a seed, and from nothing else. Consecutive seeds are one model under several meshes and plans."""

from __future__ import annotations

import random

import torch

from harness.differential import case
from harness.differential.choices import Choices, drawn_numbers
from harness.differential.models.layers import FORMS, GROUPED, KEEPING, STEPS
from harness.differential.models.model import make_model
from harness.differential.plans import plan_draw
from harness.differential.plans.statement_draw import add_activations

MOST_BLOCKS = 3
PLANS = 4  # of one model: it takes most of the time to export it
WITH_STEPS = {"walk": STEPS, "fan": STEPS, "feed_forward": KEEPING}
COUNTS = {"walk": (6, 11), "fan": (14, 24), "feed_forward": (1, 4)}  # of steps
BLOCKS = (
    *("convolution",) * 7,
    *("attention", "norm") * 2,
    "feed_forward",
    "gated",
    "shared",
    "tables",
    "experts",
    *("recurrent",) * 6,
)
WALKS, FANS = 1, 3  # in a model: they reach most operators
MIXTURES = 2  # blocks of a model of mixtures
OFTEN_MIXED = 0.12  # share of the other models that have one
MADE = 3  # blocks of weights that are made of others, in a model of nothing else
OFTEN_MADE = 0.2  # share of the other models that have one

# Meshes by how often they are drawn.
MESHES = (
    *((("tp", size),) for size in (2, 2, 3, 4)),
    *((("dp", 2), ("tp", size)) for size in (1, 2, 2, 3, 4)),
    (("dp", 3), ("tp", 2)),
    (("dp", 2), ("cp", 2), ("tp", 2)),
    (("cp", 2), ("tp", 2)),
    (("a", 2), ("b", 3)),
    (("dp", 1), ("tp", 1)),
    (("tp", 5),),
    (("tp", 6),),
    (("dp", 4), ("tp", 2)),
    (("dp", 2),),
)


def is_steady(step: case.Step) -> bool:
    """False if a small change of the operand may change the result by much more: where 16 bits round otherwise, an
    operator that compares or counts would answer otherwise.
    """
    x, change = torch.randn(2, 8, 40, 60, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    before, after = (STEPS[step.name](operand, Choices(step.numbers)) for operand in (x, x + change * 2**-10))
    if before.shape != after.shape:
        return False
    moved = (before.to(torch.float64) - after.to(torch.float64)).abs()
    return bool(moved.numel() == 0 or moved.max() < 0.09)


def draw_steps(generator: random.Random, kind: str, half: bool) -> list[case.Step]:
    if kind not in WITH_STEPS:
        return []
    grouped = GROUPED if kind == "fan" and generator.random() < 0.65 else set()
    names = sorted(set(WITH_STEPS[kind]) - grouped)
    count = generator.randint(*COUNTS[kind])
    drawn = generator.choices(names, [FORMS.get(name, 1) for name in names], k=count)
    steps = [case.Step(name, drawn_numbers(generator, 12)) for name in drawn]
    return [step for step in steps if not half or is_steady(step)]


def draw_block(generator: random.Random, name: str, kind: str, half: bool) -> case.Block:
    return case.Block(name, kind, drawn_numbers(generator, 24), draw_steps(generator, kind, half))


def draw_sizes(generator: random.Random) -> case.Sizes:
    return case.Sizes(
        batch=generator.choice((2, 3, 4, 4, 5, 6, 8)),
        sequence=generator.choice((4, 6, 7, 8, 9, 12)),
        heads=generator.choice((2, 3, 4, 4, 5, 6, 8, 9)),
        head=generator.choice((4, 6, 8)),
        inner=generator.choice((12, 16, 24, 30, 35)),
        vocabulary=generator.choice((24, 32, 41, 50)),
    )


def with_special(kinds: list[str], seed: int, only: str) -> list[str]:
    """The kinds of a model's blocks, and now and then one of weights that are made of others or a mixture; or nothing
    but those of the kind `only`. Drawn by themselves: the other blocks of a seed stay what they are."""
    if only:
        return [only] * (MADE if only == "made" else MIXTURES)
    for kind, often in (("made", OFTEN_MADE), ("mixture", OFTEN_MIXED)):
        if random.Random(f"{kind} {seed // PLANS}").random() < often:
            kinds = [*kinds, kind]
    return kinds


def without_ties(drawn: case.Case) -> case.Case:
    """The case with distinct elements where PyTorch does not say which of equal ones an operator takes."""
    for block in drawn.blocks:
        for step in block.steps:
            step.distinct = True
    return drawn


def draw_case(seed: int, only: str = "") -> case.Case:
    generator, planner = random.Random(f"model {seed // PLANS}"), random.Random(f"plan {seed}")
    kinds = [generator.choice(BLOCKS) for _ in range(generator.randint(0, MOST_BLOCKS))]
    kinds += ["walk"] * WALKS + ["fan"] * FANS
    generator.shuffle(kinds)
    kinds = with_special(kinds, seed, only)
    stem = generator.choice(("hidden", "hidden", "text", "text", "pixels"))
    half = generator.random() < 0.15
    heads = ("none", "none", "tokens", "pooled", "matched") + (("tied", "tied", "tied") if stem == "text" else ())
    drawn = case.Case(
        seed=seed,
        sizes=draw_sizes(generator),
        stem=draw_block(generator, "stem", stem, half),
        blocks=[draw_block(generator, f"{kind[0]}{index}", kind, half) for index, kind in enumerate(kinds)],
        head=draw_block(generator, "head", generator.choice(heads), half),
        half=half,
        model_seed=seed // PLANS,
        decompose=generator.random() < 0.06,
        axes=list(planner.choice(MESHES)),
        form=planner.randrange(4),
    )
    plan_draw.draw_plan(drawn, make_model(drawn), planner)
    add_activations(drawn, random.Random(f"activations {seed}"))
    return drawn
