"""Drafts a plan for every model of models/make_models.py and compiles it.

  harness init --models FOLDER --work FOLDER [--meshplan P] [--all]

An archive that another test made in --models is read there; the others are exported to --work, once. Packages with
weights are read only where they are. Each draft is in canonical form, compiles, and has no warning but those of the
table below. A step of the transformers that have a loss leaves no derivative to the runtime.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Sequence
from pathlib import Path

from harness.arguments import parser_of
from harness.models.make_models import MODELS, export_arguments, is_current, options_of
from harness.programs import call

DRAFTS = [["--mesh", "dp=2,tp=2", "--sequence"], ["--mesh", "dp=2,tp=2"], ["--mesh", "dp=2"]]

# Models that mix samples or positions outside of weights: what their plans say cannot help it.
WARNED = {
    "bert": "the pooler reads the first position of a divided sequence",
    "bert_train": "the pooler reads the first position of a divided sequence",
    "minilm": "the pooler reads the first position of a divided sequence",
    "clip": "every image meets every text of the batch",
    "gpt2_train_four": "views samples and positions as rows, which only one sample on a rank leaves divided",
    "lookups": "looks up samples of a divided batch",
    "llama4": "computes all experts for the tokens of all samples at once",
    "mixtral_balanced": "joins the choices of all layers, samples and positions",
    "qwen3_moe_balanced": "joins the choices of all layers, samples and positions",
    "deepseek_v2": "writes rotated keys of positions beside those of heads",
    "deepseek_v3": "writes rotated keys of positions beside those of heads",
    "capacity_mixtures": "counts the tokens of all samples before each token",
    "rows": "sorts the samples and positions of all ranks",
    "over_vocabulary": "takes a head of several streams apart with the samples",
    **{name: "calls operators on the samples' dim too" for name in MODELS if name.startswith("each_")},
}

# Models that are not transformers: the runtime differentiates their pools.
POOLED = {"resnet", "resnet_basic", "resnet_train"}

# Of a model that one axis cannot divide.
IDLE = re.compile(r"^.*: warning: mesh axis '.*' splits nothing: .*\n(?:  .*\n)*help: .*\n", re.MULTILINE)


def find_archive(name: str, models: Path, work: Path) -> Path | None:
    """The archive of a model, exported if no test did; None for a package that is not there."""
    arguments = options_of(name)
    own, is_our_own = work / f"{name}.pt2", not arguments[0].startswith("--")
    # Only the archives of export_model.py appear all at once.
    for archive in (own,) if is_our_own else (models / own.name, own):
        if is_current(archive):
            return archive
    if "--package" in arguments:
        return None
    script, options = export_arguments(name, work)
    if importlib.import_module(script).main(options) != 0:
        raise SystemExit(f"{name}: cannot be exported")
    return own


def called(command: list[str]) -> tuple[int, str]:
    """The exit status of a command, and all that it says."""
    result = call(command)
    return result.returncode, result.stdout + result.stderr


def check(name: str, archive: Path, meshplan: str, options: list[str], plan: Path) -> bool:
    label = f"{name} {' '.join(options)}"
    status, text = called([meshplan, "init", str(archive), *options, "-o", str(plan), "--force"])
    for command in (["compile", str(plan), "-o", str(plan.with_suffix(".sched"))], ["fmt", "--check", str(plan)]):
        if status == 0:
            status, text = called([meshplan, *command])
        if status != 0 or ("warning" in IDLE.sub("", text) and name not in WARNED):
            print(f"{label}: status {status}\n{text}")
            return False
    return True


def check_derivatives(name: str, meshplan: str, plan: Path) -> bool:
    text = plan.read_text()
    if not options_of(name)[0].startswith("--") or name in POOLED or "\n  loss " not in text:
        return True
    trains = plan.with_name(f"{name}-trains.plan")
    trains.write_text(re.sub(r"(\n  loss .*)", r"\1\n  optimizer sgd { lr 0.1 }", text))
    status, schedule = called([meshplan, "compile", str(trains), "--emit=schedule"])
    left = sorted(set(re.findall(r'"(vjp\.[^"]*)"', schedule)))
    if status != 0 or "sched.program @step" not in schedule or left:
        print(f"{trains}: status {status}, derivatives at run time: {left}\n" + ("" if left else schedule[-2000:]))
        return False
    return True


def main(words: Sequence[str]) -> int:
    parser = parser_of(__doc__, "folders", "programs")
    parser.add_argument("--all", action="store_true")
    arguments = parser.parse_args(words)
    drafts = DRAFTS if arguments.all else DRAFTS[:1]
    arguments.work.mkdir(parents=True, exist_ok=True)
    right = True
    for name in MODELS:
        archive = find_archive(name, arguments.models, arguments.work)
        for index, options in enumerate(drafts if archive else []):
            plan = arguments.work / f"{name}-{index}.plan"
            right &= check(name, archive, arguments.meshplan, options, plan)
            if index == 0:
                right &= check_derivatives(name, arguments.meshplan, plan)
    return 0 if right else 1
