"""Draws a training from a seed: a small model with a loss, a mesh and a plan that says how it is trained.

As with cases that run forward, consecutive seeds are one model under several meshes and plans.
"""

from __future__ import annotations

import random

from torch import nn

from harness.differential import case
from harness.differential.choices import Choices, drawn_numbers
from harness.differential.draw import PLANS, draw_block, with_special
from harness.differential.models.made_weights import init_items
from harness.differential.models.model import loss_kind, make_model
from harness.differential.plans import plan_draw
from harness.differential.plans.statement_draw import StatementDraw, add_activations

BLOCKS = (
    *("attention",) * 4,
    *("gated", "feed_forward", "experts", "norm", "convolution") * 2,
    *("shared", "tables", "recurrent", "lines"),
)
HEADS = ("tokens", "tokens", "pooled", "matched", "none")

# Meshes by how often they are drawn: most divide samples.
MESHES = (
    *((("dp", 2), ("tp", size)) for size in (1, 2, 2, 2, 3)),
    *((("dp", size),) for size in (2, 2, 3, 4)),
    *((("pod", 2), ("dp", 2)),) * 4,
    *((("pod", 2), ("dp", 2), ("tp", 2)),) * 2,
    (("dp", 2), ("cp", 2), ("tp", 2)),
    (("dp", 3), ("tp", 2)),
    (("dp", 4), ("tp", 2)),
    (("tp", 2),),
    (("tp", 3),),
)

# Operators that are differentiable nearly everywhere.
SMOOTH = (
    *("neg", "square", "exp", "erf", "cos", "sin", "tanh", "sigmoid", "silu", "relu", "softplus", "hardswish", "elu"),
    *("celu", "mish", "log_sigmoid", "expm1", "sqrt", "rsqrt", "reciprocal", "log", "log1p", "gelu", "leaky_relu"),
    *("abs", "add", "sub", "rsub", "mul", "maximum", "minimum"),
)

PLAIN = 0.5  # share of the models with a loss of classes that have no other

# Of these: the derivative has a jump.
KINKED = {"relu", "hardswish", "leaky_relu", "abs", "maximum", "minimum"}


def draw_sizes(generator: random.Random) -> case.Sizes:
    return case.Sizes(
        batch=generator.choice((4, 4, 5, 6, 8, 8, 12)),
        sequence=generator.choice((4, 5, 6, 8)),
        heads=generator.choice((2, 3, 4, 4, 6)),
        head=generator.choice((4, 6)),
        inner=generator.choice((12, 16, 18)),
        vocabulary=generator.choice((24, 32, 41)),
    )


def draw_trained_block(generator: random.Random, index: int, kind: str) -> case.Block:
    """`lines` is a feed-forward block with nothing between its layers but what is smooth."""
    block = draw_block(generator, f"{kind[0]}{index}", "feed_forward" if kind == "lines" else kind, half=False)
    names = [generator.choice(SMOOTH) for _ in range(generator.randint(1, 3))]
    if block.kind == "feed_forward":
        block.steps = [case.Step(name, [generator.randrange(1 << 16) for _ in range(8)]) for name in names]
    return block


def is_smooth(drawn: case.Case) -> bool:
    """True if gradients change little where values do. At a kink, and where experts are chosen, rounding decides."""
    return drawn.stem.kind != "pixels" and all(
        block.kind not in ("experts", "made", "mixture") and not KINKED & {step.name for step in block.steps}
        for block in drawn.blocks
    )


def has_class_loss(drawn: case.Case) -> bool:
    return drawn.head.kind in ("tokens", "tied", "pooled") and loss_kind(drawn.head) != "none"


def draw_training(seed: int, only: str = "") -> case.Case:
    generator, planner = random.Random(f"training {seed // PLANS}"), random.Random(f"training plan {seed}")
    kinds = with_special([generator.choice(BLOCKS) for _ in range(generator.randint(1, 3))], seed, only)
    stem = generator.choice(("text", "text", "text", "hidden", "pixels"))
    heads = (*HEADS, "tied", "tied", "tied") if stem == "text" else HEADS
    drawn = case.Case(
        seed=seed,
        sizes=draw_sizes(generator),
        stem=draw_block(generator, "stem", stem, half=False),
        blocks=[draw_trained_block(generator, index, kind) for index, kind in enumerate(kinds)],
        head=draw_block(generator, "head", generator.choice(heads), half=False),
        half=generator.random() < 0.2,
        model_seed=seed // PLANS,
        decompose=generator.random() < 0.06,
        dropout=generator.choice((0.0, 0.0, 0.0, 0.1, 0.5)),
        axes=list(planner.choice(MESHES)),
        form=planner.randrange(4),
        steps=planner.choice((1, 2)),
    )
    drawn.plain = has_class_loss(drawn) and random.Random(f"training loss {seed // PLANS}").random() < PLAIN
    drawn.random_seed = planner.choice((0, 1, 77)) if drawn.dropout else 0
    model = make_model(drawn)
    # By the strides of its input PyTorch rounds a batch norm of 16 bits once or several times.
    if drawn.half and any(isinstance(module, nn.modules.batchnorm._BatchNorm) for module in model.modules()):
        drawn.half = False
        model = make_model(drawn)
    if not list(model.parameters()):
        drawn.head.kind = "tokens"
        model = make_model(drawn)
    # Parameters after a second step have gone through gradients of what rounding has made of the first.
    if not is_smooth(drawn):
        drawn.steps = 1
    plan_draw.draw_plan(drawn, model, planner)
    StatementDraw(drawn, model, planner).draw()
    add_activations(drawn, random.Random(f"training activations {seed}"))
    if items := init_items(model, Choices(drawn_numbers(planner, 24))):
        drawn.statements.append(case.Statement("init", items))
    return drawn
