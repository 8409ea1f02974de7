"""Trains a small Llama, exports the checkpoint, and loads it with Hugging Face's libraries.

  harness export --work FOLDER --plan P.plan --meshplan P --meshplan-run P --steps-program P [--tied] [--lora]

The exported model is the one that ranks held: from_pretrained has no missing and no unexpected weights, each has the
bits of the training's, and the logits are those of a model of transformers with these weights. A strict load_state_dict
takes them, too. With --tied the head has the weight of the embedding: all of it goes by the name of the embedding, and
a checkpoint that calls it by the other name continues with the same bits. With --lora the adapters are exported alone,
and PEFT loads them on the model without them. Status 1 if something is wrong.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import torch
import transformers
from meshplan import hugging_face
from safetensors.torch import load_file, save_file

from harness.arguments import parser_of
from harness.models.make_models import GROUPED, noisy
from harness.plans import with_statements
from harness.programs import run
from harness.tensors import Tensors, contains, differing
from harness.verdicts import verdict


class Check:
    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.work: Path = arguments.work
        shutil.rmtree(self.work, ignore_errors=True)
        (self.work / "model").mkdir(parents=True)

    def export_archive(self) -> None:
        sizes = GROUPED | {"tie_word_embeddings": "true" if self.arguments.tied else "false"}
        files = [
            "--weights-out",
            self.work / "model/model.safetensors",
            "--inputs-out",
            self.work / "inputs.safetensors",
        ]
        lora = ["--lora", "q_proj", "v_proj", "down_proj", "--lora-rank", "4", "--batch", "12"]
        options = noisy("llama", *(lora if self.arguments.lora else []), **sizes)
        options += [*map(str, files), "--config-out", str(self.work / "model"), "-o", str(self.work / "model.pt2")]
        if hugging_face.main(options) != 0:
            raise SystemExit("the model cannot be exported")

    def train(self) -> Tensors:
        """The parameters that ranks hold after two steps, of which the last is saved."""
        plan = self.work / "train.plan"
        text = self.arguments.plan.read_text()
        plan.write_text(
            with_statements(text, ["optimizer sgd { lr 0.1; momentum 0.9 }", "data dp { shard optimizer }"])
        )
        schedule = self.work / "train.sched"
        run([self.arguments.meshplan, "compile", plan, "-Ddp=2", "-Dtp=2", "-o", schedule])
        held = self.steps(2, "--save", self.work / "run")
        return {name: tensor for name, tensor in held.items() if not name.endswith(".momentum_buffer")}

    def steps(self, count: int, *options: str | Path) -> Tensors:
        """What ranks hold after so many steps."""
        result = self.work / "held.safetensors"
        steps = [self.arguments.steps_program, *options, self.work / "train.sched"]
        steps += [self.work / "model/model.safetensors", result, *[self.work / "inputs.safetensors"] * count]
        run(steps)
        return {name: tensor for name, tensor in load_file(result).items() if not name.startswith("step")}

    def rename(self, before: str, after: str) -> Path:
        """A copy of the checkpoint, in the format without checksums, that calls a tied parameter by the other of its
        names."""
        folder = self.work / "renamed"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.work / "run", folder)
        for path in folder.glob("step-*/*.safetensors"):
            save_file({name.replace(before, after): tensor for name, tensor in load_file(path).items()}, path)
        for path in folder.glob("step-*/checkpoint.json"):
            record = json.loads(path.read_text().replace(after, "?").replace(before, after).replace("?", before))
            del record["checksums"], record["checksum"]
            path.write_text(json.dumps(record | {"format": 1}))
        return folder

    def export(self, *options: str) -> Path:
        out = self.work / "out"
        shutil.rmtree(out, ignore_errors=True)
        run([self.arguments.meshplan_run, "export", self.work / "run", "-o", out, *options])
        return out

    def logits(self, model: torch.nn.Module) -> torch.Tensor:
        ids = load_file(self.work / "inputs.safetensors")["input_ids"]
        with torch.no_grad():
            return model.eval()(input_ids=ids).logits


def check_model(check: Check) -> bool:
    held = check.train()
    model, report = transformers.AutoModelForCausalLM.from_pretrained(check.export(), output_loading_info=True)
    right = verdict(
        "nothing is missing", not any(report[key] for key in ("missing_keys", "unexpected_keys", "mismatched_keys"))
    )
    state = model.state_dict()
    right &= verdict("the weights are those of the training", contains(state, held))
    own = transformers.LlamaForCausalLM(model.config)
    own.load_state_dict(load_file(check.work / "out/model.safetensors"))
    right &= verdict("the logits are those of the weights", torch.equal(check.logits(model), check.logits(own)))
    text = model.generate(torch.tensor([[1, 2, 3]]), max_new_tokens=4, do_sample=False, pad_token_id=0)
    right &= verdict("it writes", text.shape == (1, 7))
    narrow = transformers.AutoModelForCausalLM.from_pretrained(check.export("--dtype", "bf16"))
    state = narrow.state_dict()
    rounded = contains(state, {name: tensor.bfloat16() for name, tensor in held.items()})
    right &= verdict("in bf16 too", narrow.dtype == torch.bfloat16 and rounded)
    return right & (check_tie(check, held) if check.arguments.tied else True)


def check_tie(check: Check, held: Tensors) -> bool:
    first, other = "model.embed_tokens.weight", "lm_head.weight"
    saved = load_file(check.work / "run/step-000002/model.safetensors")
    right = verdict(
        "a tied weight has its first name", all(first in each and other not in each for each in (held, saved))
    )
    after = check.steps(1, "--resume", check.work / "run")
    again = check.steps(1, "--resume", check.rename(first, other))
    return right & verdict("a checkpoint with the other name continues", not differing(after, again))


def check_adapters(check: Check) -> bool:
    import peft

    held = check.train()
    plain = {name.replace(".base_layer", ""): tensor for name, tensor in held.items() if "lora_" not in name}
    base = transformers.LlamaForCausalLM(transformers.AutoConfig.from_pretrained(check.work / "model"))
    base.load_state_dict(plain)
    before = check.logits(base)
    saved = load_file(check.work / "run/step-000002/model.safetensors")
    right = verdict("the checkpoint has adapters alone", all("lora_" in name for name in saved))
    model = peft.PeftModel.from_pretrained(base, check.export("--adapters"))
    state = model.base_model.model.state_dict()
    adapters = {name: tensor for name, tensor in held.items() if "lora_" in name}
    same = contains(state, adapters) and len(adapters) == 12
    right &= verdict(f"the {len(adapters)} adapters are those of the training", same)
    return right & verdict("they change the model", not torch.equal(check.logits(model), before))


def main(words: Sequence[str]) -> int:
    parser = parser_of(__doc__, "work", "programs")
    parser.add_argument("--plan", type=Path, required=True)
    parser.add_argument("--tied", action="store_true")
    parser.add_argument("--lora", action="store_true")
    arguments = parser.parse_args(words)
    check = Check(arguments)
    check.export_archive()
    return 0 if (check_adapters if arguments.lora else check_model)(check) else 1
