"""Writes data sets as Megatron-Core writes them, and the samples that its GPTDataset cuts of them, for dataset-test.

Usage: harness make_megatron_dataset FOLDER. What is written and read is restated from megatron/core/datasets:
_IndexWriter of indexed_dataset.py, build_sample_idx of helpers.cpp and _query_document_sample_shuffle_indices of
gpt_dataset.py, with documents and samples in their order instead of shuffled.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Sequence
from pathlib import Path

import numpy
from safetensors.numpy import save_file

CODES = {"uint16": 8, "int32": 4}
SEQUENCE_LENGTH = 16
Documents = list[numpy.ndarray]


def draw_documents(dtype: str) -> Documents:
    """Lengths from 0 to some samples, as text has them."""
    generator = numpy.random.default_rng(7)
    lengths = generator.integers(0, 60, size=40)
    most = min(numpy.iinfo(dtype).max, 200_000)
    return [generator.integers(0, most, size=length, endpoint=True).astype(dtype) for length in lengths]


def write_index(path: Path, documents: Documents, dtype: str) -> None:
    lengths = [len(document) for document in documents]
    itemsize = numpy.dtype(dtype).itemsize
    pointers = numpy.concatenate([[0], numpy.cumsum(numpy.array(lengths[:-1], dtype=numpy.int64) * itemsize)])
    with path.open("wb") as stream:
        stream.write(b"MMIDIDX\x00\x00")
        stream.write(struct.pack("<Q", 1))
        stream.write(struct.pack("<B", CODES[dtype]))
        stream.write(struct.pack("<Q", len(lengths)))
        stream.write(struct.pack("<Q", len(documents) + 1))
        stream.write(numpy.array(lengths, dtype=numpy.int32).tobytes(order="C"))
        stream.write(pointers.astype(numpy.int64).tobytes(order="C"))
        stream.write(numpy.arange(len(documents) + 1, dtype=numpy.int64).tobytes(order="C"))


def sample_index(lengths: list[int], sequence_length: int) -> list[tuple[int, int]]:
    """For each sample, and one more, the document and the position in it at which it begins."""
    samples = (sum(lengths) - 1) // sequence_length
    index = [(0, 0)]
    document = offset = 0
    while len(index) <= samples:
        remaining = sequence_length + 1
        while remaining != 0:
            length = lengths[document] - offset
            remaining -= length
            if remaining <= 0:
                offset += remaining + length - 1
                remaining = 0
            else:
                document += 1
                offset = 0
        index.append((document, offset))
    return index


def cut_sample(documents: Documents, begin: tuple[int, int], end: tuple[int, int]) -> numpy.ndarray:
    """The tokens of a sample and the one that follows."""
    if begin[0] == end[0]:
        return documents[begin[0]][begin[1] : end[1] + 1]
    whole = [documents[i] for i in range(begin[0] + 1, end[0])]
    return numpy.concatenate([documents[begin[0]][begin[1] :], *whole, documents[end[0]][: end[1] + 1]])


def main(words: Sequence[str]) -> None:
    folder = Path(words[0])
    folder.mkdir(parents=True, exist_ok=True)
    expected = {}
    for dtype in CODES:
        documents = draw_documents(dtype)
        (folder / f"{dtype}.bin").write_bytes(b"".join(document.tobytes(order="C") for document in documents))
        write_index(folder / f"{dtype}.idx", documents, dtype)
        index = sample_index([len(document) for document in documents], SEQUENCE_LENGTH)
        pairs = itertools.pairwise(index)
        texts = numpy.stack([cut_sample(documents, begin, end) for begin, end in pairs]).astype(numpy.int64)
        expected[f"{dtype}.tokens"] = numpy.ascontiguousarray(texts[:, :-1])
        expected[f"{dtype}.labels"] = numpy.ascontiguousarray(texts[:, 1:])
    save_file(expected, folder / "expected.safetensors")
