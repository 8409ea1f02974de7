"""Holds the compiler's strides of views, copies and elementwise results against those of PyTorch, for random tensors.

harness strides ANSWER_STRIDES      the program test/lib/strides/answer_strides.cpp
"""

from __future__ import annotations

import random
import subprocess
from collections.abc import Sequence

import torch

CASES = 20000
SHOWN = 10


def text(items: tuple[int, ...] | list[int]) -> str:
    return " ".join(map(str, [len(items), *items]))


def described(tensor: torch.Tensor) -> str:
    return f"{text(tensor.shape)} {text(tensor.stride())}"


def random_tensor() -> torch.Tensor:
    """A view of a new tensor: with dims in another order, narrowed, repeated or with steps."""
    tensor = torch.empty([random.choice([1, 2, 3, 4, 6]) for _ in range(random.randint(1, 5))])
    for _ in range(random.randint(0, 3)):
        change, dim = random.random(), random.randrange(tensor.dim())
        if change < 0.5:
            tensor = tensor.permute(random.sample(range(tensor.dim()), tensor.dim()))
        elif change < 0.7:
            start = random.randrange(tensor.size(dim))
            tensor = tensor.narrow(dim, start, random.randint(1, tensor.size(dim) - start))
        elif change < 0.85:
            tensor = tensor.expand([3 if size == 1 else size for size in tensor.shape])
        else:
            tensor = tensor[(slice(None),) * dim + (slice(None, None, 2),)]
    return tensor


def random_shape(count: int) -> list[int]:
    shape: list[int] = []
    while count > 1:
        shape.append(random.choice([size for size in range(2, count + 1) if count % size == 0]))
        count //= shape[-1]
    for _ in range(random.randint(0, 2)):
        shape.insert(random.randint(0, len(shape)), 1)
    return shape


def random_companion(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor that broadcasts to the shape of another one."""
    order = random.sample(range(tensor.dim()), tensor.dim())
    made = torch.empty([tensor.shape[dim] for dim in order]).permute([order.index(dim) for dim in range(tensor.dim())])
    for dim in range(made.dim()):
        if random.random() < 0.2:
            made = made.narrow(dim, 0, 1)
    return made[0] if made.dim() > 1 and random.random() < 0.2 else made


def view_case() -> tuple[str, torch.Tensor | None]:
    tensor = random_tensor()
    shape = random_shape(tensor.numel())
    try:
        view = tensor.view(shape)
    except RuntimeError:
        view = None
    return f"view {described(tensor)} {text(shape)}", view


def copy_case() -> tuple[str, torch.Tensor]:
    tensor = random_tensor()
    return f"copy {described(tensor)}", tensor.clone()


def elementwise_case() -> tuple[str, torch.Tensor]:
    first = random_tensor()
    operands = [first, *(random_companion(first) for _ in range(random.randint(0, 2)))]
    random.shuffle(operands)
    operators = {1: torch.neg, 2: torch.add, 3: torch.addcmul}
    result = operators[len(operands)](*operands)
    return f"elementwise {text(result.shape)} {len(operands)} {' '.join(map(described, operands))}", result


def kind_case() -> tuple[str, str]:
    tensor = random_tensor()
    formats = {4: torch.channels_last, 5: torch.channels_last_3d}
    image = tensor.dim() in formats and tensor.is_contiguous(memory_format=formats[tensor.dim()])
    dense = torch.ops.aten.is_non_overlapping_and_dense(tensor)
    kinds = (tensor.is_contiguous(), dense, image and not tensor.is_contiguous())
    return f"kind {described(tensor)}", " ".join(str(int(kind)) for kind in kinds)


def agrees(answer: str, expected: torch.Tensor | str | None) -> bool:
    """True if equal but for strides of dims of one element, which mean nothing."""
    if not isinstance(expected, torch.Tensor):
        return answer.strip() == (expected or "none")
    if answer == "none":
        return False
    strides = [int(item) for item in answer.split()]
    dims = zip(strides, expected.stride(), expected.shape, strict=True)
    return all(ours == theirs or size == 1 for ours, theirs, size in dims)


def main(words: Sequence[str]) -> int:
    random.seed(0)
    makers = (view_case, copy_case, elementwise_case, kind_case)
    cases = [makers[index % len(makers)]() for index in range(CASES)]
    questions = "\n".join(question for question, _ in cases)
    answers = subprocess.run(words[0], input=questions, check=True, capture_output=True, text=True).stdout.splitlines()
    wrong = [
        f"{question}: {answer}, PyTorch {expected.stride() if isinstance(expected, torch.Tensor) else expected}"
        for (question, expected), answer in zip(cases, answers, strict=True)
        if not agrees(answer, expected)
    ]
    for line in wrong[:SHOWN]:
        print(line)
    print(f"{len(cases)} cases, {len(wrong)} wrong")
    return 1 if wrong else 0
