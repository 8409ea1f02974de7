"""Prints, as input of `meshplan-opt --verify-diagnostics`, one call of every ATen operator that PyTorch says is random.

Each has the arguments that switch it on, and is expected to be refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch

# Tagged because of what they may call; neither exports of models nor their graphs have them.
NOT_CALLED = ("_backward", "_nested_", "_fused_sdp_choice", "_init_dropout_state", "_mem_eff_dropout_mask", "_mps")


def operators() -> Iterator[tuple[torch._ops.OpOverload, str]]:
    """Functional operators that are tagged random, by the names that graphs call them."""
    for schema in torch._C._jit_get_all_schemas():
        space, name = schema.name.split("::")
        if space != "aten" or schema.is_mutable or any(part in name for part in NOT_CALLED):
            continue
        overload = getattr(getattr(torch.ops.aten, name), schema.overload_name or "default")
        if torch.Tag.nondeterministic_seeded in overload.tags:
            yield overload, f"aten.{name}.{schema.overload_name or 'default'}"


def main(words: Sequence[str]) -> None:
    on = {"p": "0.5", "dropout_p": "0.5", "dropout": "0.5", "train": "true", "training": "true"}
    for index, (overload, target) in enumerate(sorted(operators(), key=lambda pair: pair[1])):
        names = {argument.name for argument in overload._schema.arguments}
        arguments = ", ".join(f"{name} = {value}" for name, value in on.items() if name in names)
        print(f"func.func @random{index}() -> tensor<4xf32> {{")
        print(f"  // expected-error @below {{{{operator '{target}' draws random numbers}}}}")
        print(f'  %0 = plan.call "{target}"() {{{arguments}}} : () -> tensor<4xf32>')
        print("  return %0 : tensor<4xf32>\n}")
