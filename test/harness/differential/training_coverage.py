"""Counts what plans state about trainings, and what divided the operators that only trainings have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from harness.differential import case
from harness.differential.coverage import ANY, LEAST, Cell, Coverage
from harness.differential.plans.statements import groups_of
from harness.differential.unreached import is_of_steps

STAGES = ("none", "optimizer", "gradients", "parameters")

# What has to be drawn, by the statement that says it.
KINDS = (
    *(f"data, {stage}" for stage in STAGES),
    *(f"data, {stage}, hybrid" for stage in STAGES[1:]),
    *("data on", "unit", "unit of several", "keep", "bucket", "bucket none", "overlap none", "overlap gradients"),
    *("overlap parameters", "prefetch 0", "prefetch 1", "prefetch 2", "reduce each", "reduce last", "average in"),
    *("average after", "microbatches 1", "microbatches 2", "microbatches 3", "microbatches 4", "recompute"),
    "microbatches mean",
    *("recompute keep", "storage f64", "storage f32", "gather f64", "gather f32", "gather bf16", "reduce f64"),
    *("reduce f32", "reduce bf16", "master f64", "master f32", "state f64", "state f32", "state bf16"),
    *("optimizer sgd", "optimizer adam", "optimizer adamw", "momentum", "nesterov", "dampening", "weight_decay"),
    *("betas", "eps", "group", "clip_grad_norm", "freeze", "train only", "unused", "dropout", "16 bits"),
    *("loss_scale 1024", "loss_scale dynamic", "nonfinite gradients skip", "nonfinite gradients stop"),
    *("loss per token", "loss per sequence", "contiguous parameters", "contiguous gradients", "register buffers"),
    *("offload parameters", "offload optimizer"),
)


def of_data(options: list[str]) -> set[str]:
    found: set[str] = set()
    for words in (option.replace(",", "").split() for option in options):
        if words[0] == "shard":
            stage = next(stage for stage in reversed(STAGES) if stage in words)
            found.add(f"data, {stage}" + (", hybrid" if "over" in words else ""))
        elif words[0] == "unit":
            found |= {"unit", *(["unit of several"] if "[" in " ".join(words) else [])}
        elif words[0] in ("overlap", "contiguous", "offload"):
            found |= {f"{words[0]} {word}" for word in words[1:]}
        elif words[0] == "bucket":
            found.add("bucket none" if words[1] == "none" else "bucket")
        else:
            found.add(words[0] if words[0] == "keep" else f"{words[0]} {words[1]}")
    return found if any(each.startswith("data,") for each in found) else found | {"data, none"}


def of_statement(statement: case.Statement) -> set[str]:
    words = statement.head.split()
    if words[0] == "data":
        return of_data(statement.options) | ({"data on"} if "on" in words else set())
    if words[0] == "recompute":
        return {"recompute", *(["recompute keep"] if "keep" in words else [])}
    if words[0] == "precision":
        return {" ".join(option.split()[:2]) for option in statement.options}
    if words[0] == "optimizer":
        own = {option.split()[0] for option in statement.options}
        return {statement.head} | own.union(*(numbers for _, numbers in groups_of(statement)))
    if words[0] == "loss":
        return {statement.head.replace("loss loss", "loss", 1)}
    if words[0] == "microbatches":
        return {f"microbatches {words[-1]}"}
    return {" ".join(words[: {"train": 2, "nonfinite": 3}.get(words[0], 1)])}


def kinds_of(drawn: case.Case) -> set[Cell]:
    """What the plan of a training says, and what the model does in it."""
    found = {name for name, is_there in (("dropout", drawn.dropout > 0), ("16 bits", drawn.half)) if is_there}
    return {(kind,) for kind in found.union(*map(of_statement, drawn.statements))}


class StatementCoverage:
    def __init__(self) -> None:
        self.counts: Counter[Cell] = Counter()

    def add(self, kinds: set[Cell]) -> None:
        self.counts.update(kinds)

    def missing(self) -> list[Cell]:
        """Kinds with fewer draws than they should have."""
        return [(kind,) for kind in KINDS if self.counts[kind,] < LEAST]

    def table(self) -> str:
        width = max(map(len, KINDS))
        lines = [f"{kind:<{width}} {self.counts[kind,]:>5}" for kind in KINDS]
        return "\n".join([f"{'trainings that say':<{width}}", *lines])

    def summary(self) -> str:
        reached = len(KINDS) - len(self.missing())
        return f"{len(KINDS)} kinds of statements; {reached} in {LEAST} trainings or more"


# Operators of steps that a style divides seldom or never, with the reason.
NOT_DRAWN = "no block of a training has it; modules and models of test/e2e do"
SELDOM = {
    **dict.fromkeys(("aten._log_softmax_backward_data.default",), NOT_DRAWN),
    **dict.fromkeys(("aten.hardsigmoid_backward.default", "aten.hardtanh_backward.default"), NOT_DRAWN),
    **dict.fromkeys(("meshplan.attention_mask_gradient", "meshplan.grouped_weight_gradient"), NOT_DRAWN),
    **dict.fromkeys(("meshplan.grouped_linear_weight_gradient", "meshplan.grouped_bias_gradient"), NOT_DRAWN),
    **dict.fromkeys(("meshplan.grouped_linear_weight_gradient_f32",), NOT_DRAWN),
    **dict.fromkeys(("meshplan.index_sum", "meshplan.scatter_sum"), NOT_DRAWN),
    "meshplan.clip_factor": "its operands are numbers, which nothing divides",
    **dict.fromkeys(("meshplan.to_device", "meshplan.to_host"), "it is there after the phases that are counted"),
}


def step_coverage(targets: Iterable[str]) -> Coverage:
    """Of the operators that only steps have, each of which some style has to divide."""
    return Coverage(filter(is_of_steps, targets), (ANY,), lambda target, _: SELDOM.get(target, ""))


class TrainingCoverage:
    """What plans say, and what they divide. A cell of one word is a statement, one of two an operator and a column."""

    def __init__(self, targets: Iterable[str]) -> None:
        self.statements, self.operators = StatementCoverage(), step_coverage(targets)

    @property
    def counts(self) -> Counter[Cell]:
        return self.statements.counts + self.operators.counts

    def add(self, cells: set[Cell]) -> None:
        self.statements.add({cell for cell in cells if len(cell) == 1})
        self.operators.add({cell for cell in cells if len(cell) == 2})

    def missing(self) -> list[Cell]:
        return self.statements.missing() + self.operators.missing()

    def table(self) -> str:
        return f"{self.statements.table()}\n{self.operators.table()}"

    def summary(self) -> str:
        return f"{self.statements.summary()}\n{self.operators.summary()}"
