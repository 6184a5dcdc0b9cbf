"""How often a run names a crossing, where there is none and where there is one, by simulation with the real analysis.

    python -m benchmarks.crossings [--runs 200] [--seed 1] [--write]

Every simulated run has stacks at five places of an axis, with the noise of `benchmarks.coverage`; all but the first take so
many times as long as the first as one of `CURVES` says. Before the arrow is what it was when each place's own interval
decided, and no comparison was corrected for all of the run. `--write` keeps it in docs/validation/.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from unittest.mock import patch

import numpy as np

from benchmarks.coverage import NOISES, measured, plan_of
from benchmarks.simulated import print_tables
from orchestrator.experiment.plan.plan import Cell, Plan
from orchestrator.experiment.plan.schedule import schedule
from orchestrator.findings.compare import compare_cells
from orchestrator.findings.summary import CellSummary
from orchestrator.questions.axes import find as shown
from orchestrator.questions.axes.crossing import Crossing
from orchestrator.statistics.quantiles import distribution
from services.python.contract.lines import Load

PLACES = (1, 10, 50, 100, 200)
CURVES = {
    "equal": (1.0, 1.0, 1.0, 1.0, 1.0),
    "equal, then slower": (1.0, 1.0, 1.0, 1.2, 1.4),
    "slower throughout": (1.4, 1.3, 1.2, 1.1, 1.02),
    "crosses": (0.7, 0.8, 0.9, 1.1, 1.3),
}
"""True times as shares of the reference's; the last curve alone crosses."""
NOISE = ("quiet", "bimodal")
SIZES = ((2, 3), (2, 5), (6, 5))  # stacks, blocks


@dataclass(frozen=True, kw_only=True)
class Found:
    """Shares of runs with a crossing, and of crossings whose interval holds the true one (None where there is none)."""

    named: float
    held: float | None


def true_crossing(curve: str) -> float | None:
    """Where the straight line between the true differences is zero, along the logarithm of the place."""
    along, differences = np.log(PLACES), np.array(CURVES[curve]) - 1
    (changes,) = np.nonzero(np.diff(np.sign(differences)) == 2)
    if not changes.size or differences[0] == 0:
        return None
    at = int(changes[0])
    u = differences[at] / (differences[at] - differences[at + 1])
    return float(np.exp(along[at] + u * (along[at + 1] - along[at])))


def simulate(
    curve: str, noise: str, *, stacks: int, blocks: int, runs: int, seed: int = 1, before: bool = False
) -> Found:
    """Simulate runs, and look at the crossings that analysis names in each; `before`: by each place's own interval."""
    truth, named, held = true_crossing(curve), 0, []
    anyhow = patch.object(shown, "_is_told_on_both_sides", lambda *_: True) if before else nullcontext()
    with anyhow:
        for found in _runs(curve, noise, stacks, blocks, runs, seed):
            named += bool(found)
            held += [c.low <= truth <= c.high for c in found if truth is not None]
    return Found(named=named / runs, held=sum(held) / len(held) if held else None)


def _runs(curve: str, noise: str, stacks: int, blocks: int, runs: int, seed: int) -> Iterator[list[Crossing]]:
    rng = np.random.default_rng([seed, stacks, blocks])
    plan = _plan(stacks, blocks)
    times = dict(zip(PLACES, CURVES[curve], strict=True))
    first = plan.stacks[0].id
    ratios = {cell.id: 1.0 if cell.stack == first else times[cell.load.concurrency] for cell in plan.cells}
    for run in range(runs):
        trials = schedule(plan.cells, blocks, run)
        cells = measured(plan, trials, NOISES[noise](rng, blocks, len(plan.cells)), ratios, rng)
        described = [_described(cell) for cell in cells]
        (of_axis,) = shown.curves(plan, described, compare_cells(plan, described), ())
        yield [gap.crossing for panel in of_axis.panels for gap in panel.gaps if gap.crossing is not None]


def _plan(stacks: int, blocks: int) -> Plan:
    plan = plan_of(stacks, blocks, settings=len(PLACES))
    places = dict(zip((operation.id for operation in plan.operations), PLACES, strict=True))
    cells = tuple(_placed(cell, places[cell.operation], plan.operations[0].id) for cell in plan.cells)
    return replace(plan, cells=cells, operations=plan.operations[:1])


def _placed(cell: Cell, place: int, operation: str) -> Cell:
    load = Load(concurrency=place, requests=1000)
    return replace(cell, operation=operation, load=load, factors={**cell.factors, "concurrency": place, "rate": None})


def _described(cell: CellSummary) -> CellSummary:
    middle = float(np.exp(np.mean([np.log(trial.median or 0.0) for trial in cell.trials])))
    return replace(cell, distribution=distribution(np.array([round(middle * 1e6)], dtype=np.int64)))


def table(runs: int, seed: int) -> Iterator[str]:
    """The lines of the table, in Markdown."""
    yield "| true curve | noise | stacks | blocks | runs with a crossing | intervals that hold it |"
    yield "| --- | --- | ---: | ---: | ---: | ---: |"
    for curve in CURVES:
        for noise in NOISE:
            for stacks, blocks in SIZES:
                size = {"stacks": stacks, "blocks": blocks, "runs": runs, "seed": seed}
                old, new = simulate(curve, noise, before=True, **size), simulate(curve, noise, **size)
                held = "" if new.held is None else f"{100 * new.held:.1f} %"
                named = f"{100 * old.named:.1f} → {100 * new.named:.1f} %"
                yield f"| {curve} | {noise} | {stacks} | {blocks} | {named} | {held} |"


def main() -> None:
    """Print the table, and with `--write` keep it."""
    print_tables("python -m benchmarks.crossings", table, names=("crossings",), runs=200)


if __name__ == "__main__":
    main()
