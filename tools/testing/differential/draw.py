"""Draws a case from a seed, and from nothing else."""

from __future__ import annotations

import random

import case
import plan_draw
from choices import drawn_numbers
from layers import FORMS, KEEPING, STEPS
from model import make_model

MOST_BLOCKS = 2
WITH_STEPS = {"walk": STEPS, "feed_forward": KEEPING}
BLOCKS = (
    *("convolution",) * 5,
    *("attention", "norm") * 2,
    "feed_forward",
    "gated",
    "shared",
    "tables",
    "experts",
    *("recurrent",) * 3,
)
WALKS = 3  # in a model: they reach most operators

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
    (("tp", 8),),
    (("dp", 4), ("tp", 2)),
    (("dp", 2),),
)


def draw_steps(generator: random.Random, kind: str) -> list[case.Step]:
    if kind not in WITH_STEPS:
        return []
    names = sorted(WITH_STEPS[kind])
    count = generator.randint(6, 11) if kind == "walk" else generator.randint(1, 4)
    drawn = generator.choices(names, [FORMS.get(name, 1) for name in names], k=count)
    return [case.Step(name, drawn_numbers(generator, 12)) for name in drawn]


def draw_block(generator: random.Random, name: str, kind: str) -> case.Block:
    return case.Block(name, kind, drawn_numbers(generator, 24), draw_steps(generator, kind))


def draw_sizes(generator: random.Random) -> case.Sizes:
    return case.Sizes(
        batch=generator.choice((2, 3, 4, 4, 5, 6, 8)),
        sequence=generator.choice((4, 6, 7, 8, 9, 12)),
        heads=generator.choice((2, 3, 4, 4, 5, 6, 8, 9)),
        head=generator.choice((4, 6, 8)),
        inner=generator.choice((12, 16, 24, 30, 35)),
        vocabulary=generator.choice((24, 32, 41, 50)),
    )


def draw_case(seed: int) -> case.Case:
    generator = random.Random(seed)
    kinds = [generator.choice(BLOCKS) for _ in range(generator.randint(0, MOST_BLOCKS))]
    kinds += ["walk"] * WALKS
    generator.shuffle(kinds)
    stem = generator.choice(("hidden", "hidden", "text", "text", "pixels"))
    heads = ("none", "none", "tokens", "pooled", "matched") + (("tied", "tied", "tied") if stem == "text" else ())
    drawn = case.Case(
        seed=seed,
        sizes=draw_sizes(generator),
        stem=draw_block(generator, "stem", stem),
        blocks=[draw_block(generator, f"{kind[0]}{index}", kind) for index, kind in enumerate(kinds)],
        head=draw_block(generator, "head", generator.choice(heads)),
        half=generator.random() < 0.1,
        decompose=generator.random() < 0.06,
        axes=list(generator.choice(MESHES)),
        form=generator.randrange(4),
    )
    plan_draw.draw_plan(drawn, make_model(drawn), generator)
    return drawn
