"""Surveys what `meshplan init` drafts for the architectures of transformers.

  harness architectures --work FOLDER [--kinds causal seq2seq ...] [--again] [MODEL...]

Each model type is exported with a small random configuration (survey/small_configs.py), once; archives and results stay
in --work, and a later call continues from there. `--again` repeats all but the exports. Of each model that exports: a
draft for dp=2, tp=2, its warnings, what of it stays whole, and its outputs on four ranks beside PyTorch's
(reference/forward.py). Prints a line for each model, and at the end how many models have attention, MLPs, mixers or
experts of which no weight of two or more dims is divided: by the names of their paths, which only this survey reads.
Status 1 if a draft is not made or its outputs are wrong.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import signal
import sys
import time
import traceback
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import torch
from meshplan import hugging_face
from safetensors.torch import load_file
from transformers.models.auto import modeling_auto
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from harness.arguments import parser_of
from harness.plans import files_of
from harness.programs import call
from harness.reference.archives import load_program
from harness.reference.forward import Reference
from harness.survey.small_configs import small_values

# By the class that a model type is exported as: the first that it has.
KINDS = {
    "causal": modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    "seq2seq": modeling_auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
    "masked": modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    "image": modeling_auto.MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING_NAMES,
    "base": modeling_auto.MODEL_MAPPING_NAMES,
}

# What a part of a model is, by a component of its path; the first that matches.
PARTS = {
    "experts": re.compile(r"experts?(_|$)|^w[123]_?experts|(^|_)moe($|_)", re.IGNORECASE),
    "mixer": re.compile(r"mamba|mixer|ssm|delta|linear_attn|^conv$|short_conv|rg_lru|recurrent|temporal_block|rwkv"),
    "attention": re.compile(r"att(?!\w*_(convolution|input|sconv)$)|^(self|cross|mha)$", re.IGNORECASE),
    "mlp": re.compile(
        r"mlp(?!\w*_(convolution|sconv)$)|ffn?|feed_?forward|^fc\d?$|intermediate|^(fc|wi|wo|lin|conv_)\d",
        re.IGNORECASE,
    ),
}
# Of these nothing needs to be divided: what chooses experts, positions, gates of single heads.
BESIDE = re.compile(
    r"router|_hc$|sconv|(^|\.|_expert_)gate(\.|$)|gating|relative|rel_pos|position|bias|norm|sink", re.IGNORECASE
)

EXPORT_SECONDS, RUN_SECONDS = 240, 240


def kind_of(name: str) -> tuple[str, str] | None:
    """The kind and the class of a model type."""
    for kind, classes in KINDS.items():
        if name in classes:
            found = classes[name]
            return kind, found if isinstance(found, str) else found[0]
    return None


def in_child(work: Callable[[], dict], seconds: int) -> dict:
    """What the work returns, done in a process of its own that has this much time."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(seconds)
        with contextlib.redirect_stdout(sys.stderr):
            try:
                result = work()
            except BaseException as error:
                last = traceback.extract_tb(error.__traceback__)[-1]
                text = f"{type(error).__name__}: {error}"[:600]
                result = {"failed": f"{text} ({Path(last.filename).name}:{last.lineno})"}
        with os.fdopen(writer, "w") as file:
            json.dump(result, file)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as file:
        text = file.read()
    _, status = os.waitpid(child, 0)
    if not text:
        return {"failed": f"ended by signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else "ended"}
    return json.loads(text)


def export(name: str, base: Path) -> dict:
    _, class_name = kind_of(name) or ("", "")
    config = base.with_suffix(".json")
    config.write_text(json.dumps({**small_values(name), "model_type": name}))
    options = ["--config", str(config), "--class", class_name, "--noise", "0.05", "--batch", "4", "--sequence", "16"]
    options += ["-o", f"{base}.pt2", "--weights-out", f"{base}.safetensors"]
    options += ["--inputs-out", f"{base}.inputs.safetensors"]
    hugging_face.run(hugging_face.parse_arguments(options))
    return {}


def part_of(path: str) -> tuple[str, str] | None:
    """What kind of part the parameter of this path belongs to, and the path of the part without numbers of layers."""
    modules = path.split(".")
    if BESIDE.search(".".join(modules[-2:])):
        return None
    for kind, pattern in PARTS.items():
        for index, module in enumerate(modules[:-1] if kind != "experts" else modules):
            if pattern.search(module):
                names = modules[: index + 1]
                return kind, ".".join("*" if part.isdigit() else part for part in names)
    return None


def names_in(part: object) -> set[str]:
    return set(re.findall(r'"name": "([^"]*)"', json.dumps(part)))


def unread_parameters(archive: Path) -> set[str]:
    """Names of the parameters that no output of the graph depends on."""
    with zipfile.ZipFile(archive) as file:
        name = next(name for name in file.namelist() if name.endswith("models/model.json"))
        graph = json.loads(file.read(name))["graph_module"]
    read = names_in(graph["graph"]["outputs"])
    for node in reversed(graph["graph"]["nodes"]):
        if not read.isdisjoint(names_in(node["outputs"])):
            read |= names_in(node["inputs"])
    specs = [spec["parameter"] for spec in graph["signature"]["input_specs"] if "parameter" in spec]
    return {spec["parameter_name"] for spec in specs if spec["arg"]["name"] not in read}


def whole_parts(parameters: list[dict], unread: set[str]) -> dict[str, list[str]]:
    """By kind: the parts of which no weight is divided over tp."""
    divided, whole = set(), set()
    for parameter in parameters:
        part = part_of(parameter["names"][0])
        if part and parameter["layout"].count(",") >= 1 and unread.isdisjoint(parameter["names"]):
            (divided if "over tp" in parameter["layout"] else whole).add(part)
    found: dict[str, list[str]] = {}
    for kind, path in sorted(whole - divided):
        found.setdefault(kind, []).append(path)
    return found


def compare(base: Path, outputs: Path) -> dict:
    reference = Reference(load_program(f"{base}.pt2"), load_file(f"{base}.inputs.safetensors"))
    ours = load_file(outputs)
    return {"share": reference.share(ours), "mismatch": reference.mismatch(ours)}


def survey(name: str, base: Path, arguments: argparse.Namespace) -> dict:
    """Drafts, checks and runs one archive."""
    plan, schedule, outputs = (base.parent / f"{name}{end}" for end in (".plan", ".sched", ".out.safetensors"))
    draft = ["init", f"{base}.pt2", "--mesh", "dp=2,tp=2", "-o", str(plan), "--force"]
    made = call([arguments.meshplan, *draft], RUN_SECONDS)
    if made.returncode != 0:
        return {"failed": f"init: {made.stderr[:600]}"}
    checked = call([arguments.meshplan, "check", str(plan), "--json"], RUN_SECONDS)
    if checked.returncode != 0:
        return {"failed": f"check: {checked.stderr[:600]}"}
    report = json.loads(checked.stdout)
    result: dict = {"whole": whole_parts(report["parameters"], unread_parameters(Path(f"{base}.pt2")))}
    result["warnings"] = [warning["message"] for warning in report["warnings"]]
    if arguments.drafts_only:
        return result
    compiled = call([arguments.meshplan, "compile", str(plan), "-o", str(schedule)], RUN_SECONDS)
    files = files_of(base.parent, name).options(outputs)
    ran = call([arguments.meshplan_run, "forward", schedule, *files, "--timeout", "60"], RUN_SECONDS)
    if compiled.returncode != 0 or ran.returncode != 0:
        return {**result, "failed": f"run: {compiled.stderr[:300]}{ran.stderr[:600]}"}
    return result | in_child(lambda: compare(base, outputs), RUN_SECONDS)


def is_right(result: dict) -> bool:
    return "failed" not in result and not result.get("mismatch") and result.get("share", 0) <= 1


def line_of(name: str, result: dict) -> str:
    whole = "; ".join(f"{kind} whole: {', '.join(paths)}" for kind, paths in result.get("whole", {}).items())
    verdict = "ok" if is_right(result) else result.get("failed") or result.get("mismatch") or "WRONG"
    share = f" {result['share']:.2f} of the bound" if "share" in result else ""
    warnings = "".join(f"\n    warning: {text}" for text in result.get("warnings", []))
    return f"{name}: {verdict}{share}{'; ' + whole if whole else ''}{warnings}"


def models(arguments: argparse.Namespace) -> Iterator[str]:
    for name in arguments.models or CONFIG_MAPPING:
        found = kind_of(name)
        if found is not None and (arguments.models or found[0] in arguments.kinds):
            yield name


def stored(path: Path, again: bool, work: Callable[[], dict]) -> dict:
    """A result that was written by an earlier call, or that of the work."""
    if path.exists() and not again:
        return json.loads(path.read_text())
    start = time.monotonic()
    result = work()
    result["seconds"] = round(time.monotonic() - start, 1)
    path.write_text(json.dumps(result, indent=1))
    return result


def main(words: Sequence[str]) -> int:
    parser = parser_of(__doc__, "work", "programs")
    parser.add_argument("models", nargs="*")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=["causal", "seq2seq", "masked", "image"])
    parser.add_argument("--again", action="store_true", help="repeat all but exports")
    parser.add_argument("--export-again", action="store_true", help="repeat exports that failed")
    parser.add_argument("--exports-only", action="store_true")
    parser.add_argument("--drafts-only", action="store_true", help="do not run the drafts")
    arguments = parser.parse_args(words)
    arguments.work.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    exported, wrong, warned = 0, [], []
    whole: dict[str, list[str]] = {kind: [] for kind in PARTS}
    for name in models(arguments):
        base = arguments.work / name
        archive = stored(
            base.with_name(f"{name}.exported"),
            arguments.export_again and not base.with_name(f"{name}.pt2").exists(),
            lambda name=name, base=base: in_child(lambda: export(name, base), EXPORT_SECONDS),
        )
        if "failed" in archive or arguments.exports_only:
            print(f"{name}: export: {archive.get('failed', 'ok')}", flush=True)
            continue
        exported += 1
        result = stored(
            base.with_name(f"{name}.surveyed"),
            arguments.again,
            lambda name=name, base=base: survey(name, base, arguments),
        )
        print(line_of(name, result), flush=True)
        if not is_right(result):
            wrong.append(name)
        if result.get("warnings"):
            warned.append(name)
        for kind in result.get("whole", {}):
            whole[kind].append(name)
    print(f"{exported} models export; {len(wrong)} not right: {' '.join(wrong)}")
    print(f"{len(warned)} with warnings: {' '.join(warned)}")
    for kind, names in whole.items():
        print(f"{kind} left whole in {len(names)}: {' '.join(names)}")
    print(f"any of them left whole in {len({name for names in whole.values() for name in names})}")
    return 1 if wrong else 0
