"""Reads a file of SafetensorsWriter with the safetensors library.

harness written FILE    exit status 0 if it holds what safetensors_writer_test.cpp wrote
"""

from collections.abc import Sequence

import numpy
import safetensors.numpy


def main(words: Sequence[str]) -> int:
    tensors = safetensors.numpy.load_file(words[0])
    assert sorted(tensors) == ["bytes", "matrix", "nothing", "scalar"], sorted(tensors)
    assert numpy.array_equal(tensors["matrix"], numpy.arange(60, dtype=numpy.float32).reshape(6, 10))
    assert numpy.array_equal(tensors["bytes"], numpy.arange(5, dtype=numpy.uint8))
    assert tensors["scalar"].shape == () and tensors["scalar"] == 7.5 and tensors["scalar"].dtype == numpy.float64
    assert tensors["nothing"].shape == (0, 4) and tensors["nothing"].dtype == numpy.int64
    return 0
