"""A sample with its archive and plan, compiled, and its verdicts."""

from __future__ import annotations

import copy
import re
import warnings
from dataclasses import dataclass, field
from pathlib import Path

import torch
from meshplan.exported_graphs import is_functional
from safetensors.torch import load_file, save_file

from harness.operator_samples.samples import Sample, SampleModule, is_divided
from harness.programs import TOOK_TOO_LONG, call
from harness.reference.deviations import largest_error
from harness.reference.forward import Reference
from harness.reference.gradients import PREFIX, GradientReference
from harness.tensors import Tensors

RIGHT, REFUSED, WRONG, LEFT_OUT = "right", "refused", "wrong", "left out"
FORWARD, GRADIENTS = "forward", "gradients"
PROGRAMS = {FORWARD: "forward", GRADIENTS: "step"}
TIMEOUT = 120  # seconds of a compilation


@dataclass
class Verdict:
    kind: str
    message: str = ""
    gathers: bool = False  # of one that is right: an operator without a record computes it on every rank


@dataclass
class Case:
    """One sample in the folder of its files."""

    name: str
    sample: Sample
    base: Path
    program: torch.export.ExportedProgram | None = None
    inputs: Tensors = field(default_factory=dict)
    gradients: GradientReference | None = None
    verdicts: dict[str, Verdict] = field(default_factory=dict)  # by FORWARD or GRADIENTS
    gathers: bool = False

    def file(self, ending: str) -> Path:
        return Path(f"{self.base}.{ending}")

    def line(self, what: str) -> str:
        """What run-cases reads."""
        files = [self.file(f"{what}.sched"), self.file("weights"), self.file("inputs"), self.file(f"{what}.outputs")]
        return "\t".join([PROGRAMS[what], *map(str, files)])

    def is_open(self, what: str) -> bool:
        """True if it is compiled and not judged yet."""
        return what not in self.verdicts and self.file(f"{what}.sched").exists()


def export(case: Case) -> None:
    """Archive, weights and inputs; gives verdicts where PyTorch itself does not export or run the sample."""
    try:
        tensors = tuple(case.sample.tensors())
        module = SampleModule(case.sample)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = torch.export.export(module, tensors, strict=False)
            if not is_functional(program):
                program = program.run_decompositions({})
            torch.export.save(program, case.file("pt2"))
        if all(node.op != "call_function" for node in program.graph.nodes):
            raise ValueError("nothing is computed")
        case.program = program
        case.inputs = dict(zip(program.graph_signature.user_inputs, map(torch.clone, tensors), strict=True))
        save_file({name: tensor.contiguous() for name, tensor in case.inputs.items()}, case.file("inputs"))
        weights = {name: parameter.detach().contiguous() for name, parameter in module.named_parameters()}
        save_file(weights or {"none": torch.zeros(1)}, case.file("weights"))
    except Exception as error:  # of PyTorch, of many kinds
        for what in PROGRAMS:
            case.verdicts[what] = Verdict(LEFT_OUT, f"{type(error).__name__}: {str(error).splitlines()[0]}"[:200])
        return
    differentiate(case)


def differentiate(case: Case) -> None:
    """PyTorch's gradients; leaves the gradients of the case out where it has none."""
    assert case.program is not None
    try:
        with torch.enable_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            case.gradients = GradientReference(copy.deepcopy(case.program), case.inputs, "loss")
        if not any(name.startswith(PREFIX) for name in case.gradients.own):
            raise ValueError("no gradient reaches an operand")
    except Exception as error:
        case.gradients = None
        case.verdicts[GRADIENTS] = Verdict(LEFT_OUT, f"{type(error).__name__}: {str(error).splitlines()[0]}"[:200])


def plan_text(case: Case, what: str) -> str:
    """Every input is divided in dim 0 where it can be."""
    lines = [f'model "{case.file("pt2").name}"', "mesh  dp = 2"]
    for name, tensor in case.inputs.items():
        if is_divided(tensor):
            lines.append(f"input {name}: [{', '.join(['_ over dp', *['_'] * (tensor.dim() - 1)])}]")
    if case.sample.trained:
        lines.append("rest: replicate")
    if what == GRADIENTS:
        assert case.gradients is not None
        lines += ["loss loss", "optimizer sgd { lr 0.1 }"]
        parameters = [f"shift{index}" for index in case.sample.trained]
        lines += [f"unused {name}" for name in parameters if PREFIX + name not in case.gradients.own]
    return "plan sample {\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


def reason_of(said: str) -> str:
    """The first error, without what is the case's own: operators stay, names and sizes go."""
    found = re.search(r"error: (.*)", said)
    text = found.group(1) if found else said.strip()[-200:]
    text = re.sub(r"'[^']*'", lambda name: name[0] if name[0].startswith(("'aten.", "'vjp.")) else "_", text)
    return re.sub(r"\(_\)|\[[^\]]*\]|\b\d+\b", "_", text)


def compile_case(case: Case, what: str, meshplan: str, device: str) -> None:
    """The schedule, or the verdict that the compiler refuses it."""
    plan, schedule = case.file(f"{what}.plan"), case.file(f"{what}.sched")
    plan.write_text(plan_text(case, what))
    options = ["--gradients"] if what == GRADIENTS else []
    command = [meshplan, "compile", str(plan), *options, "--device", device, "-o", str(schedule)]
    ended = call(command, TIMEOUT)
    if ended.returncode == TOOK_TOO_LONG:
        case.verdicts[what] = Verdict(WRONG, "the compiler hangs")
        return
    case.gathers |= "has no record and runs on whole values" in ended.stderr
    if ended.returncode == 1 and "error: " in ended.stderr:
        case.verdicts[what] = Verdict(REFUSED, reason_of(ended.stderr))
    elif ended.returncode != 0:
        case.verdicts[what] = Verdict(WRONG, f"compile ends with {ended.returncode}: {ended.stderr[-500:]}")


def without_nonfinite(reference: Reference | GradientReference, ours: Tensors) -> str | None:
    """Puts zeros where PyTorch has no finite number, in all of them; or says where ours differ there."""
    errors = reference.errors.errors if isinstance(reference, GradientReference) else reference.own_errors
    for name, own in reference.own.items():
        if not own.is_floating_point() or name not in ours or ours[name].shape != own.shape:
            continue
        odd = ~(torch.isfinite(own) & torch.isfinite(reference.wide[name]))
        if not odd.any():
            continue
        if not torch.allclose(ours[name][odd], own[odd], rtol=0, atol=0, equal_nan=True) and not odd_everywhere(
            ours[name][odd], reference.wide[name][odd]
        ):
            return f"{name}: other numbers than PyTorch's where these are not finite"
        ours[name] = ours[name].masked_fill(odd, 0)
        reference.own[name], reference.wide[name] = own.masked_fill(odd, 0), reference.wide[name].masked_fill(odd, 0)
        errors[name] = largest_error(reference.own[name], reference.wide[name])
    return None


def odd_everywhere(ours: torch.Tensor, exact: torch.Tensor) -> bool:
    """True if these elements are those of the run in float64."""
    return bool(torch.equal(torch.nan_to_num(ours.double()), torch.nan_to_num(exact.double())))


def judge(case: Case, what: str) -> Verdict:
    """Compares what was computed with PyTorch, by the bounds of reference/forward.py and reference/gradients.py."""
    assert case.program is not None
    ours = load_file(case.file(f"{what}.outputs"))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reference = case.gradients if what == GRADIENTS else Reference(case.program, case.inputs)
    except Exception as error:  # of PyTorch, which does not run its own archive
        return Verdict(LEFT_OUT, f"{type(error).__name__}: {str(error).splitlines()[0]}"[:200])
    assert reference is not None
    if what == GRADIENTS:
        ours = {name: tensor for name, tensor in ours.items() if name == "loss" or name.startswith(PREFIX)}
    else:
        # A loss is one number, whose error is a draw; it is judged with its gradients.
        for tensors in (ours, reference.own, reference.wide):
            tensors.pop("loss", None)
    if mismatch := reference.mismatch(ours):
        return Verdict(WRONG, mismatch)
    own = dict(reference.own)
    if differs := without_nonfinite(reference, ours):
        return Verdict(WRONG, differs)
    if isinstance(reference, GradientReference):
        wide = [tensor for name, tensor in reference.wide.items() if name != "loss" and tensor.numel()]
        reference.magnitude = max(tensor.abs().max().item() for tensor in wide)
        found = reference.errors.deviations(ours)
    else:
        found = {name: reference.deviation(name, tensor) for name, tensor in ours.items()}
    # What is PyTorch's own number to the bit is right, whatever it is: an eigenvector has either sign.
    wrong = [
        f"{name}: error {each.error:.3e}, PyTorch {each.own:.3e}"
        for name, each in found.items()
        if not each.share <= 1 and not torch.equal(ours[name], own[name])
    ]
    return Verdict(WRONG, "; ".join(wrong)) if wrong else Verdict(RIGHT, gathers=case.gathers)
