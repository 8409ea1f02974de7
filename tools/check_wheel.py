#!/usr/bin/env python3
"""Exports, checks, compiles and trains a small model in the current folder with an installed meshplan.

Runs in an environment with the wheel, PyTorch and the packages of its extra `hf`; called by tools/check_package.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import meshplan
import torch
from safetensors.torch import load_file, save_file
from torch import nn

SCRIPTS = Path(sys.executable).parent
PLAN = """\
plan mlp {
  model "mlp.pt2"
  mesh dp = 2, tp = 2

  input x, y: [batch over dp, width]
  loss loss

  up:   colwise tp
  down: rowwise tp

  data dp { shard parameters, gradients, optimizer }
  optimizer sgd { lr 0.125 }
}
"""


class Mlp(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(8, 16), nn.Linear(16, 8)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"loss": nn.functional.mse_loss(self.down(self.up(x).tanh()), y)}


def run(program: str, *arguments: str) -> str:
    result = subprocess.run([SCRIPTS / program, *arguments], capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{program} {' '.join(arguments)}: status {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


def train_module() -> None:
    """Three steps on one batch give the parameters that PyTorch gives."""
    torch.manual_seed(0)
    model = Mlp()
    inputs = {"x": torch.randn(4, 8), "y": torch.randn(4, 8)}
    meshplan.export(model, inputs, "mlp.pt2")
    save_file(model.state_dict(), "mlp.safetensors")
    save_file(inputs, "data.safetensors")
    Path("mlp.plan").write_text(PLAN)
    report = meshplan.check("mlp.plan")
    assert (report["world_size"], report["errors"]) == (4, []), report
    schedule = str(meshplan.compile("mlp.plan"))
    options = ["--weights", "mlp.safetensors", "--data", "data.safetensors", "--steps", "3", "--checkpoint", "run"]
    run("meshplan-run", "train", schedule, *options)
    run("meshplan-run", "export", "run", "-o", "trained")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.125)
    for _ in range(3):
        optimizer.zero_grad()
        model(**inputs)["loss"].backward()
        optimizer.step()
    trained = load_file("trained/model.safetensors")
    for name, parameter in model.state_dict().items():
        # Sums of 16 and of 4 addends in f32, in another order, three times over.
        torch.testing.assert_close(trained[name], parameter, rtol=1e-5, atol=1e-6)


def export_hugging_face() -> None:
    sizes = ("hidden_size=32", "intermediate_size=48", "num_hidden_layers=1", "num_attention_heads=4", "vocab_size=96")
    settings = [word for size in sizes for word in ("--set", size)]
    command = [sys.executable, "-m", "meshplan.export", "--config", "llama", "--loss", *settings, "-o", "llama.pt2"]
    subprocess.run(command, check=True)
    run("meshplan", "init", "llama.pt2", "--mesh", "dp=2,tp=2")
    assert meshplan.check("llama.plan")["errors"] == []


if __name__ == "__main__":
    train_module()
    export_hugging_face()
