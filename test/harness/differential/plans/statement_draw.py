"""Draws how a model is trained: which parameters, by which optimizer, how they are divided, and in which dtypes."""

from __future__ import annotations

import random

import torch
from torch import nn

from harness.differential import case
from harness.differential.case import Statement
from harness.differential.models.model import Model, make_inputs
from harness.differential.plans.data_draw import DataDraw, axes_of_batch
from harness.differential.plans.memory_draw import add_memory
from harness.differential.plans.plan_draw import product
from harness.differential.plans.statements import Groups, find, items_of, keeps_states, named, untrained
from harness.reference.loss_units import UNITS


def parameter_groups(model: nn.Module) -> Groups:
    """The names of each parameter."""
    groups: dict[int, list[str]] = {}
    for name, parameter in model.named_parameters(remove_duplicate=False):
        groups.setdefault(id(parameter), []).append(name)
    return list(groups.values())


def unreached(drawn: case.Case, model: nn.Module) -> list[str]:
    """A name of each parameter that the loss does not depend on."""
    with torch.enable_grad():
        loss = model(**make_inputs(drawn))["loss"]
        parameters = list(model.parameters())
        gradients = torch.autograd.grad(loss, parameters, allow_unused=True) if loss.requires_grad else [None]
    names = [name for name, _ in model.named_parameters()]
    return [name for name, gradient in zip(names, gradients, strict=False) if gradient is None]


def add_activations(drawn: case.Case, generator: random.Random) -> None:
    """Now and then the dtype in which a 16-bit model's partial sums are sent; else it is the model's own."""
    if not drawn.half or generator.random() < 0.5:
        return
    said = f"activations {generator.choice(('f32', 'f32', 'bf16'))}"
    if precision := find(drawn.statements, "precision"):
        precision.options.append(said)
    else:
        drawn.statements.append(Statement("precision", [said]))


class StatementDraw:
    def __init__(self, drawn: case.Case, model: Model, generator: random.Random) -> None:
        self.drawn, self.model, self.generator = drawn, model, generator
        self.groups = parameter_groups(model)
        self.blocks = [f"blocks.{block.name}" for block in drawn.blocks]
        self.data = DataDraw(drawn, model, self.groups, generator)

    def chance(self, share: float) -> bool:
        return self.generator.random() < share

    def some(self, items: list[str], most: int) -> list[str]:
        """At least one of them, in any order."""
        return self.generator.sample(items, self.generator.randint(1, min(most, len(items))))

    def draw(self) -> None:
        drawn = self.drawn
        if missing := unreached(drawn, self.model):
            drawn.statements.append(Statement(f"unused {', '.join(missing)}"))
        for add in (self.trained, self.optimizer, self.microbatches, self.data.draw, self.recompute):
            drawn.statements += add()
        if self.chance(0.15):
            drawn.statements.append(Statement(f"nonfinite gradients {self.generator.choice(('skip', 'stop'))}"))
        if self.chance(0.3):
            drawn.statements.append(Statement(f"clip_grad_norm {self.generator.choice(('0.1', '0.5', '2'))}"))
        drawn.statements += self.precision()
        add_memory(drawn, self.groups, self.generator)
        drawn.statements += self.loss()
        self.generator.shuffle(drawn.statements)

    def reached(self) -> Groups:
        """Parameters that are trained, as far as statements are drawn."""
        frozen = untrained(self.drawn.statements, self.groups)
        return [names for names in self.groups if names not in frozen]

    def trained(self) -> list[Statement]:
        """`freeze`, `train only` or nothing. On CPUs PyTorch ends where it makes the gradients of a group norm's scale
        and not of its input.
        """
        if any(isinstance(module, nn.GroupNorm) for module in self.model.modules()) or not self.chance(0.3):
            return []
        reached = self.reached()
        paths = {path for names in reached for name in names for path in (name, name.rpartition(".")[0])}
        around = [path for path in (*self.blocks, "blocks.*", "head", "stem") if named(reached, [path])]
        forms = [path for path in ("**.bias", "**.weight") if named(reached, [path])]
        path = self.generator.choice((sorted(paths - {""}), around, forms)[self.generator.randrange(3)] or around)
        # What the loss does not reach is neither trained nor frozen.
        frozen = named(self.groups, [path])
        if any(names not in reached for names in frozen):
            return []
        if self.chance(0.4):
            return [Statement(f"train only {path}")]
        return [Statement(f"freeze {path}")] if len(frozen) < len(reached) else []

    def optimizer(self) -> list[Statement]:
        pick, kind = self.generator.choice, self.generator.choice(("sgd", "sgd", "sgd", "adam", "adamw"))
        if kind != "sgd":
            self.drawn.steps = 2  # its gradients are seen in the second loss only
        options = [f"lr {pick(('0.05', '0.1', '0.2') if kind == 'sgd' else ('1e-3', '1e-2'))}"]
        if kind == "sgd" and self.chance(0.6):
            options.append(f"momentum {pick(('0.9', '0.5'))}")
            if self.chance(0.5):
                options.append(pick(("nesterov", "dampening 0.3")))
        if kind != "sgd" and self.chance(0.4):
            options.append(pick(("betas (0.8, 0.95)", "eps 1e-6", "betas (0.9, 0.99)")))
        if self.chance(0.4):
            options.append(f"weight_decay {pick(('0.01', '0.1'))}")
        return [Statement(f"optimizer {kind}", options + self.group())]

    def group(self) -> list[str]:
        """Other numbers for some parameters, now and then."""
        reached = self.reached()
        paths = [path for path in (*self.blocks, "**.bias", "stem", "head") if named(reached, [path])]
        if not paths or not self.chance(0.3):
            return []
        numbers = self.some(["lr 0.03", "weight_decay 0.2"], 2)
        return [f"group {self.generator.choice(paths)} {{ {'; '.join(numbers)} }}"]

    def microbatches(self) -> list[Statement]:
        shards = product(self.drawn, tuple(axes_of_batch(self.drawn)))
        if self.drawn.sizes.batch >= shards and self.chance(0.15):
            return [Statement(f"microbatches {self.generator.choice((2, 3))} mean")]
        counts = [count for count in (1, 2, 3, 4) if self.drawn.sizes.batch % (count * shards) == 0]
        if not counts or not self.chance(self.share_of_microbatches()):
            return []
        return [Statement(f"microbatches {self.generator.choice(counts[1:] or counts)}")]

    def share_of_microbatches(self) -> float:
        """They are mostly refused where the plan lists the dims of a border: then it says so less often."""
        clauses = [clause for entry in self.drawn.entries for clause in entry.clauses]
        is_stated = any("[" in clause for clause in clauses)
        return 0.1 if is_stated else 0.65

    def recompute(self) -> list[Statement]:
        if not self.chance(0.4):
            return []
        ends = [name for name in ("stem", "head") if named(self.groups, [name])]
        paths = ["blocks.*"] if self.chance(0.3) else self.some([*self.blocks, *ends], 3)
        keep = f" keep {self.kept(paths)}" if self.kept(paths) and self.chance(0.5) else ""
        return [Statement(f"recompute {', '.join(paths)}{keep}")]

    def kept(self, paths: list[str]) -> str:
        """An operator that one of the modules has. What the loss does not reach is not in a training."""
        inside = [path for path in (self.blocks if paths == ["blocks.*"] else paths) if self.is_reached(path)]
        modules = [child for path in inside for child in self.model.get_submodule(path).modules()]
        is_linear = any(isinstance(child, nn.Linear) for child in modules)
        return "linear" if is_linear and not self.drawn.decompose else ""

    def is_reached(self, path: str) -> bool:
        """A tied head has a weight that is reached by itself."""
        if path == "head" and not self.model.head.is_read:
            return False
        unused = find(self.drawn.statements, "unused")
        return unused is None or not named(named(self.groups, items_of(unused.head.removeprefix("unused"))), [path])

    def loss(self) -> list[Statement]:
        """Per token or per sequence; now and then of a loss that is of more than classes, which is refused. A mean over
        microbatches is of the model's own.
        """
        microbatches = find(self.drawn.statements, "microbatches")
        if (microbatches and "mean" in microbatches.head) or not self.chance(0.5 if self.drawn.plain else 0.005):
            return []
        return [Statement(f"loss loss per {self.generator.choice(UNITS)}")]

    def precision(self) -> list[Statement]:
        """Dtypes that have no fewer digits than those of the model; of a 16-bit model also its own."""
        if not self.chance(0.6 if self.drawn.half else 0.2):
            return []
        wide, pick = ("f32", "bf16") if self.drawn.half else ("f64", "f32"), self.generator.choice
        stage = find(self.drawn.statements, "data")
        optimizer = find(self.drawn.statements, "optimizer")
        options = [
            f"{name} {pick(wide)}"
            for name, share, is_there in (
                ("gather", 0.7, stage is not None and any("parameters" in each for each in stage.options)),
                ("reduce", 0.4, True),
                ("state", 0.4, optimizer is not None and keeps_states(optimizer)),
            )
            if is_there and self.chance(share)
        ]
        kept = pick(("master", "master", "storage", "both", ""))
        if kept in ("master", "both"):
            options.append(f"master {wide[0]}")
        if kept in ("storage", "both"):
            options.append(f"storage {wide[0]}")
        if self.chance(0.25):
            stops = find(self.drawn.statements, "nonfinite gradients stop")  # by which no scale is found
            options.append(
                "loss_scale 1024" if stops else pick(("loss_scale 1024", "loss_scale dynamic { initial 64 }"))
            )
        return [Statement("precision", options)] if options else []
