#!/usr/bin/env python3
"""Draws loss, throughput and tokens of experts of training runs from their logs (`meshplan-run train --log`), as a PNG.

tools/plot_log.py LOG.jsonl [LOG.jsonl ...] -o PLOT.png
"""

import argparse
import json
import sys
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Run:
    """The numbers of one log, by step."""

    name: str
    losses: dict[int, float] = field(default_factory=dict)
    evaluations: dict[int, float] = field(default_factory=dict)
    rates: dict[int, float] = field(default_factory=dict)  # tokens, or samples, a second
    has_tokens: bool = False
    experts: dict[int, tuple[float, float]] = field(default_factory=dict)  # tokens, relative to the mean of a layer


def extremes(layers: list[dict]) -> tuple[float, float]:
    """Tokens of the least and of the most chosen expert of any layer, relative to the mean of its layer."""
    least, most = 1.0, 1.0
    for tokens in (layer["tokens"] for layer in layers if sum(layer["tokens"]) > 0):
        mean = sum(tokens) / len(tokens)
        least, most = min(least, min(tokens) / mean), max(most, max(tokens) / mean)
    return least, most


def read_run(path: Path) -> Run:
    """The last line of a step counts: a resumed run may have repeated the step."""
    run = Run(path.stem)
    for number, line in enumerate(path.read_text().splitlines(), 1):
        try:
            entry = json.loads(line)
            kind, step = entry["kind"], entry["step"]
        except (ValueError, KeyError, TypeError):
            message = f"{path}:{number}: error: not a line of a training log; help: give a file that --log wrote"
            raise SystemExit(message) from None
        if kind == "evaluation" and entry["loss"] is not None:
            run.evaluations[step] = entry["loss"]
        if kind != "step":
            continue
        if entry["loss"] is not None:
            run.losses[step] = entry["loss"]
        if entry.get("experts"):
            run.experts[step] = extremes(entry["experts"])
        run.has_tokens |= entry["tokens"] > 0
        run.rates[step] = (entry["tokens"] or entry["samples"]) / entry["seconds"]
    if not run.losses:
        raise SystemExit(f"{path}: error: no step has a loss")
    return run


def draw(runs: list[Run], output: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    has_experts = any(run.experts for run in runs)
    rows = 3 if has_experts else 2
    figure, (losses, rates, *rest) = pyplot.subplots(rows, 1, sharex=True, figsize=(8, 3 * rows), layout="constrained")
    for run in runs:
        (line,) = losses.plot(run.losses.keys(), run.losses.values(), label=run.name, linewidth=1)
        if run.evaluations:
            losses.plot(
                run.evaluations.keys(),
                run.evaluations.values(),
                "o--",
                color=line.get_color(),
                label=f"{run.name}, held out",
            )
        rates.plot(run.rates.keys(), run.rates.values(), color=line.get_color(), linewidth=1)
        if run.experts:
            least, most = zip(*run.experts.values(), strict=True)
            rest[0].fill_between(list(run.experts), least, most, color=line.get_color(), alpha=0.3)
    losses.set_ylabel("loss")
    losses.legend()
    rates.set_ylabel("tokens/s" if any(run.has_tokens for run in runs) else "samples/s")
    rates.set_ylim(bottom=0)
    for axes in rest:
        axes.set_ylabel("tokens of experts / mean")
    (losses, rates, *rest)[-1].set_xlabel("step")
    for axes in (losses, rates, *rest):
        axes.grid(alpha=0.3)
    figure.savefig(output, dpi=120)


def main() -> int:
    parser = argparse.ArgumentParser(description="draws loss and throughput of training runs from their logs")
    parser.add_argument("logs", nargs="+", type=Path, metavar="LOG.jsonl")
    parser.add_argument("-o", "--output", required=True, type=Path, metavar="PLOT.png")
    arguments = parser.parse_args()
    for path in arguments.logs:
        if not path.is_file():
            raise SystemExit(f"{path}: error: no such file")
    draw([read_run(path) for path in arguments.logs], arguments.output)
    print(f"wrote {arguments.output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
