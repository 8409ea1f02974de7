"""Training steps of PyTorch on a GPU, of the Llama that tools/gpu_check measures: eager and compiled.

The model is in bf16, as its archive is, AdamW fused, attention by PyTorch's choice of kernel. Prints JSON.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time

import torch
import transformers


def measure(model: torch.nn.Module, optimizer: torch.optim.Optimizer, inputs: dict, steps: int) -> dict[str, object]:
    """Median seconds of the steps after the first three, the peak memory in bytes, and losses."""
    seconds, losses = [], []
    for _ in range(3 + steps):
        torch.cuda.synchronize()
        begin = time.monotonic()
        loss = model(**inputs).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        torch.cuda.synchronize()
        seconds.append(time.monotonic() - begin)
        losses.append(loss.item())
    return {"seconds": statistics.median(seconds[3:]), "first": seconds[0], "peak": torch.cuda.max_memory_allocated()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--settings", required=True, help="of the configuration, as JSON")
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--sequence", type=int, required=True)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--compile", action="store_true")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    config = transformers.LlamaConfig(**json.loads(arguments.settings), use_cache=False)
    with torch.device("cuda"):
        model = transformers.LlamaForCausalLM._from_config(config, dtype=torch.bfloat16).train()
        ids = torch.randint(config.vocab_size, (arguments.batch, arguments.sequence))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.1, fused=True)
    torch.cuda.reset_peak_memory_stats()
    stepped = torch.compile(model) if arguments.compile else model
    result = measure(stepped, optimizer, {"input_ids": ids, "labels": ids}, arguments.steps)
    print(json.dumps(result | {"parameters": sum(each.numel() for each in model.parameters())}))


if __name__ == "__main__":
    main()
