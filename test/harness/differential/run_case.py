"""Runs one case: export, compile, run, compare with PyTorch."""

from __future__ import annotations

import copy
import dataclasses
import functools
import json
import os
import pickle
import random
import re
import subprocess
import unittest.mock
import warnings
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from harness.differential import case, training
from harness.differential.case_process import case_process, environment
from harness.differential.coverage import Cell, read_cells
from harness.differential.elsewhere import own_result, result_of, write_case
from harness.differential.models.made_weights import fan_faults, layout_faults, made_layers
from harness.differential.models.model import make_inputs, make_model
from harness.differential.plans.memory_draw import WORDS, without_memory
from harness.differential.plans.plan_draw import owners
from harness.differential.plans.plan_text import plan_text
from harness.differential.plans.statements import addends_of, find, rounded_addends
from harness.differential.refusals import reason_of
from harness.differential.training_coverage import kinds_of
from harness.differential.unreached import is_of_steps
from harness.plans import with_statements
from harness.reference.deviations import MOST_DRAWS, Deviation, beside, largest_error
from harness.reference.forward import Reference
from harness.tensors import differing

SLOW_NETWORK = Path(__file__).parent / "slow_network.json"
SLOW_MACHINE = Path(__file__).parent / "slow_machine.json"
TIMEOUT = 120  # seconds of a rank's wait; a program that takes longer is stopped

RIGHT, REFUSED, WRONG, INVALID, WRITTEN = "right", "refused", "wrong", "invalid", "written"


@dataclass(frozen=True)
class Programs:
    meshplan: str
    meshplan_run: str
    record_coverage: str
    work: Path
    run_steps: str = "run-steps"
    run_cases: str = ""  # instead of meshplan-run, for forward runs
    device: str = "cpu"  # for which plans are compiled
    written: Path | None = None  # cases are written to this folder instead of run
    results: Path | None = None  # of cases that were run elsewhere


@dataclass
class Outcome:
    """What became of a case. `invalid`: PyTorch itself does not run it, which only a shrunk case may be. `written`: it
    is to be run elsewhere."""

    seed: int
    kind: str
    message: str = ""
    share: float = 0.0
    reached: set[Cell] = field(default_factory=set)  # cells of a coverage table


class CaseError(Exception):
    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def use_one_core() -> None:
    """A rank has a thread for each core that is left to it, and by the number of threads PyTorch chooses kernels and
    layouts, of which some are less exact: that of the reference has one."""
    os.sched_setaffinity(0, {random.choice(sorted(os.sched_getaffinity(0)))})


def call(command: list[str], begin: Callable[[], None] | None = None) -> subprocess.CompletedProcess[str]:
    limits = {"timeout": 2 * TIMEOUT, "preexec_fn": begin}
    try:
        return subprocess.run(command, capture_output=True, text=True, env=environment(), **limits)
    except subprocess.TimeoutExpired as error:
        raise CaseError(WRONG, f"{Path(command[0]).name} {command[1]} hangs") from error


class CaseReference(Reference):
    """`share_of` makes further draws, of other weights: rotations tell little of a small model."""

    def deviation(self, name: str, ours: torch.Tensor) -> Deviation:
        return self.deviation_of_draws(name, ours)

    @functools.cached_property
    def weights(self) -> dict[int, torch.Tensor]:
        """Those of the case."""
        return {parameter.data_ptr(): parameter.detach().clone() for parameter in self.narrow.parameters()}

    def add_further_draw(self, drawn: case.Case, draw: int) -> None:
        """One of inputs and weights beside those of the case, or of other inputs and turned weights.

        Beside them all is as large as in the case, and rounded otherwise. The largest element of another draw may lie
        below a power of two that it lies above here: it is rounded to half as much.
        """
        weights, generator = self.weights, torch.Generator().manual_seed(draw)
        if draw % 2:
            inputs = {name: beside(tensor, generator) for name, tensor in self.inputs.items()}
            self.change_weights(lambda parameter: beside(weights[parameter.data_ptr()], generator))
        else:
            inputs = make_inputs(dataclasses.replace(drawn, model_seed=drawn.model_seed + draw))
            self.change_weights(lambda own: weights[own.data_ptr()].flatten().roll(draw).view_as(own))
        self.add_other_draw(inputs)

    def take_errors(self, own: dict[str, torch.Tensor]) -> None:
        """Of PyTorch's run on another machine, in place of those of this one."""
        self.own_errors |= {name: largest_error(tensor, self.wide[name]) for name, tensor in own.items()}


@dataclass
class Model:
    """A model of one or several cases, exported, with its weights and inputs in files beside `base`."""

    drawn: tuple[object, ...]
    module: torch.nn.Module
    program: torch.export.ExportedProgram
    inputs: dict[str, torch.Tensor]
    references: dict[int, CaseReference] = field(default_factory=dict)  # by the addends of products

    def reference_of(self, drawn: case.Case, programs: Programs) -> CaseReference:
        """Made when a case gets as far. Bounds come from PyTorch's errors on the device of the case, where there is
        one: here, or where the case was run."""
        addends = addends_of(drawn)
        if addends not in self.references:
            device = programs.device if torch.cuda.is_available() else "cpu"
            with rounded_addends(drawn):
                self.references[addends] = CaseReference(self.program, self.inputs, device=device)
            if programs.results and (own := own_result(programs.results, drawn.seed)):
                self.references[addends].take_errors(load_file(own))
        return self.references[addends]


def export(drawn: case.Case, base: Path) -> Model:
    try:
        model, inputs = make_model(drawn), make_inputs(drawn)
        with torch.no_grad():
            model(**inputs)
    except Exception as error:
        raise CaseError(INVALID, f"{type(error).__name__}: {error}") from error
    with warnings.catch_warnings(), torch.set_grad_enabled(drawn.steps > 0):
        warnings.simplefilter("ignore")
        program = torch.export.export(model, (), inputs, strict=False)
        if drawn.decompose:
            program = program.run_decompositions({})
        # It is put in order as a copy, which pickle makes in a fraction of the time.
        with unittest.mock.patch.object(copy, "deepcopy", lambda value: pickle.loads(pickle.dumps(value))):
            torch.export.save(program, base.with_suffix(".pt2"))
    save_file(unshared(model.state_dict()), base.with_suffix(".weights"))
    save_file(inputs, base.with_suffix(".inputs"))
    return Model(drawn.model(), model, program, inputs)


def write_plan(drawn: case.Case, model: torch.nn.Module, base: Path) -> None:
    covered = {entry.path for entry in drawn.entries if not entry.clauses[0].startswith(("input", "output"))}
    uncovered = any(path not in covered for path in owners(model))
    named = dataclasses.replace(drawn, entries=[by_parameter(drawn, entry, model) for entry in drawn.entries])
    base.with_suffix(".plan").write_text(plan_text(named, base.with_suffix(".pt2").name, uncovered))


def by_parameter(drawn: case.Case, entry: case.Entry, model: torch.nn.Module) -> case.Entry:
    """Of each fourth module with one parameter, what the plan states is stated for the parameter."""
    own = [name for name, _ in model.get_submodule(entry.path).named_parameters(recurse=False)]
    is_style = len(entry.clauses) == 1 and entry.clauses[0].startswith(("colwise", "rowwise", "replicate"))
    if len(own) != 1 or not is_style or zlib.crc32(f"{drawn.seed} {entry.path}".encode()) % 4:
        return entry
    return case.Entry(f"{entry.path}.{own[0]}", entry.clauses)


def unshared(state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Tied weights under one of their names, as files have them."""
    seen: set[int] = set()
    return {
        name: tensor.contiguous()
        for name, tensor in state.items()
        if tensor.data_ptr() not in seen and not seen.add(tensor.data_ptr())
    }


def compile_options(drawn: case.Case, device: str) -> list[str]:
    """How the schedule is found, and for which machines. A slow network leaves collectives in flight between
    microbatches; on a slow machine it pays to split products, and to compute halves beside each other."""
    way = schedule_way(drawn)
    if way in ("program", "search"):
        return ["--schedule", way]
    clusters = {"network": SLOW_NETWORK, "halves": SLOW_MACHINE, "split": SLOW_MACHINE}
    return ["--cluster", str(clusters[way])] if way in clusters and device == "cpu" else []


def schedule_way(drawn: case.Case) -> str:
    ways = ("program", "search", "network", "network", "halves", "split", "list")
    return ways[zlib.crc32(f"{drawn.seed} schedule".encode()) % len(ways)]


def allow_splits(programs: Programs, plan: Path, options: list[str]) -> None:
    """Lets the schedule split products, if the plan has any that can be split."""
    whole = plan.read_text()
    plan.write_text(with_statements(whole, [f"overlap {{ split products {2 + zlib.crc32(whole.encode()) % 3} }}"]))
    if "nothing can be split" in call([programs.meshplan, "check", str(plan), *options]).stderr:
        plan.write_text(whole)


def allow_halves(programs: Programs, plan: Path, options: list[str]) -> None:
    """Lets a step run in halves of its samples, where microbatches of half as many would not be refused."""
    whole = plan.read_text()
    plan.write_text(with_statements(whole, ["overlap { halves }"]))
    checked = call([programs.meshplan, "check", str(plan), *options])
    if checked.returncode == 1 and ("halves" in checked.stderr or reason_of(checked.stderr)):
        plan.write_text(whole)


def compile_plan(programs: Programs, base: Path, drawn: case.Case) -> set[Cell]:
    """What the case reaches: operators by its layouts, or statements of training."""
    plan, schedule = str(base.with_suffix(".plan")), str(base.with_suffix(".sched"))
    options = ["--device", programs.device, *compile_options(drawn, programs.device)]
    if schedule_way(drawn) == "split":
        allow_splits(programs, base.with_suffix(".plan"), options)
    if schedule_way(drawn) == "halves" and drawn.steps:
        allow_halves(programs, base.with_suffix(".plan"), options)
    result = call([programs.meshplan, "compile", plan, *options, "-o", schedule])
    if result.returncode != 0:
        reason = reason_of(result.stderr) if result.returncode == 1 else ""
        if reason:
            raise CaseError(REFUSED, reason)
        said = result.stderr[max(result.stderr.find("error: "), 0) :]
        raise CaseError(WRONG, f"compile ends with {result.returncode}: {said[-2000:]}")
    read = call([programs.record_coverage, plan])
    if read.returncode != 0:
        raise CaseError(WRONG, f"record-coverage ends with {read.returncode}: {read.stderr[-2000:]}")
    cells = read_cells(read.stdout)
    return kinds_of(drawn) | {cell for cell in cells if is_of_steps(cell[0])} if drawn.steps else cells


def check_made(programs: Programs, base: Path, drawn: case.Case, model: torch.nn.Module) -> None:
    """What the compiler reports about weights that are computed from others: how they are divided, and their fans."""
    if not any(made_layers(model)):
        return
    plan = str(base.with_suffix(".plan"))
    report = call([programs.meshplan, "check", "--json", plan])
    faults = layout_faults(drawn, model, json.loads(report.stdout))
    if init := find(drawn.statements, "init"):
        faults += fan_faults(init.options, model, call([programs.meshplan, "compile", "--emit=schedule", plan]).stdout)
    if faults:
        raise CaseError(WRONG, f"wrong features: {', '.join(faults)}")


def result_from(folder: Path, drawn: case.Case) -> dict[str, torch.Tensor]:
    result, wrong = result_of(folder, drawn.seed)
    if result is None:
        raise CaseError(WRONG, wrong)
    return load_file(result)


def forward(programs: Programs, drawn: case.Case, base: Path) -> dict[str, torch.Tensor]:
    if programs.written:
        model = f"model{drawn.model_seed}.pt2"
        write_case(programs.written, drawn.seed, base, model=model, addends=addends_of(drawn))
        raise CaseError(WRITTEN, "")
    if programs.results:
        return result_from(programs.results, drawn)
    outputs = base.with_suffix(".outputs")
    outputs.unlink(missing_ok=True)
    if programs.run_cases:
        files = [base.with_suffix(ending) for ending in (".sched", ".weights", ".inputs", ".outputs")]
        if wrong := case_process(programs.run_cases, programs.work).run(files, 2 * TIMEOUT):
            raise CaseError(WRONG, wrong)
        return load_file(outputs)
    files = ["--weights", f"{base}.weights", "--inputs", f"{base}.inputs", "--outputs", str(outputs)]
    schedule = str(base.with_suffix(".sched"))
    result = call([programs.meshplan_run, "forward", schedule, *files, "--timeout", str(TIMEOUT)], use_one_core)
    if result.returncode != 0:
        raise CaseError(WRONG, f"forward ends with {result.returncode}: {result.stderr[-2000:]}")
    return load_file(outputs)


def run_steps(programs: Programs, drawn: case.Case, base: Path) -> dict[str, torch.Tensor]:
    """The losses of a training and what ranks hold after it."""
    result = base.with_suffix(".result")
    result.unlink(missing_ok=True)
    paths = []
    for step, batch in enumerate(training.batches(drawn)):
        paths.append(f"{base}.batch{step}")
        save_file(batch, paths[-1])
    settings = ["--set", f"seed={drawn.random_seed}"] if drawn.random_seed else []
    if programs.written:
        write_case(programs.written, drawn.seed, base, settings, len(paths))
        raise CaseError(WRITTEN, "")
    if programs.results:
        return result_from(programs.results, drawn)
    ended = call([programs.run_steps, *settings, f"{base}.sched", f"{base}.weights", str(result), *paths])
    if ended.returncode != 0:
        raise CaseError(WRONG, f"run-steps ends with {ended.returncode}: {ended.stderr[-2000:]}")
    return load_file(result)


def share_of(reference: CaseReference, drawn: case.Case, ours: dict[str, torch.Tensor]) -> float:
    """The largest error as a share of what is allowed by PyTorch's error on the inputs, and only where that is too
    little, by the largest one on these and in further draws: the largest error of one run is a draw, and thousands of
    outputs draw it.
    """
    share, draw = reference.share(ours), 1
    while not share <= 1 and not reference.mismatch(ours) and draw < MOST_DRAWS:
        reference.add_further_draw(drawn, draw)
        share, draw = reference.share(ours), draw + 1
    return share


class Runner:
    """Runs cases one after the other; those of one model share its archive and its reference."""

    def __init__(self, programs: Programs) -> None:
        self.programs = programs
        self.base = programs.work / f"case{os.getpid()}"
        self.model: Model | None = None

    def run(self, drawn: case.Case) -> Outcome:
        outcome = Outcome(drawn.seed, RIGHT)
        try:
            if self.model is None or self.model.drawn != drawn.model():
                self.model = None
                self.model = export(drawn, self.base)
            write_plan(drawn, self.model.module, self.base)
            outcome.reached = compile_plan(self.programs, self.base, drawn)
            check_made(self.programs, self.base, drawn, self.model.module)
            if drawn.steps:
                ours = run_steps(self.programs, drawn, self.base)
                outcome.share = self.compare_training(drawn, self.model, ours)
                self.compare_storage(drawn, self.model, ours)
            else:
                ours = forward(self.programs, drawn, self.base)
                outcome.share = self.compare(drawn, self.model, ours)
        except CaseError as error:
            outcome.kind, outcome.message = error.kind, str(error)
        return outcome

    def compare_training(self, drawn: case.Case, model: Model, ours: dict[str, torch.Tensor]) -> float:
        share, verdicts = training.compared(drawn, model.program, ours)
        if verdicts:
            raise CaseError(WRONG, f"wrong numbers: {verdicts}")
        return share

    def compare_storage(self, drawn: case.Case, model: Model, ours: dict[str, torch.Tensor]) -> None:
        """Where things lie from step to step changes no bit of a result. Kernels of a GPU that add with atomics change
        bits from run to run. Nor are they compared where the times of copies decide whether products are computed in
        parts, which round otherwise.
        """
        plain, chooses = without_memory(drawn), schedule_way(drawn) in ("halves", "split")
        if plain is None or chooses or self.programs.device != "cpu" or self.programs.results:
            return
        write_plan(plain, model.module, self.base)
        try:
            compile_plan(self.programs, self.base, plain)
        except CaseError as error:
            raise CaseError(WRONG, f"without {' and '.join(WORDS)}: {error}") from error
        if names := differing(ours, run_steps(self.programs, plain, self.base)):
            raise CaseError(WRONG, f"other bits than without {' and '.join(WORDS)}: {', '.join(names)}")

    def compare(self, drawn: case.Case, model: Model, ours: dict[str, torch.Tensor]) -> float:
        reference = model.reference_of(drawn, self.programs)
        with rounded_addends(drawn):
            if not reference.share(ours) <= 1:
                self.model = None  # further draws turn its weights
            share = share_of(reference, drawn, ours)
        if share <= 1:
            return share
        shares = [
            f"{name} {found.share:.3g} (error {found.error:.2e}, PyTorch {found.own:.2e})"
            for name in reference.own
            if name in ours and not (found := reference.deviation(name, ours[name])).share <= 1
        ]
        raise CaseError(WRONG, reference.mismatch(ours) or f"wrong numbers: {', '.join(shares)}")


def kind_of_failure(message: str) -> str:
    """What stays the same of a message when the case gets smaller."""
    if message.startswith("wrong numbers"):
        return "wrong numbers"
    return re.sub(r"[\d.]+|'[^']*'|\"[^\"]*\"", "_", message)[:160]
