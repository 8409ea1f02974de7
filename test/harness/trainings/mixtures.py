"""Trains mixtures of experts under every way to divide their experts, and compares with PyTorch.

  harness mixtures --models DIR --work DIR [--layouts NAME...] [--meshplan P] [--meshplan-run P] [--steps-program P]
                   [NAME ...]

A cell is one model of models/make_models.py under one layout. It is right if all outputs of the forward pass (logits,
loss, auxiliary loss), the gradient of every parameter, and the losses and parameters of three clipped steps are those
of PyTorch, as reference/forward.py, gradients.py and training.py bound them. Prints what is wrong in a cell, with the
plan that repeats it, how many choices of experts were replayed (reference/choices.py), and a table in Markdown. Status
1 if a cell is wrong or refused.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import io
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from subprocess import CalledProcessError

from safetensors.torch import load_file

from harness.arguments import parser_of
from harness.plans import Run, compile_run, execute, made_files
from harness.programs import first_error
from harness.reference.archives import load_program
from harness.reference.choices import MOST_REPLAYED, Count
from harness.reference.forward import Reference as ForwardReference
from harness.reference.gradients import GradientReference
from harness.reference.training import Settings, compare, references_of
from harness.trainings.steps import make_batches, run_steps

STEPS = 3
OPTIMIZER = "sgd { lr 1 }"
CLIP = 0.5
SETTINGS = Settings(optimizer="sgd", numbers={"lr": 1.0}, clip=CLIP, parameters=True)
LLAMA = ("self_attn.{q, k, v}_proj: colwise tp", "self_attn.o_proj: rowwise tp")
LATENT = ("self_attn.{q_b, kv_b}_proj: colwise tp", "self_attn.o_proj: rowwise tp")


@dataclasses.dataclass(frozen=True)
class Mixture:
    """Where a model has its experts, and what of it is divided beside them."""

    experts: str = "model.layers.*.mlp.experts"
    layers: str = "model.layers.*"
    attention: tuple[str, ...] = LLAMA
    norms: tuple[str, ...] = ("model.layers.*.*_layernorm: sequence tp", "model.norm: sequence tp")
    head: tuple[str, ...] = ("lm_head: colwise tp",)
    inputs: str = "input_ids, labels"

    def divided_attention(self) -> list[str]:
        return [*(f"{self.layers}.{statement}" for statement in self.attention), *self.head]


def by_hand(experts: str) -> Mixture:
    return Mixture(experts, experts.strip("{}"), (), ("norms.*: sequence tp",), (), "ids")


MIXTURES = {
    "mixtral_six": Mixture(),
    "mixtral_balanced": Mixture(),
    "qwen2_moe": Mixture(),
    "qwen3_moe": Mixture(),
    "qwen3_moe_balanced": Mixture(),
    "olmoe": Mixture(),
    "granitemoe": Mixture(experts="model.layers.*.block_sparse_moe.experts"),
    "phimoe": Mixture(),
    "glm4_moe": Mixture(),
    "deepseek_v2": Mixture(attention=LATENT),
    "deepseek_v3": Mixture(attention=LATENT),
    "gpt_oss_grouped": Mixture(attention=()),
    "mixtures_loss": by_hand("{sorted, copied, masked.experts}"),
    "loop_mixtures_loss": by_hand("{weights, masks, listed.experts}"),
    "sparse_mixtures_loss": by_hand("{hidden.experts, looped.experts, renormalised}"),
    "adapted_mixtures_loss": by_hand("{weights, rows}"),
}


@dataclasses.dataclass(frozen=True)
class Layout:
    """A mesh, and the statements of a plan for a mixture."""

    mesh: str
    statements: Callable[[Mixture], list[str]]
    fold: str = ""


def expert(axes: str, *more: str) -> Callable[[Mixture], list[str]]:
    def statements(mixture: Mixture) -> list[str]:
        named = [statement.replace("LAYERS", mixture.layers) for statement in more]
        return [f"{mixture.experts}: expert {axes}", *named]

    return statements


def beside(axes: str, norms: bool) -> Callable[[Mixture], list[str]]:
    """Experts over these axes, and tp for attention; positions over tp where norms divide them."""

    def statements(mixture: Mixture) -> list[str]:
        divided = [*mixture.divided_attention(), *(mixture.norms if norms else ())]
        return [f"{mixture.experts}: expert {axes}", *divided]

    return statements


def within(mixture: Mixture) -> list[str]:
    return [f"{mixture.experts}: expert dp, within tp", *mixture.divided_attention()]


SHARDED = "data dp { shard parameters, gradients, optimizer; unit LAYERS }"
LAYOUTS = {
    "ep 2": Layout("dp=2", expert("dp")),
    "ep 4": Layout("dp=4", expert("dp")),
    "ep x tp": Layout("dp=2,tp=2", beside("dp", norms=False)),
    "fold": Layout("dp=2,tp=2", beside("ep", norms=True), fold="fold (dp, tp) as (ep = 4)"),
    "fold, copies": Layout("dp=2,tp=2", beside("ep", norms=False), fold="fold (dp, tp) as (ep = 4)"),
    "within etp": Layout("dp=2,tp=2", within),
    "ep x zero3": Layout("dp=4", expert("ep", SHARDED), fold="fold (dp) as (edp = 2, ep = 2)"),
    "major digit": Layout("dp=6", expert("ep"), fold="fold (dp) as (ep = 2, edp = 3)"),
    "sequence": Layout("dp=2,tp=2", beside("(dp, tp)", norms=True)),
    "microbatches": Layout("dp=2", expert("dp", "microbatches 3")),
    "recompute": Layout("dp=2", expert("dp", "recompute LAYERS")),
}


def plan_of(mixture: Mixture, layout: Layout, archive: Path, more: Sequence[str]) -> str:
    lines = [
        f'model "{archive.resolve()}"',
        f"mesh {layout.mesh.replace(',', ', ').replace('=', ' = ')}",
        *filter(None, [layout.fold]),
        f"input {mixture.inputs}: [batch over dp, seq]",
        "loss loss",
        *layout.statements(mixture),
        "rest: replicate",
        *more,
    ]
    return "plan mixture {\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


class Cells:
    """All layouts of one model: what PyTorch makes of it is computed once."""

    def __init__(self, arguments: argparse.Namespace, model: str) -> None:
        self.arguments = argparse.Namespace(**vars(arguments) | {"model": model, "seed": None})
        self.mixture, self.folder = MIXTURES[model], arguments.work / model
        self.folder.mkdir(parents=True, exist_ok=True)
        files = made_files(self.arguments)
        self.archive = files.archive
        program, inputs = load_program(files.archive), load_file(files.inputs)
        self.paths = make_batches(files.inputs, self.folder, STEPS)
        self.forward = ForwardReference(program, inputs)
        self.gradients = GradientReference(program, inputs, "loss")
        self.training = references_of(program, SETTINGS, [load_file(path) for path in self.paths]).of(dict)

    def run_of(self, name: str, what: str, more: Sequence[str]) -> Run:
        layout = LAYOUTS[name]
        plan = self.folder / f"{name.replace(', ', '-').replace(' ', '-')}.{what}.plan"
        plan.write_text(plan_of(self.mixture, layout, self.archive, more))
        return Run(plan, layout.mesh, plan.with_suffix(".safetensors"))

    def check(self, name: str) -> bool:
        """Prints the comparisons of one layout."""
        optimizer = [f"optimizer {OPTIMIZER}"]
        # Nothing else of a training is in a plan without one.
        run = self.run_of(name, "forward", [])
        run.plan.write_text(
            re.sub(r"^  (microbatches|recompute|data) .*\n", "", run.plan.read_text(), flags=re.MULTILINE)
        )
        execute(self.arguments, run)
        right = self.forward.compare(load_file(run.output), "forward")
        run = self.run_of(name, "gradients", optimizer)
        execute(self.arguments, run, program="step", options=["--gradients"])
        right &= self.gradients.compare(load_file(run.output), "gradients")
        run = self.run_of(name, "steps", [*optimizer, f"clip_grad_norm {CLIP}"])
        compile_run(self.arguments, run)
        trained = run_steps(self.arguments, run.schedule, run.output, self.paths)
        return compare(trained.tensors, self.training, SETTINGS) and right

    def verdict_of(self, name: str) -> str:
        """`ok`, or what became of the cell; prints why."""
        said = io.StringIO()
        try:
            with contextlib.redirect_stdout(said):
                right = self.check(name)
            found = "ok" if right else "WRONG"
        except CalledProcessError as error:
            found = "refused"
            said.write(first_error(str(error.stderr or error.stdout or "")) + "\n")
        if found != "ok":
            print(f"{self.arguments.model}, {name}: {found}, {self.folder}", flush=True)
            lines = said.getvalue().splitlines()
            print("".join(f"  {line}\n" for line in lines if found == "refused" or "WRONG" in line), end="", flush=True)
        return found

    def counts(self) -> Iterator[Count]:
        yield self.gradients.choices.count
        yield self.training.choices.count


def main(words: Sequence[str]) -> int:
    parser = parser_of(__doc__, "folders", "programs")
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[[], *MIXTURES], help="default: all models")
    parser.add_argument("--layouts", nargs="+", choices=LAYOUTS, default=list(LAYOUTS))
    arguments = parser.parse_args(words)
    rows, total = {}, Count()
    for model in arguments.names or MIXTURES:
        cells = Cells(arguments, model)
        rows[model] = [cells.verdict_of(name) for name in arguments.layouts]
        total = Count(*(sum(numbers) for numbers in zip(total, *cells.counts(), strict=True)))
        print(f"{model}: {', '.join(rows[model])}", flush=True)
    print(f"\n| model | {' | '.join(arguments.layouts)} |\n|---|{'---|' * len(arguments.layouts)}")
    for model, found in rows.items():
        print(f"| {model.removesuffix('_loss')} | {' | '.join(found)} |")
    few = total.replayed <= MOST_REPLAYED * total.rows
    share = 100 * total.replayed / max(total.rows, 1)
    print(f"\nchoices: {total.replayed} of {total.rows} are replayed ({share:.2f} %): {'ok' if few else 'WRONG'}")
    return 0 if few and all(cell == "ok" for found in rows.values() for cell in found) else 1
