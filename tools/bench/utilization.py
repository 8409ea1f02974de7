"""Compares the simulated step of large models on H100 with published throughput.

The preset `h100` knows nothing of these models. Rows of an H100 with a limit of 500 W, of which no rates are published,
are simulated for a cluster whose products and attention are slowed down until one row, of a small model on one node,
fits; it is printed as what the machine is calibrated on, and the larger models are predictions.

Published are tokens per second and GPU, and model flops utilization (MFU) by the formulas of their authors, who count
attention with a causal mask in full; that of `meshplan check` counts half of it. So the ratio is that of the tokens,
which depends on no formula.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from bench import machines, models, table
from bench.arguments import parser
from bench.published import CALIBRATIONS, COMPARED, Published


@dataclass
class Times:
    """Of a step, in seconds. `ideal`: of the model's flops at the peak."""

    step: float = 0
    exposed: float = 0
    ideal: float = 0


@dataclass(frozen=True)
class Simulator:
    programs: Path
    folder: Path

    def times(self, case: Published, slowdown: float) -> Times:
        """What `meshplan check` reports, as the weighted mean over the plans of `case`."""
        where = models.export(case.model, self.folder / case.architecture.name)
        (where / "machine.json").write_text(json.dumps(machines.cluster(case.machine, slowdown), indent=2) + "\n")
        means = Times()
        for keep, part in case.recompute.parts.items():
            (where / "step.plan").write_text(case.plan(keep))
            command = [str(self.programs / "meshplan"), "check", "step.plan", "--json", "--device", "cuda"]
            command += ["--cluster", "machine.json"]
            printed = subprocess.run(command, cwd=where, check=True, stdout=subprocess.PIPE).stdout
            time = json.loads(printed)["time"]
            means.step += part * time["step_ns"] / 1e9
            means.exposed += part * time["exposed_ns"] / 1e9
            means.ideal += part * time["step_ns"] / 1e9 * time["model_flops_utilization"]
        return means

    def slowdown(self, case: Published) -> float:
        """By which factor products and attention take longer if the step takes as long as published. The step is almost
        linear in it, so that two secants suffice."""
        published = case.batch * case.sequence / case.ranks / case.tokens
        points = [(factor, self.times(case, factor).step - published) for factor in (1.0, 1.25)]
        for _ in range(2):
            (first, above), (second, below) = points[-2:]
            if abs(below) < 1e-9 * published:
                break
            factor = second - below * (second - first) / (below - above)
            points.append((factor, self.times(case, factor).step - published))
        return points[-1][0]


def row(case: Published, times: Times) -> table.Row:
    tokens = case.batch * case.sequence / case.ranks / times.step
    return {
        "model": case.architecture.name,
        "layout": case.layout,
        "machine": case.machine,
        "": "calibrates" if case.calibrates else "",
        "GPUs": case.ranks,
        "step s": times.step,
        "exposed s": times.exposed,
        "tokens/s": tokens,
        "published": case.tokens,
        "ratio": tokens / case.tokens,
        "MFU": times.ideal / times.step,
        "published MFU": case.utilization if case.utilization is not None else "-",
    }


def main() -> None:
    given = parser(__doc__).parse_args()
    simulator = Simulator(given.programs, given.folder)
    slowdowns = {case.machine: simulator.slowdown(case) for case in CALIBRATIONS}
    cases = [*CALIBRATIONS, *COMPARED]
    rows = [row(case, simulator.times(case, slowdowns.get(case.machine, 1.0))) for case in cases]
    table.report(rows, given.json)
    for name, slowdown in slowdowns.items():
        print(f"{name}: products and attention take {slowdown:.3f} times as long as on h100")
    for case in cases:
        print(f"{case.architecture.name}, {case.layout}: {case.source}")


if __name__ == "__main__":
    main()
