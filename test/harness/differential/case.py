"""A case: a model, a mesh and a plan, all as plain data that is written as JSON."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Step:
    """One operator of a walk, by the name of its family, and what it decides by."""

    name: str
    numbers: list[int]
    distinct: bool = False  # what it chooses from has no equal elements


@dataclass
class Block:
    """A part of the model: its kind, what it decides by, and the operators on the way through it."""

    name: str
    kind: str
    numbers: list[int]
    steps: list[Step] = field(default_factory=list)


@dataclass
class Sizes:
    """Sizes that the blocks share. A hidden state is [batch, sequence, heads * head]."""

    batch: int
    sequence: int
    heads: int
    head: int
    inner: int
    vocabulary: int

    @property
    def features(self) -> int:
        return self.heads * self.head


@dataclass
class Entry:
    """What the plan states for one module: `colwise tp`, `output replicate`."""

    path: str
    clauses: list[str]


@dataclass
class Statement:
    """A statement of training, `data dp` or `clip_grad_norm 0.5`, and the options between its braces."""

    head: str
    options: list[str] = field(default_factory=list)


@dataclass
class Case:
    seed: int
    sizes: Sizes
    stem: Block
    blocks: list[Block]
    head: Block
    half: bool = False  # bfloat16 instead of float32
    decompose: bool = False  # the other form of functional graphs
    axes: list[tuple[str, int]] = field(default_factory=list)
    inputs: dict[str, list[str]] = field(default_factory=dict)  # the dims of a statement
    outputs: dict[str, list[str]] = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)
    form: int = 0  # how the entries are written
    model_seed: int = 0  # of weights and inputs
    steps: int = 0  # of a training; a case without steps runs forward
    dropout: float = 0.0  # of a training
    random_seed: int = 0  # of what is dropped
    plain: bool = False  # the loss of a training is that of classes alone, and some labels do not count
    statements: list[Statement] = field(default_factory=list)  # of training, and of what a forward run has of them

    @property
    def ranks(self) -> int:
        product = 1
        for _, size in self.axes:
            product *= size
        return product

    def model(self) -> tuple[object, ...]:
        """What the model and its inputs follow from; equal for cases that differ in mesh and plan only."""
        trained = (self.steps > 0, self.dropout, self.plain)
        return self.sizes, self.stem, self.blocks, self.head, self.half, self.decompose, self.model_seed, trained

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(dataclasses.asdict(self), indent=1))


def read_case(path: Path) -> Case:
    data = json.loads(path.read_text())

    def block(item: dict) -> Block:
        return Block(**{**item, "steps": [Step(**step) for step in item["steps"]]})

    return Case(
        **{
            **data,
            "sizes": Sizes(**data["sizes"]),
            "stem": block(data["stem"]),
            "blocks": [block(item) for item in data["blocks"]],
            "head": block(data["head"]),
            "axes": [(name, size) for name, size in data["axes"]],
            "entries": [Entry(**entry) for entry in data["entries"]],
            "statements": [Statement(**statement) for statement in data.get("statements", [])],
        }
    )
