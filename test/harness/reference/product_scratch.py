"""What products of 16 bits hold on this processor besides operands and results.

oneDNN copies blocks of their operands, by an amount that follows from the instructions of the processor. The compiler
plans that of AVX-512 BF16. On other processors a run may meter as much more than its plan as is measured here, by
PyTorch's own products of the shapes that a model has.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator

import torch
from torch.profiler import ProfilerActivity, profile

PRODUCTS = ("aten.linear.default", "aten.addmm.default", "aten.mm.default", "aten.matmul.default")

Product = tuple[int, int, int]  # rows, elements that are summed, columns


def products_of(program: torch.export.ExportedProgram) -> Iterator[tuple[torch.dtype, Product]]:
    """Those with a weight of two dims."""
    for node in program.graph.nodes:
        if node.op != "call_function" or str(node.target) not in PRODUCTS:
            continue
        made, read = node.meta["val"], [each.meta["val"] for each in node.all_input_nodes]
        left = next((each for each in read if each.dim() > 1), None)
        if left is not None and made.dim() > 1:
            columns = made.shape[-1]
            yield made.dtype, (math.prod(made.shape) // max(columns, 1), left.shape[-1], columns)


def held_by(function: Callable[[], torch.Tensor]) -> int:
    """Bytes at once besides the result, when it runs again."""
    function()
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as run:
        result = function()
    held = peak = 0
    for event in run.profiler.kineto_results.events():
        if event.name() == "[memory]":
            held += event.nbytes()
            peak = max(peak, held)
    return max(peak - result.numel() * result.element_size(), 0)


@functools.cache
def scratch_of(product: Product, dtype: torch.dtype, threads: int) -> int:
    """Of the product and those of its gradients."""
    rows, summed, columns = product
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    left, weight, gradient = (
        torch.zeros(shape, dtype=dtype) for shape in ((rows, summed), (columns, summed), (rows, columns))
    )
    functions = (
        lambda: torch.nn.functional.linear(left, weight),
        lambda: gradient @ weight,
        lambda: gradient.t() @ left,
    )
    try:
        return max(map(held_by, functions))
    finally:
        torch.set_num_threads(before)


def is_planned() -> bool:
    """True on the processor of which the compiler plans what products hold."""
    return torch.cpu._is_avx512_bf16_supported() and not torch.cpu._is_amx_tile_supported()


def largest_scratch(program: torch.export.ExportedProgram, threads: int, compute: torch.dtype | None = None) -> int:
    """Bytes of a rank that computes on so many threads that are not planned; 0 without products of 16 bits. `compute`
    is the dtype of autocast."""
    if is_planned():
        return 0
    narrow = [(product, compute or dtype) for dtype, product in products_of(program)]
    products = {(product, dtype) for product, dtype in narrow if dtype.itemsize == 2}
    return max((scratch_of(product, dtype, threads) for product, dtype in products), default=0)
