"""Runs every model of models/make_models.py under every mesh and writes the tables of docs/models.md.

  harness model_table --models DIR --work DIR [--meshplan P] [--meshplan-run P] [--page docs/models.md] [NAME ...]
  harness model_table --models DIR --work DIR --shares-only [--meshplan P] [--page docs/models.md] [NAME ...]

`meshplan init` drafts the plan of a cell, `compile` and `forward` run it, PyTorch in float64 is what it is held
against. Models of 16 bits have a second row, of plans with `precision { activations f32 }`. A cell is the largest error
as a share of what is allowed (reference/forward.py); a cell without a number has a letter, under which the page gives
the reason. The second table is what `meshplan check` reports about the largest rank's parameters; with --shares-only
nothing runs, and the page keeps its first table. With NAMES, the page keeps the rows of others. Status 1 if an output
is wrong or a cell has no number.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from safetensors.torch import load_file

from harness import command
from harness.arguments import parser_of
from harness.models import make_models
from harness.plans import activations_statement, files_of, with_statements
from harness.programs import ONE_THREAD, call, first_error, run
from harness.reference.addends import References
from harness.reference.archives import is_half, load_program
from harness.reference.forward import Reference

MESHES = ("dp=1", "dp=2", "tp=2", "tp=3", "tp=4", "dp=2,tp=2")
SEQUENCE_MESHES = ("tp=2", "tp=3", "tp=4", "dp=2,tp=2")
CANNOT_RUN = {"--meta"}  # without weights
# Their code names float32, or the lowest number of it: PyTorch does not run them in 16 bits either.
WIDE_ONLY = (
    *("complex", "masked_attentions", "opaque_functions", "parameter_functions", "regions", "stopped"),
    *("written_dropouts", "written_dropouts_evaluated"),
)
SHARES = "## Parameters of a rank"  # begins the second table
MAKING = 3600  # seconds for all exports
WIDE_SUMS = ", activations f32"  # ends the names of rows whose plans say so


@dataclasses.dataclass
class Cell:
    """One model under one mesh: a share of the allowed error, or why there is none.

    `held` is what the largest rank has of all parameters, in per cent.
    """

    share: float | None = None
    reason: str = ""
    held: float | None = None

    def is_right(self) -> bool:
        return self.share is not None and self.share <= 1

    def text(self) -> str:
        return self.reason if self.share is None else f"{self.share:.2f}"

    def held_text(self) -> str:
        return "" if self.held is None else f"{self.held:.0f}"


def label(mesh: str, sequence: bool) -> str:
    return mesh.replace(",", " ") + (" sequence" if sequence else "")


def held_share(report: dict) -> float:
    """Of `meshplan check --json`: the parameters of the largest rank in per cent of all."""
    total = sum(parameter["global_bytes"] for parameter in report["parameters"])
    return 100 * report["memory"]["parameters"]["largest"] / total


def check_cell(arguments: argparse.Namespace, plan: Path, cell: Cell) -> None:
    """What `meshplan check` says, which stays beside the plan."""
    result = call([arguments.meshplan, "check", plan, "--json"])
    plan.with_suffix(".json").write_text(result.stdout)
    if result.returncode == 0:
        cell.held = held_share(json.loads(result.stdout))
        return
    errors = json.loads(result.stdout)["errors"] if result.stdout.startswith("{") else []
    reason = errors[0]["message"] if errors else first_error(result.stderr)
    cell.reason = f"check: {reason or f'status {result.returncode}'}"


def attempt(cell: Cell, command: list[str | Path]) -> bool:
    """Runs it; the cell has the reason if it fails."""
    result = call(command, environment=ONE_THREAD)
    if result.returncode != 0:
        cell.reason = f"{command[1]}: {first_error(result.stderr) or f'status {result.returncode}'}"
    return result.returncode == 0


def run_cell(arguments: argparse.Namespace, row: str, mesh: str, sequence: bool) -> tuple[Cell, Path]:
    model = row.removesuffix(WIDE_SUMS)
    words = [*re.split(", | ", row), *mesh.replace("=", "").split(","), *(["sequence"] if sequence else [])]
    stem = "-".join(words)
    plan, schedule, outputs = (arguments.work / f"{stem}{suffix}" for suffix in (".plan", ".sched", ".safetensors"))
    files = files_of(arguments.models, model)
    init = [arguments.meshplan, "init", files.archive, "--mesh", mesh, "-o", plan, "--force"]
    commands = [
        [arguments.meshplan, "compile", plan, "-o", schedule],
        [arguments.meshplan_run, "forward", schedule, *files.options(outputs), "--timeout", "120"],
    ]
    outputs.unlink(missing_ok=True)
    cell = Cell()
    if not attempt(cell, init + (["--sequence"] if sequence else [])):
        return cell, outputs
    if row != model:
        plan.write_text(with_statements(plan.read_text(), activations_statement("f32")))
    check_cell(arguments, plan, cell)
    for each in commands:
        if arguments.shares_only or cell.reason or not attempt(cell, each):
            break
    return cell, outputs


def run_model(arguments: argparse.Namespace, row: str) -> dict[str, Cell]:
    model = row.removesuffix(WIDE_SUMS)
    jobs = [(mesh, False) for mesh in MESHES] + [(mesh, True) for mesh in SEQUENCE_MESHES]
    with ThreadPoolExecutor(arguments.jobs) as pool:
        made = list(pool.map(lambda job: run_cell(arguments, row, *job), jobs))
    if arguments.shares_only:
        return {label(*job): cell for job, (cell, _) in zip(jobs, made, strict=True)}
    files = files_of(arguments.models, model)
    inputs, program = load_file(files.inputs), load_program(files.archive)
    references = References(is_half(program), lambda shards: Reference(program, inputs, shards=shards))
    cells: dict[str, Cell] = {}
    for (mesh, sequence), (cell, path) in zip(jobs, made, strict=True):
        if not cell.reason:
            report = json.loads(path.with_suffix(".json").read_text())
            cell.share = references.of(lambda report=report: report).share(load_file(path))
        cells[label(mesh, sequence)] = cell
        print(f"{row} {label(mesh, sequence)}: {cell.text()}", flush=True)
    return cells


Table = dict[str, dict[str, Cell]]


def rows_of(table: Table, text: Callable[[Cell], str]) -> list[str]:
    """The table itself; below it the reasons of cells of which `text` is empty."""
    columns = [label(mesh, False) for mesh in MESHES] + [label(mesh, True) for mesh in SEQUENCE_MESHES]
    letters: dict[str, str] = {}

    def entry(cell: Cell) -> str:
        return text(cell) or letters.setdefault(cell.reason, chr(ord("a") + len(letters)))

    lines = ["| model | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    lines += [
        f"| {model} | " + " | ".join(entry(cells[column]) for column in columns) + " |"
        for model, cells in table.items()
    ]
    if letters:
        lines += ["", "Without a number:", "", *(f"- {letter}: {reason}" for reason, letter in letters.items())]
    return lines


def shares_section(table: Table) -> str:
    """The second table, from its heading on."""

    def held(cells: dict[str, Cell]) -> list[tuple[str, str]]:
        return [(cell.held_text(), cell.reason) for cell in cells.values()]

    def is_news(model: str) -> bool:
        """A 16-bit model usually holds the shares of the same model in 32 bits."""
        wide = model.removesuffix(WIDE_SUMS).removesuffix("_bfloat16")
        return not model.endswith(WIDE_SUMS) and (wide == model or held(table.get(wide, {})) != held(table[model]))

    lines = [
        SHARES,
        "",
        "Bytes of parameters that the largest rank holds, in per cent of all, as `meshplan check` reports for the same",
        "plan. 100: nothing is split. An axis `dp` divides samples, experts of mixtures and no other parameter. Under",
        "`tp=n` split weights are 100 / n, and a little more where one does not divide evenly. What is above that is",
        "whole: norms, positions, a vocabulary or heads that do not divide, keys with fewer heads than ranks. A 16-bit",
        "model without a row has the shares of the same model in 32 bits.",
        "",
        *rows_of({model: table[model] for model in table if is_news(model)}, lambda cell: cell.held_text()),
    ]
    return "\n".join(lines) + "\n"


# What a row is of: the name, the end of its models' names, and PyTorch's own error as a share of what is allowed.
KINDS = (("f32", "", 0.25), ("bf16", "_bfloat16", 0.67), ("bf16, `activations f32`", WIDE_SUMS, 0.67))


def summary(table: Table) -> list[str]:
    """A table of the kinds of rows: how many cells run, and how exact they are."""

    def kind_of(row: str) -> str:
        return next(suffix for _, suffix, _ in reversed(KINDS) if row.endswith(suffix))

    lines = [
        "| rows | models | plans | right | wrong | refused | at most PyTorch's own error | median | largest |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, suffix, own in KINDS:
        models = {row: cells for row, cells in table.items() if kind_of(row) == suffix}
        cells = [(cell, row) for row, columns in models.items() for cell in columns.values()]
        shares = sorted((cell.share, row) for cell, row in cells if cell.share is not None)
        if not shares:
            continue
        right = sum(cell.is_right() for cell, _ in cells)
        counts = (len(models), len(cells), right, len(shares) - right, len(cells) - len(shares))
        below = sum(round(share, 2) <= own for share, _ in shares)
        largest, row = shares[-1]
        lines.append(
            f"| {name} | {' | '.join(map(str, counts))} | {below} | {shares[len(shares) // 2][0]:.2f} "
            f"| {largest:.2f} ({row}) |"
        )
    return lines


def page(table: Table) -> str:
    lines = [
        "# Models and meshes",
        "",
        "Every model of `test/harness/models/make_models.py` under every mesh, with the plan that `meshplan init`",
        "drafts for it, run on its ranks and compared with PyTorch in float64. A plan that is refused, or fails, has",
        "a letter in the table below, with the reason under it. Right is an error within the bound.",
        "",
        *summary(table),
        "",
        "A cell is the largest error of an output, as a share of what is allowed. Allowed are",
        "",
        "- for float32 models 4 times the error of PyTorch's own float32 run, or 1e-6 of the largest element: 0.25 is",
        "  PyTorch's own error;",
        "- for 16-bit models 1.5 times the error of PyTorch's own run, for a single number such as a loss the largest",
        "  of 8 to 32 runs: 0.67 is PyTorch's own error. That run is on one device where the plan says",
        "  `precision { activations f32 }`. Else each product with a split weight is computed in as many addends as",
        "  ranks, which are rounded as they are sent, and all errors are the largest of 8 to 32 runs.",
        "",
        "Models that name float32 in their code have no 16-bit row: PyTorch does not run them either.",
        "`test/harness/survey/model_table.py` writes this page.",
        "",
        *rows_of(table, lambda cell: cell.text() if cell.share is not None else ""),
        "",
    ]
    return "\n".join(lines) + "\n" + shares_section(table)


def values_of(section: str) -> dict[str, dict[str, str]]:
    """The first table of a section that `rows_of` has written, by row and column; letters become their reasons."""
    reasons = dict(re.findall(r"^- ([a-z]): (.*)$", section, re.MULTILINE))
    lines = section[section.index("| model |") :].split("\n\n")[0].strip().split("\n")
    words = [[word.strip() for word in line.strip("|").split("|")] for line in lines]
    return {
        row[0]: {column: reasons.get(word, word) for column, word in zip(words[0][1:], row[1:], strict=True)}
        for row in words[2:]
    }


def table_of(text: str) -> Table:
    """What a page says, to the digits that it has."""

    def number(word: str) -> float | None:
        return float(word) if re.fullmatch(r"[0-9.]+", word) else None

    first, _, second = text.partition(SHARES)
    held, table = values_of(second), {}
    for row, cells in values_of(first).items():
        wide = row.removesuffix(WIDE_SUMS).removesuffix("_bfloat16")
        own = held.get(row, held.get(row.removesuffix(WIDE_SUMS), held.get(wide, {})))
        table[row] = {
            column: Cell(number(word), "" if number(word) is not None else word, number(own.get(column, "")))
            for column, word in cells.items()
        }
    return table


def merged(text: str, table: Table) -> Table:
    """The rows of a page and those of a table, which replace them, in the order of the models."""
    rows = table_of(text) | table
    return {row: rows[row] for row in runnable() if row in rows}


def with_shares(text: str, table: Table) -> str:
    """A page with another second table, or with its first one."""
    return text.partition(SHARES)[0].rstrip("\n") + "\n\n" + shares_section(table)


def runnable() -> list[str]:
    """Every model in both dtypes, where it has both."""
    names = [name for name, options in make_models.MODELS.items() if not CANNOT_RUN & {*options}]
    halves = [f"{name}_bfloat16" for name in names if name not in WIDE_ONLY]
    return [*names, *(row for half in halves for row in (half, half + WIDE_SUMS))]


def main(words: Sequence[str]) -> int:
    parser = parser_of(__doc__, "folders", "programs")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--page", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--shares-only", action="store_true", help="run nothing, and write the second table")
    arguments = parser.parse_args(words)
    arguments.work.mkdir(parents=True, exist_ok=True)
    names = arguments.names or runnable()
    run(command("make_models", arguments.models, *{name.removesuffix(WIDE_SUMS) for name in names}), MAKING)
    table = {name: run_model(arguments, name) for name in names}
    if arguments.shares_only:
        if arguments.page:
            text = arguments.page.read_text()
            arguments.page.write_text(with_shares(text, merged(text, table) if arguments.names else table))
        return 0 if all(cell.held is not None for cells in table.values() for cell in cells.values()) else 1
    if arguments.page:
        kept = arguments.names and arguments.page.exists()
        arguments.page.write_text(page(merged(arguments.page.read_text(), table) if kept else table))
    return 0 if all(cell.is_right() for cells in table.values() for cell in cells.values()) else 1
