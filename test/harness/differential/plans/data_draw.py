"""Draws a data block: over which axes ranks shard what of a training, and how it is moved."""

from __future__ import annotations

import random
import re

from torch import nn

from harness.differential import case
from harness.differential.case import Statement
from harness.differential.plans.plan_draw import owners
from harness.differential.plans.statements import Groups, find, named, untrained

OPTIMIZER, GRADIENTS, PARAMETERS = "optimizer", "gradients, optimizer", "parameters, gradients, optimizer"


def axes_of_batch(drawn: case.Case) -> list[str]:
    return re.findall(r"\w+", drawn.inputs["labels"][0].partition(" over ")[2])


class DataDraw:
    def __init__(self, drawn: case.Case, model: nn.Module, groups: Groups, generator: random.Random) -> None:
        self.drawn, self.groups, self.generator = drawn, groups, generator
        self.owners = list(owners(model))
        self.batch_axes = axes_of_batch(drawn)

    def chance(self, share: float) -> bool:
        return self.generator.random() < share

    def draw(self) -> list[Statement]:
        if not self.chance(0.8):
            return []
        axes = self.axes()
        stage = self.generator.choice((OPTIMIZER, GRADIENTS, PARAMETERS, PARAMETERS, ""))
        over = [self.generator.choice(axes)] if len(axes) > 1 and self.chance(0.7) else axes
        paths = self.free_paths(axes, over if stage else [])
        if not any(self.is_trained(path) for path in paths):
            return []
        options = [f"shard {stage}" + (f" over {over[0]}" if over != axes else "")] if stage else []
        options += self.units(paths) if stage else []
        options += self.movement(paths, stage)
        head = f"data {', '.join(axes)}"
        if len(paths) < len(self.owners) or self.chance(0.1):
            head += f" on {', '.join(paths)}"
        return [Statement(head, options)] if options else []

    def axes(self) -> list[str]:
        """Mostly those that divide samples; now and then others, or one more."""
        names = [name for name, _ in self.drawn.axes]
        if not self.batch_axes or self.chance(0.1):
            return self.generator.sample(names, self.generator.randint(1, min(2, len(names))))
        others = [name for name in names if name not in self.batch_axes]
        more = [self.generator.choice(others)] if others and self.chance(0.15) else []
        return (self.batch_axes[-1:] if self.chance(0.1) else self.batch_axes) + more

    def free_paths(self, axes: list[str], over: list[str]) -> list[str]:
        """Modules that no style divides over the axes of the shards, themselves or below them, and of which the ranks
        of the block hold the same experts.
        """
        said = {entry.path: entry.clauses[0] for entry in self.drawn.entries}

        def divided_by(path: str) -> list[str]:
            style = said.get(path, "")
            return axes if style.startswith("expert") else over

        divided = [path for path in self.owners if set(divided_by(path)) & set(re.findall(r"\w+", said.get(path, "")))]
        return [path for path in self.owners if not any(f"{each}.".startswith(f"{path}.") for each in divided)]

    def is_trained(self, path: str) -> bool:
        """True if something is moved for a parameter of the module."""
        frozen = untrained(self.drawn.statements, self.groups)
        return any(names not in frozen for names in named(self.groups, [path]))

    def units(self, paths: list[str]) -> list[str]:
        """Blocks, stem and head, alone or two together."""
        free = self.inside(paths)
        if not free or self.chance(0.3):
            return []
        blocks = [path for path in free if path.startswith("blocks.")]
        if blocks and self.chance(0.3):
            return ["unit blocks.*"]
        units = self.generator.sample(free, self.generator.randint(1, len(free)))
        if len(units) > 1 and self.chance(0.4):
            units = [f"[{units[0]}, {units[1]}]", *units[2:]]
        return [f"unit {', '.join(units)}"]

    def inside(self, paths: list[str]) -> list[str]:
        """Modules that hold a trained one of these; a head that is tied to the stem counts with it."""
        outer = ["stem", "head", *(f"blocks.{block.name}" for block in self.drawn.blocks)]
        if self.drawn.head.kind == "tied":
            outer.remove("head")
        inside = [each for each in paths if self.is_trained(each)]
        return [path for path in outer if any(f"{each}.".startswith(f"{path}.") for each in inside)]

    def movement(self, paths: list[str], stage: str) -> list[str]:
        """When and in which pieces."""
        pick, options = self.generator.choice, []
        if self.chance(0.4) or not stage:
            options.append(f"bucket {pick(('none', '1 KiB', '4 KiB', '64 KiB'))}")
        if stage == PARAMETERS:
            options += self.gathers(paths)
        elif self.chance(0.4):
            gathers = ("overlap parameters", "overlap gradients, parameters") if stage else ()
            options.append(pick(("overlap none", "overlap gradients", *gathers)))
            if "parameters" in options[-1] and self.chance(0.3):
                options.append(f"prefetch {pick((1, 2))}")
        if find(self.drawn.statements, "microbatches") and self.chance(0.5):
            options.append(pick(("reduce each microbatch", "reduce last microbatch")))
        if self.chance(0.3):
            options.append(pick(("average in collective", "average after collective")))
        return options

    def gathers(self, paths: list[str]) -> list[str]:
        """Of parameters that are gathered. What is gathered ahead overlaps, and nothing else."""
        inside = self.inside(paths)
        options = [f"keep {self.generator.choice(inside)}"] if inside and self.chance(0.3) else []
        overlap = self.generator.choice(("", "none", "gradients", "parameters", "gradients, parameters"))
        ahead = ("1", "2") if "parameters" in overlap else ("0",) if overlap else ("0", "1", "2")
        if overlap:
            options.append(f"overlap {overlap}")
        if self.chance(0.4):
            options.append(f"prefetch {self.generator.choice(ahead)}")
        return options
