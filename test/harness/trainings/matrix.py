"""Trains every model under every way to split a step, and compares with PyTorch.

  harness matrix --models DIR --work DIR [--stages NAME...] [--variants NAME...] [--precision f32|bf16] [--losses N]
                 [--meshplan P] [--steps-program P] [NAME ...]

A cell is one model of models/make_models.py in batches of 12 under one stage, in four variants: as it is, with layers
that are recomputed for the backward pass, with the batch in three pieces, and with both. A model that mixes samples has
the mean of the losses of its pieces, in PyTorch too. It is right if loss and parameters after one step of SGD are
those of PyTorch, as reference/training.py bounds them, and the bytes of ranks those that the compiler planned, as
trainings/training.py bounds them: of f32, or with `--precision bf16` of models in bf16 whose masters in f32 are
trained. With `--losses N` the losses of N steps of AdamW are compared, and parameters are not: Adam makes large
differences of small ones. The plan is one of test/e2e/Inputs, or the draft of `meshplan init`. Prints what became of
each variant that is not right, with the plan and the mesh to repeat it, and a table of all in Markdown. Status 1 if a
variant is wrong or refused.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import io
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from harness import ROOT
from harness.arguments import parser_of
from harness.models import make_models
from harness.plans import Run, check_report, compile_command, files_of, with_statements
from harness.programs import ONE_THREAD, TOOK_TOO_LONG, call, first_error
from harness.reference.addends import References
from harness.reference.archives import load_program
from harness.reference.loss_units import IGNORED
from harness.reference.product_scratch import largest_scratch
from harness.reference.training import Reference, compare, references_of
from harness.runs import memory
from harness.tensors import Tensors
from harness.trainings.steps import add_comparison, make_batches, settings_of, steps_command
from harness.verdicts import Failure

PLANS = ROOT / "test" / "e2e" / "Inputs"
BATCH = 12  # three microbatches on each of four ranks
SECONDS = 300  # for any program
# One step tells the gradients. They are not clipped, which would hide a factor, and count for more than the weights.
OPTIMIZER = "sgd { lr 10 }"
LOSSES_OPTIMIZER = "adamw { lr RATE; weight_decay 0.1 }"
# Where an input of relu is as near to 0 as its rounding error, a gradient is one or the other. Of the tens of thousands
# of inputs that a step of a convolutional network has some are, and Adam makes the difference as large as any. PyTorch
# meets others of them than we do: the steps are smaller, until it does not matter which.
SMALL_STEPS = "1e-5"


@dataclasses.dataclass(frozen=True)
class Case:
    """A model: what of it is a unit, and is recomputed, its plans where `meshplan init` does not draft them, and its
    learning rate where losses are compared.
    """

    layers: str = "model.layers.*"
    plan: str = ""
    sequence: str = ""
    rate: str = "1e-3"
    mixes: bool = False  # samples, so that the loss of pieces is another one than that of the batch


@dataclasses.dataclass(frozen=True)
class Stage:
    """A way to split a step. `data` says UNITS for what is gathered at a time."""

    mesh: str
    data: str = ""
    sequence: bool = False  # with the plan that divides sequences
    pods: bool = False  # samples are divided over a further axis


@dataclasses.dataclass(frozen=True)
class Variant:
    again: bool = False  # layers are recomputed
    pieces: int = 1


@dataclasses.dataclass(frozen=True)
class Job:
    model: str
    stage: str
    variant: str

    @property
    def stem(self) -> str:
        return f"{self.model}-{self.stage}-{self.variant}"

    @property
    def calls(self) -> int:
        """Calls of the model in a step, each with a part of the batch."""
        return VARIANTS[self.variant].pieces if CASES[self.model].mixes else 1


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What became of a job: `ok`, `refused` or `WRONG`, and why."""

    verdict: str
    reason: str = ""


DECODER = Case(plan="decoder.plan", sequence="decoder_sequence.plan")
CASES: dict[str, Case] = {
    "llama": DECODER,
    "llama_tied": DECODER,
    "llama_mask": Case(plan="llama_mask.plan"),
    "llama_lora": Case(plan="lora.plan"),
    "mistral": DECODER,
    "qwen3": Case(plan="decoder.plan", sequence="decoder_sequence_norms.plan"),
    "gemma": DECODER,
    "gemma2": Case(),
    "gemma3": Case(),
    "granite": Case(),
    "olmo2": Case(),
    "stablelm": Case(),
    "cohere": Case(),
    "phi": Case(),
    "phi3": Case(),
    "phi3_uneven": Case(plan="phi3_uneven.plan"),
    "phi3_one_key": Case(plan="phi3_one_key.plan"),
    "gpt2": Case("transformer.h.*", plan="gpt2.plan"),
    "gpt_neox": Case("gpt_neox.layers.*"),
    "gpt_bigcode": Case("transformer.h.*", plan="gpt_bigcode.plan"),
    "falcon": Case("transformer.h.*", plan="falcon.plan"),
    "bloom": Case("transformer.h.*"),
    "mpt": Case("transformer.blocks.*"),
    "opt": Case("model.decoder.layers.*"),
    "bert": Case("bert.encoder.layer.*", plan="bert.plan", sequence="bert_sequence.plan"),
    "bert_masked_lm": Case("bert.encoder.layer.*", plan="bert_masked_lm.plan"),
    "t5": Case("{encoder, decoder}.block.*", plan="t5.plan", sequence="t5_sequence.plan"),
    "t5_gated": Case("{encoder, decoder}.block.*", plan="t5_gated.plan"),
    "whisper": Case("model.{encoder, decoder}.layers.*", plan="whisper.plan", sequence="whisper_sequence.plan"),
    "vit": Case("vit.layers.*", plan="vit.plan", sequence="vit_sequence.plan"),
    "clip": Case("{text, vision}_model.encoder.layers.*", plan="clip.plan", sequence="clip_sequence.plan", mixes=True),
    "resnet": Case("resnet.encoder.stages.*.layers.*", rate=SMALL_STEPS),
    "resnet_basic": Case("resnet.encoder.stages.*.layers.*", plan="resnet_features.plan", rate=SMALL_STEPS),
    "llama4": Case(plan="llama4.plan", mixes=True),
    "mixtral": Case(),
    "mixtral_batched": Case(plan="mixtral_batched.plan"),
    "gpt_oss": Case(),
    "mamba": Case("backbone.layers.*"),
}
ZERO3 = "data dp { shard parameters, gradients, optimizer; unit UNITS }"
STAGES: dict[str, Stage] = {
    "ddp": Stage("dp=2,tp=1", "data dp { bucket 64 KiB }"),
    "zero1": Stage("dp=2,tp=1", "data dp { shard optimizer; unit UNITS }"),
    "zero2": Stage("dp=2,tp=1", "data dp { shard gradients, optimizer; unit UNITS }"),
    "zero3": Stage("dp=2,tp=1", ZERO3),
    "hybrid": Stage(
        "pod=2,dp=2,tp=1", "data pod, dp { shard parameters, gradients, optimizer over dp; unit UNITS }", pods=True
    ),
    "tp": Stage("dp=2,tp=2"),
    "tp_sequence": Stage("dp=2,tp=2", sequence=True),
    "zero3_tp": Stage("dp=2,tp=2", ZERO3),
    "zero3_tp_sequence": Stage("dp=2,tp=2", ZERO3, sequence=True),
}
VARIANTS: dict[str, Variant] = {
    "plain": Variant(),
    "again": Variant(again=True),
    "pieces": Variant(pieces=3),
    "again_pieces": Variant(again=True, pieces=3),
}
DEFECT = re.compile(r"'\w+\.\w+' op ")  # what a verifier of the compiler says is not meant for users


def batched(model: str, precision: str = "f32", batch: int = BATCH) -> str:
    """The name of the model with a batch of this test, or of a piece of one."""
    name = f"{model}_batch{batch}"
    make_models.MODELS.setdefault(name, [*make_models.MODELS[model], "--batch", str(batch)])
    return f"{name}_bfloat16" if precision == "bf16" else name


def ended(command: Sequence[str | Path]) -> tuple[Outcome | None, str]:
    """Runs it. What became of it unless it succeeds, and what it printed. A program that says an error to its user has
    refused; else it has a defect.
    """
    done = call(command, SECONDS, ONE_THREAD)
    if done.returncode == TOOK_TOO_LONG:
        return Outcome("WRONG", f"{Path(command[0]).name} does not end"), ""
    if done.returncode == 0:
        return None, done.stdout
    said = first_error(done.stderr) or "no message"
    if done.returncode == 1 and "error: " in done.stderr and not DEFECT.match(said):
        return Outcome("refused", said), ""
    return Outcome("WRONG", f"{Path(command[0]).name} ended with {done.returncode}: {said}"), ""


def draft(arguments: argparse.Namespace, model: str, sequence: bool) -> str:
    """The text of the plan that `meshplan init` drafts."""
    path = arguments.work / f"{model}{'_sequence' if sequence else ''}.plan"
    options = ["--mesh", "dp=2,tp=2", "-o", path, "--force", *(["--sequence"] if sequence else [])]
    failure, _ = ended([arguments.meshplan, "init", files_of(arguments.models, arguments.model).archive, *options])
    if failure:
        raise Failure(f"no plan is drafted: {failure.reason}")
    return path.read_text()


def plan_of(arguments: argparse.Namespace, model: str, sequence: bool) -> str:
    """The text of the model's plan, or of the one that divides sequences, too."""
    file = CASES[model].sequence if sequence else CASES[model].plan
    return (PLANS / file).read_text() if file else draft(arguments, model, sequence)


def with_uneven_labels(inputs: Tensors) -> Tensors:
    """In each sample more tokens that do not count than in the one before: a mean over a part is not that over all."""
    labels = inputs.get("labels")
    if labels is None or labels.dim() != 2:
        return inputs
    ignored = torch.arange(labels.shape[1]) < (torch.arange(labels.shape[0]) % labels.shape[1])[:, None]
    return inputs | {"labels": labels.masked_fill(ignored, IGNORED)}


def optimizer_of(arguments: argparse.Namespace, case: Case) -> str:
    return LOSSES_OPTIMIZER.replace("RATE", case.rate) if arguments.losses else OPTIMIZER


def training_of(arguments: argparse.Namespace) -> list[str]:
    """The statements of all plans."""
    statements = [f"optimizer {arguments.optimizer}"]
    if arguments.precision == "bf16":
        statements.append("precision { master f32; reduce f32 }")
    return statements


def statements_of(case: Case, stage: Stage, variant: Variant) -> list[str]:
    statements = []
    if stage.data:
        statements.append(stage.data.replace("UNITS", case.layers))
    if variant.again:
        statements.append(f"recompute {case.layers}")
    if variant.pieces > 1:
        statements.append(f"microbatches {variant.pieces}{' mean' if case.mixes else ''}")
    return statements


def with_pods(text: str) -> str:
    """The text of a plan whose samples are divided over an axis `pod`, too."""
    text = re.sub(r"^(\s*mesh\s+)", r"\1pod = 1, ", text, flags=re.MULTILINE)
    return re.sub(r"\bover dp\b", "over (pod, dp)", text)


def text_of(plan: str, archive: Path, training: Sequence[str], case: Case, stage: Stage, variant: Variant) -> str:
    """A plan for this archive that trains in this way."""
    text = re.sub(r'^(\s*model\s+)".*"', rf'\1"{archive.resolve()}"', plan, count=1, flags=re.MULTILINE)
    statements = [*training, *statements_of(case, stage, variant)]
    return with_statements(with_pods(text) if stage.pods else text, statements)


def make_inputs(arguments: argparse.Namespace) -> list[Path]:
    """A batch for each step."""
    inputs = arguments.work / f"{arguments.model}.inputs.safetensors"
    save_file(with_uneven_labels(load_file(files_of(arguments.models, arguments.batch).inputs)), inputs)
    return make_batches(inputs, arguments.work, arguments.losses) if arguments.losses else [inputs]


def run_job(arguments: argparse.Namespace, job: Job, plans: dict[bool, str]) -> tuple[Outcome | None, Run]:
    """Compiles and trains. What became of it, if there is no result to compare."""
    stage = STAGES[job.stage]
    run = Run(arguments.work / f"{job.stem}.plan", stage.mesh, arguments.work / f"{job.stem}.safetensors")
    run.output.unlink(missing_ok=True)
    archive = files_of(arguments.models, arguments.model).archive
    way = CASES[job.model], stage, VARIANTS[job.variant]
    run.plan.write_text(text_of(plans[stage.sequence], archive, training_of(arguments), *way))
    failure, _ = ended(compile_command(arguments, run))
    if failure:
        return failure, run
    failure, metered = ended(steps_command(arguments, run.schedule, run.output, arguments.batches))
    if failure:  # whatever stops a program that was compiled
        return Outcome("WRONG", failure.reason), run
    misfits = [said for said, fits in memory.of_steps(metered, arguments.scratch) if not fits]
    return (Outcome("WRONG", "; ".join(misfits)) if misfits else None), run


def compared(run: Run, references: References[Reference], arguments: argparse.Namespace) -> Outcome:
    """The verdict on the result of a run."""
    reference = references.of(lambda: check_report(arguments, run))
    with contextlib.redirect_stdout(io.StringIO()) as said:
        right = compare(load_file(run.output), reference, settings_of(arguments))
    wrong = [line.removesuffix(": WRONG") for line in said.getvalue().splitlines() if line.endswith(": WRONG")]
    return Outcome("ok") if right else Outcome("WRONG", "; ".join(wrong))


def frozen_in(program: torch.export.ExportedProgram) -> list[str]:
    """The parameters that the model does not train."""
    return [name for name, parameter in program.named_parameters() if not parameter.requires_grad]


def prepare(arguments: argparse.Namespace, model: str) -> tuple[dict[bool, str], References[Reference]]:
    """Makes archive and batches. The plans, that for True dividing sequences, and what PyTorch makes of the steps."""
    if not all(make_models.make(name, arguments.models) for name in {arguments.model, arguments.batch}):
        raise Failure("the model cannot be exported")
    plans = {sequence: plan_of(arguments, model, sequence) for sequence in (False, True)}
    arguments.batches = make_inputs(arguments)
    program = load_program(files_of(arguments.models, arguments.model).archive)
    arguments.frozen = frozen_in(program)
    # Ranks share the cores; where there are more of them each computes on one.
    arguments.scratch = largest_scratch(program, threads=max(1, (os.cpu_count() or 1) // 2))
    batches = [load_file(path) for path in arguments.batches]
    return plans, references_of(program, settings_of(arguments), batches)


def run_model(arguments: argparse.Namespace, model: str) -> Iterator[tuple[Job, Outcome]]:
    """All jobs of a model."""
    jobs = [Job(model, stage, variant) for stage in arguments.stages for variant in arguments.variants]
    for calls in sorted({job.calls for job in jobs}):
        yield from run_jobs(arguments, model, [job for job in jobs if job.calls == calls])


def run_jobs(arguments: argparse.Namespace, model: str, jobs: Sequence[Job]) -> Iterator[tuple[Job, Outcome]]:
    """Jobs that call a model equally often. PyTorch trains once for all of them."""
    calls = jobs[0].calls
    others = {
        "model": batched(model, arguments.precision, BATCH // calls),
        "batch": batched(model, arguments.precision),
        "optimizer": optimizer_of(arguments, CASES[model]),
        "microbatches": calls,
    }
    own = argparse.Namespace(**vars(arguments) | others)
    try:
        plans, references = prepare(own, model)
    except Failure as failure:
        yield from ((job, Outcome("WRONG", str(failure))) for job in jobs)
        return
    with ThreadPoolExecutor(own.jobs) as pool:
        for job, (outcome, run) in zip(jobs, pool.map(lambda job: run_job(own, job, plans), jobs), strict=True):
            yield job, outcome or compared(run, references, own)


def cell_text(outcomes: dict[str, Outcome], numbers: dict[str, str]) -> str:
    """Of the variants of one cell, together where all are alike. A number stands for a reason."""

    def word(outcome: Outcome) -> str:
        number = outcome.reason and numbers.setdefault(outcome.reason, str(len(numbers) + 1))
        return f"{outcome.verdict} {number}".strip()

    variants: dict[str, list[str]] = {}
    for variant, outcome in outcomes.items():
        variants.setdefault(word(outcome), []).append(variant)
    if len(variants) == 1:
        return next(iter(variants))
    return "; ".join(f"{', '.join(names)}: {said}" for said, names in variants.items() if said != "ok")


def table_of(results: Iterable[tuple[Job, Outcome]], stages: Sequence[str]) -> list[str]:
    """Lines of the table, and below it the reasons."""
    cells: dict[str, dict[str, dict[str, Outcome]]] = {}
    for job, outcome in results:
        cells.setdefault(job.model, {}).setdefault(job.stage, {})[job.variant] = outcome
    numbers: dict[str, str] = {}
    lines = ["| model | " + " | ".join(stages) + " |", "|---" * (len(stages) + 1) + "|"]
    for model, row in cells.items():
        lines.append(f"| {model} | " + " | ".join(cell_text(row[stage], numbers) for stage in stages) + " |")
    if numbers:
        lines += ["", *(f"- {number}: {reason}" for reason, number in numbers.items())]
    return lines


def parse_arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = parser_of(__doc__, "folders", "programs", "device")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(CASES)}")
    parser.add_argument("--stages", nargs="+", choices=STAGES, default=list(STAGES))
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=list(VARIANTS))
    parser.add_argument("--precision", choices=("f32", "bf16"), default="f32")
    parser.add_argument("--losses", type=int, default=0, metavar="N")
    parser.add_argument("--jobs", type=int, default=2)
    others = argparse.ArgumentParser()
    add_comparison(others)
    parser.set_defaults(seed=None, **vars(others.parse_args([])))
    arguments = parser.parse_args(words)
    arguments.parameters = not arguments.losses
    arguments.master = "float32" if arguments.precision == "bf16" else None
    if unknown := sorted(set(arguments.names) - set(CASES)):
        parser.error(f"unknown models: {', '.join(unknown)}")
    return arguments


def main(words: Sequence[str]) -> int:
    arguments = parse_arguments(words)
    arguments.work.mkdir(parents=True, exist_ok=True)
    arguments.models.mkdir(parents=True, exist_ok=True)
    results = []
    for model in arguments.names or CASES:
        for job, outcome in run_model(arguments, model):
            results.append((job, outcome))
            if outcome.verdict != "ok":
                plan = arguments.work / f"{job.stem}.plan"
                print(f"{plan} under {STAGES[job.stage].mesh}: {outcome.verdict}: {outcome.reason}", flush=True)
    print("", *table_of(results, arguments.stages), sep="\n")
    return 0 if all(outcome.verdict == "ok" for _, outcome in results) else 1
