"""Draws what a plan states about a model: axes of inputs and outputs, styles of modules, layouts at borders."""

from __future__ import annotations

import math
import random

from torch import nn

from harness.differential import case
from harness.differential.models.made_weights import MadeLinear
from harness.differential.models.mixtures import Weights

FREE = 0.35  # share of the modules whose style is drawn without regard to the others of the block


def product(drawn: case.Case, axes: tuple[str, ...]) -> int:
    return math.prod(size for name, size in drawn.axes if name in axes)


def text(axes: tuple[str, ...]) -> str:
    return axes[0] if len(axes) == 1 else f"({', '.join(axes)})"


class PlanDraw:
    def __init__(self, drawn: case.Case, generator: random.Random) -> None:
        self.drawn = drawn
        self.generator = generator
        names = [name for name, _ in drawn.axes]
        self.batch_axes = self.draw_batch(names)
        others = [name for name in names if name not in self.batch_axes]
        self.sequence_axes = self.draw_sequence(others)
        # In a training, axes that divide samples are those of data blocks.
        self.main = others[-1:] or ([] if drawn.steps else names[-1:])

    def draw_batch(self, names: list[str]) -> tuple[str, ...]:
        """The first axis divides the batch if there are more; now and then another, or two."""
        if len(names) == 1 and names[0] != "dp" and self.generator.random() < 0.8:
            return ()
        axes = (
            tuple(names[: 2 if names[0] == "pod" else 1])
            if self.generator.random() < 0.85
            else tuple(self.generator.sample(names, min(2, len(names))))
        )
        return axes if product(self.drawn, axes) <= self.drawn.sizes.batch else ()

    def draw_sequence(self, names: list[str]) -> tuple[str, ...]:
        if not names or self.generator.random() < 0.75:
            return ()
        return (names[0],) if product(self.drawn, (names[0],)) <= self.drawn.sizes.sequence else ()

    def axes(self, limit: int) -> tuple[str, ...]:
        """Axes of one style: mostly the last one; now and then two, or one that divides the batch as well."""
        names = [name for name, _ in self.drawn.axes]
        if self.drawn.steps and self.generator.random() < 0.9:
            names = [name for name in names if name not in self.batch_axes]
        if not names:
            return ()
        chance = self.generator.random()
        if chance < 0.75:
            axes = tuple(self.main)
        elif chance < 0.85 and len(names) > 1:
            axes = tuple(self.generator.sample(names, 2))
        else:
            axes = (self.generator.choice(names),)
        return axes if product(self.drawn, axes) <= limit else ()

    def dims(self, features: bool) -> list[str]:
        """A layout of [batch, sequence, features] in which no axis is twice."""
        batch = f" over {text(self.batch_axes)}" if self.batch_axes else ""
        sequence = f" over {text(self.sequence_axes)}" if self.sequence_axes else ""
        left = [name for name, _ in self.drawn.axes if name not in self.batch_axes + self.sequence_axes]
        last = f"_ over {left[-1]}" if left and features else "_"
        return [f"batch{batch}", f"seq{sequence}", last]

    def style(self, module: nn.Module, shared: bool) -> str:
        """The style of a module; `shared` if it is to fit to the others of its block."""
        role = getattr(module, "role", "norm")
        choice = self.generator.random()
        if isinstance(module, MadeLinear):
            return self.made(module, shared)
        if role == "source":
            return self.source(module)
        if role == "experts":
            return self.experts(module)
        if role in ("inside", "addends"):
            return self.inside(module)
        if getattr(module, "whole", False):
            return "replicate"
        if not shared:
            role = self.generator.choice((role, "wide", "narrow", "norm", "placed"))
        if isinstance(module, (nn.Linear, nn.Embedding)) or hasattr(module, "units"):
            units, parts = getattr(module, "units", module.weight.size(0)), getattr(module, "parts", "")
            if getattr(module, "groups", 1) == 1:
                units = min(units, *module.weight.shape[:2])
            axes = self.axes(units)
            if not axes or choice < 0.1:
                return "replicate"
            if role == "wide":
                return f"colwise {text(axes)} {parts}".strip()
            if role in ("narrow", "table") and not parts and getattr(module, "groups", 1) == 1:
                return f"rowwise {text(axes)}"
            if role == "placed" and not parts:
                return self.placed(module)
        if isinstance(module, (nn.Conv1d, nn.Conv2d, nn.Conv3d)) or choice < 0.3:
            return "replicate"
        return self.sequence_style(module)

    def sequence_style(self, module: nn.Module) -> str:
        axes = self.sequence_axes or self.axes(self.drawn.sizes.sequence)
        dim = f" dim {module.sequence}" if hasattr(module, "sequence") else ""
        return f"sequence {text(axes)}{dim}" if axes else "replicate"

    def source(self, module: nn.Module) -> str:
        """The style of a layer before a walk or a fan. Parts only where nothing takes groups that they would cut."""
        style = self.generator.choice(("colwise",) * 2 + ("parts",) * 7 + ("sequence",) * 6 + ("placed",))
        if style == "parts" and any(step.name in module.grouped for step in module.readers):
            style = "colwise"
        axes = self.axes(min(module.weight.shape) // 2)
        if style == "sequence":
            return self.sequence_style(module)
        if style == "placed":
            return self.placed(module)
        parts = " parts 2" if style == "parts" else ""
        return f"colwise {text(axes)}{parts}" if axes else "replicate"

    def made(self, module: MadeLinear, shared: bool) -> str:
        """The style of a layer whose weight is made of parameters; now and then one of these is placed by itself."""
        role = module.role if shared else self.generator.choice(("wide", "narrow", "placed"))
        if role == "placed" and not module.form.buffers:
            placed = self.generator.choice(list(module.form.shapes))
            dim = self.generator.randrange(module.get_parameter(placed).dim())
            axes = self.axes(module.get_parameter(placed).size(dim))
            others = [f"{name}: replicate" for name, _ in module.named_parameters() if name != placed]
            return (
                f"parameter {{ {'; '.join([f'{placed}: split {dim} over {text(axes)}', *others])} }}"
                if axes
                else "replicate"
            )
        side = "output" if role == "wide" or not module.divided("input") else "input"
        axes = self.axes(module.limit(side))
        is_refused = module.form.parts if side == "input" else module.form.is_apart and self.drawn.steps
        if not axes or self.generator.random() < 0.1 or is_refused:
            return "replicate"
        style, parts = ("colwise", module.form.parts) if side == "output" else ("rowwise", "")
        return f"{style} {text(axes)} {parts}".strip()

    def experts(self, module: Weights) -> str:
        """Experts divided as wholes, or features of each; some plans leave them whole."""
        kind = self.generator.choice(
            ("experts",) * 4 + ("features",) * 3 + ("first", "last", "outside", "whole", "whole")
        )
        if kind == "whole":
            return "replicate"
        if kind in ("experts", "features") and self.generator.random() < 0.5:
            return self.styles_of_experts(module, kind == "experts")
        sizes = {"experts": module.up.size(0), "outside": module.up.size(2)}
        axes = self.axes(sizes.get(kind, module.down.size(2)))
        if not axes:
            return "replicate"
        items = []
        for name, layout in module.layouts()[kind].items():
            dim, _, parts = layout.partition(" ")
            items.append(f"{name}: split {dim} over {text(axes)} {parts}".strip() if dim else f"{name}: replicate")
        return f"parameter {{ {'; '.join(items)} }}"

    def styles_of_experts(self, module: Weights, whole: bool) -> str:
        """`expert` over one or two axes, which may divide the batch; `within` over another one, beside it or alone."""
        names = [name for name, _ in self.drawn.axes]
        self.generator.shuffle(names)
        experts = tuple(names[: self.generator.choice((1, 1, 2))]) if whole else ()
        left = [name for name in names if name not in experts]
        within = tuple(left[:1]) if not whole or self.generator.random() < 0.4 else ()
        styles = []
        if experts and product(self.drawn, experts) <= module.up.size(0):
            styles.append(f"expert {text(experts)}")
        if within and product(self.drawn, within) <= module.down.size(2):
            styles.append(f"within {text(within)}")
        return ", ".join(styles) or "replicate"

    def inside(self, module: nn.Module) -> str:
        """The style of a module whose input, too, is read by operators, and of the one that makes its addends."""
        axes = self.axes(min(module.weight.shape) // 2)
        return f"rowwise {text(axes)}" if axes else "replicate"

    def placed(self, module: nn.Module) -> str:
        """Storage only, of one parameter; the others are whole."""
        axes = self.axes(min(module.weight.shape[:2]))
        if not axes:
            return "replicate"
        items = [f"weight: split {self.generator.randrange(min(module.weight.dim(), 2))} over {text(axes)}"]
        if getattr(module, "bias", None) is not None:
            items.append("bias: replicate")
        return "parameter { " + "; ".join(items) + " }"

    def border(self, features: int, sides: tuple[str, ...] = ("input", "output"), often: bool = False) -> list[str]:
        """A layout at the border of a block or of a linear layer in it, now and then."""
        if self.generator.random() > (0.35 if often else 0.15):
            return []
        side = self.generator.choice(("output",) if often else sides)
        axes = self.axes(min(self.drawn.sizes.sequence, features))
        form = self.generator.choice(("split", "split", "dims") if often else ("replicate", "split", "dims"))
        if form == "dims":
            return [f"{side} [{', '.join(self.dims(self.generator.random() < 0.5))}]"]
        free = [axis for axis in axes if axis not in self.batch_axes]
        if form == "split" and len(free) == len(axes) > 0:
            return [f"{side} split {self.generator.choice((1, 2))} over {text(axes)}"]
        return [f"{side} replicate"]


def owners(model: nn.Module) -> dict[str, nn.Module]:
    """Modules that have parameters themselves. A tied parameter is placed where it is seen first."""
    seen: set[int] = set()
    found = {}
    for path, module in model.named_modules():
        parameters = [parameter for parameter in module.parameters(recurse=False) if id(parameter) not in seen]
        seen.update(id(parameter) for parameter in parameters)
        if parameters:
            found[path] = module
    return found


def draw_plan(drawn: case.Case, model: nn.Module, generator: random.Random) -> None:
    plan = PlanDraw(drawn, generator)
    hidden = plan.dims(features=generator.random() < 0.15)
    if drawn.stem.kind == "pixels":
        drawn.inputs["start"] = [hidden[0], "_", "_", "_"]
    else:
        drawn.inputs["start"] = hidden if drawn.stem.kind == "hidden" else hidden[:2]
    drawn.inputs["mask"] = drawn.inputs["labels"] = plan.dims(False)[:2]
    if generator.random() < 0.1:
        drawn.outputs["hidden"] = plan.dims(generator.random() < 0.5)
    fitting: dict[str, bool] = {}
    for path, module in owners(model).items():
        block = path.rpartition(".")[0]
        shared = fitting.setdefault(block, generator.random() > FREE)
        if generator.random() < 0.08:
            continue  # left to `rest`
        clauses = [plan.style(module, shared)]
        if path.endswith(".last") and clauses[0].startswith("sequence"):
            clauses = ["replicate"]
        is_fan = path.startswith("blocks.fan")
        if (
            hasattr(module, "units")
            and path.startswith("blocks")
            and not is_fan
            and not getattr(module, "takes_rows", False)
            and not path.endswith((".last", ".narrow", ".wide"))
        ):
            clauses += plan.border(min(module.weight.shape), often=path.endswith(".first"))
        drawn.entries.append(case.Entry(path, clauses))
    for block in drawn.blocks:
        # The first value that tables take is not a hidden state; what walks and some convolutions give first is none.
        sides = {"walk": ("input",), "fan": ("input",), "convolution": ("input",), "tables": ("output",)}.get(
            block.kind, ("input", "output")
        )
        if border := plan.border(drawn.sizes.features, sides):
            drawn.entries.append(case.Entry(f"blocks.{block.name}", border))
