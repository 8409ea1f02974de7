"""Writes what the tests of runtime/data read, with the libraries that define the formats.

harness make_fixtures DIRECTORY
"""

import json
import pathlib
import warnings
import zipfile

import safetensors.torch
import torch


class Model(torch.nn.Module):
    """A tied weight, a buffer, and a parameter whose storage is not in row-major order."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = torch.nn.Embedding(10, 6)
        self.head = torch.nn.Linear(6, 10, bias=False)
        self.head.weight = self.embed.weight
        self.turned = torch.nn.Parameter(torch.randn(6, 4).t())
        self.register_buffer("count", torch.arange(5))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.embed(x) + self.turned.sum() + self.count.sum())


def main(words: list[str]) -> int:
    directory = pathlib.Path(words[0])
    torch.manual_seed(0)
    directory.mkdir(parents=True, exist_ok=True)
    model = Model()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.export.save(torch.export.export(model, (torch.tensor([1, 2]),)), directory / "model.pt2")
    with (
        zipfile.ZipFile(directory / "model.pt2") as stored,
        zipfile.ZipFile(directory / "deflated.pt2", "w", zipfile.ZIP_DEFLATED) as deflated,
    ):
        for name in stored.namelist():
            deflated.writestr(name, stored.read(name))

    tensors = {name: tensor.contiguous() for name, tensor in model.state_dict().items()}
    safetensors.torch.save_file(
        {name: tensor.clone() for name, tensor in tensors.items()}, directory / "model.safetensors"
    )

    # Numbers of all sizes, and what PyTorch makes of them in other dtypes.
    numbers = torch.randn(3000, dtype=torch.float64) * torch.exp2(torch.randint(-40, 40, (3000,)).double())
    dtypes = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
    casts = {}
    for source_name, source in dtypes.items():
        casts[source_name] = numbers.to(source).clone()
        for target_name, target in dtypes.items():
            casts[f"{source_name}_to_{target_name}"] = numbers.to(source).to(target).clone()
    safetensors.torch.save_file(casts, directory / "casts.safetensors")

    sharded = directory / "sharded"
    sharded.mkdir(exist_ok=True)
    weight_map = {}
    for number, (name, tensor) in enumerate(sorted(tensors.items()), start=1):
        shard = f"model-{number:05}-of-{len(tensors):05}.safetensors"
        safetensors.torch.save_file({name: tensor.clone()}, sharded / shard)
        weight_map[name] = shard
    (sharded / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}))
    return 0
