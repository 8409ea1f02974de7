"""Runs and trains models with LoRA adapters that PEFT has saved alone.

  harness adapters --work FOLDER --meshplan P --meshplan-run P [FORM...]

For each form of adapters: PEFT wraps a small Llama, and saves its adapters; the model without them is saved as
transformers does. From the two, `forward` gives what it gives from one file with all, and what PyTorch gives; a
training goes the same way as from one file, also on where it was saved. Status 1 if something is wrong.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import peft
import torch
import transformers
from safetensors.torch import load_file, save_file

from harness.arguments import parser_of
from harness.programs import Command, run
from harness.tensors import Tensors, contains, differing
from harness.verdicts import verdict

SIZES = {
    "vocab_size": 96,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "use_cache": False,
}
LINEARS = ["q_proj", "v_proj", "down_proj"]
# The name of the adapter, what LoraConfig takes, and whether the model is exported as PEFT wraps it.
FORMS = {
    "plain": ("default", {"target_modules": LINEARS}, False),
    "wrapped": ("mine", {"target_modules": LINEARS, "use_rslora": True}, True),
    "dora": ("default", {"target_modules": LINEARS, "use_dora": True, "modules_to_save": ["lm_head"]}, True),
    "embedding": ("mine", {"target_modules": ["embed_tokens", "q_proj"]}, False),
    "tied": ("default", {"target_modules": ["embed_tokens", "q_proj"]}, False),
}
PLAN = """plan adapters {
  model "model.pt2"
  mesh  dp = 2

  input input_ids, labels: [batch over dp, seq]
  loss  loss

  optimizer sgd { lr 0.5; momentum 0.9 }
  rest: replicate
}
"""


class Form:
    def __init__(self, arguments: argparse.Namespace, name: str) -> None:
        self.adapter, self.options, self.is_wrapped = FORMS[name]
        self.arguments = arguments
        self.name = name
        self.work: Path = arguments.work / name
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        self.all = ["--weights", self.work / "all.safetensors"]
        self.alone = ["--weights", self.work / "base", "--adapters", self.saved()]

    def saved(self) -> Path:
        folder = self.work / "adapters"
        return folder if self.adapter == "default" else folder / self.adapter

    def export(self) -> None:
        torch.manual_seed(0)
        config = transformers.LlamaConfig(**SIZES, tie_word_embeddings=self.name == "tied")
        model = transformers.LlamaForCausalLM(config).eval()
        model.save_pretrained(self.work / "base")
        wrapped = peft.get_peft_model(model, peft.LoraConfig(r=4, **self.options), adapter_name=self.adapter).eval()
        with torch.no_grad():
            for name, parameter in wrapped.named_parameters():
                if "lora_" in name or "modules_to_save" in name:
                    parameter.add_(torch.randn_like(parameter), alpha=0.1)
        wrapped.save_pretrained(self.work / "adapters")
        exported = wrapped if self.is_wrapped else model
        save_file({name: tensor.clone() for name, tensor in exported.state_dict().items()}, self.all[1])
        ids = torch.randint(0, SIZES["vocab_size"], (8, 6))
        save_file({"input_ids": ids, "labels": ids.clone()}, self.work / "inputs.safetensors")
        example = {"input_ids": ids[:4], "labels": ids[:4].clone()}
        torch.export.save(torch.export.export(exported, (), example), self.work / "model.pt2")
        with torch.no_grad():
            self.logits = exported(**example).logits
        save_file(example, self.work / "batch.safetensors")
        (self.work / "adapters.plan").write_text(PLAN)
        files = [self.work / "adapters.plan", "--reference", "-o", self.work / "a.sched"]
        run([self.arguments.meshplan, "compile", *files])

    def run(self, verb: str, weights: Command, *options: str | Path) -> str:
        return run([self.arguments.meshplan_run, verb, self.work / "a.sched", *weights, *options])

    def forward(self, weights: Command) -> Tensors:
        outputs = self.work / "outputs.safetensors"
        self.run("forward", weights, "--inputs", self.work / "batch.safetensors", "--outputs", outputs)
        return load_file(outputs)

    def train(self, run: str, weights: Command, *options: str | Path) -> Tensors:
        """What is saved after the fourth step."""
        folder = self.work / run
        self.run("train", weights, "--data", self.work / "inputs.safetensors", "--checkpoint", folder, *options)
        return load_file(folder / "step-000004/model.safetensors")

    def verdict(self, what: str, right: bool) -> bool:
        return verdict(f"{self.name}: {what}", right)


def is_adapter(name: str) -> bool:
    return "lora_" in name or "modules_to_save" in name


def loads(form: Form, trained: Tensors) -> bool:
    """PEFT puts each tensor of an export where it was in the training."""
    out = form.work / "out"
    export = [form.arguments.meshplan_run, "export", form.work / "one", "-o", out, "--adapters"]
    run([*export, "--config", form.saved()])
    model = transformers.LlamaForCausalLM.from_pretrained(form.work / "base")
    loaded = peft.PeftModel.from_pretrained(model, out, adapter_name=form.adapter)
    state = (loaded if form.is_wrapped else model).state_dict()
    return contains(state, trained)


def check(form: Form) -> bool:
    form.export()
    whole = form.forward(form.all)
    right = form.verdict("forward from two files is that from one", not differing(form.forward(form.alone), whole))
    # float32 sums of at most 48 products: PyTorch's own order of them differs with the number of samples.
    right &= form.verdict("and that of PEFT", torch.allclose(whole["logits"], form.logits, rtol=0, atol=1e-5))
    steps = ("--steps", "4", "--every", "2")
    trained = form.train("one", form.all, *steps)
    right &= form.verdict("a checkpoint has what is trained", all(is_adapter(name) for name in trained))
    begun = form.train("two", form.alone, *steps)
    right &= form.verdict("a training from two files is that from one", contains(begun, trained))
    shutil.rmtree(form.work / "two/step-000004")
    resumed = form.train("two", form.alone[:2], *steps, "--resume")
    right &= form.verdict("and continues with the same bits", not differing(resumed, begun))
    right &= form.verdict("PEFT loads what it exports", loads(form, trained))
    report = json.loads(form.run("verify", form.alone, "--inputs", form.work / "batch.safetensors", "--json"))
    return right & form.verdict("verify finds it right", report["right"])


def main(words: Sequence[str]) -> int:
    parser = parser_of(__doc__, "work", "programs")
    parser.add_argument("forms", nargs="*", default=list(FORMS))
    arguments = parser.parse_args(words)
    wrong = [name for name in arguments.forms if not check(Form(arguments, name))]
    return 1 if wrong else 0
