"""How often the knee of a series of loads is found, by simulation with the real schedule and the real analysis.

    python -m benchmarks.knees [--runs 500] [--seed 1] [--write]

Every simulated run has one stack at five loads, whose true throughputs are one of `CURVES`, with the noise of
`benchmarks.coverage`. `--write` keeps it in docs/validation/.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.coverage import NOISES, measured, plan_of
from benchmarks.simulated import print_tables
from orchestrator.experiment.plan.schedule import schedule
from orchestrator.questions.saturation.find import LoadSeries, find_series
from orchestrator.statistics.equivalence import MATTERS
from tests.support.findings import having

LOADS = (1, 10, 50, 100, 200)
CURVES = {
    "sharp": (0.3, 0.8, 1.0, 1.0, 1.0),
    "gradual": (0.3, 0.7, 0.93, 0.98, 1.0),
    "on the margin": (0.3, 0.7, 0.953, 1.0, 1.0),
    "still growing": (0.3, 0.6, 0.8, 0.9, 1.0),
}
"""True throughputs, as shares of the highest; the last curve has no knee at these loads: it is not reached."""
NOISE = ("quiet", "drift", "bimodal")
BLOCKS = (3, 5, 10)


@dataclass(frozen=True, kw_only=True)
class Found:
    """Shares of runs whose knee is the true one, and of those whose intervals leave it among the loads it may be."""

    right: float
    held: float


def true_knee(curve: str) -> int:
    """The place of the smallest load whose true throughput lies within the margin of the highest."""
    return next(place for place, share in enumerate(CURVES[curve]) if share >= 1 / (1 + MATTERS))


def simulate(curve: str, noise: str, *, blocks: int, runs: int, seed: int = 1) -> Found:
    """Simulate runs, and look for the true knee in what analysis says of each."""
    truth, found = true_knee(curve), [*_runs(curve, noise, blocks, runs, seed)]
    held = [s.knee_from is not None and s.knee_by is not None and s.knee_from <= truth <= s.knee_by for s in found]
    return Found(right=sum(series.knee == truth for series in found) / runs, held=sum(held) / runs)


def _runs(curve: str, noise: str, blocks: int, runs: int, seed: int) -> Iterator[LoadSeries]:
    rng = np.random.default_rng([seed, blocks])
    plan = plan_of(len(LOADS), blocks)  # a load in the place of each stack
    ratios = {cell.id: 1 / share for cell, share in zip(plan.cells, CURVES[curve], strict=True)}
    for run in range(runs):
        trials = schedule(plan.cells, blocks, run)
        cells = measured(plan, trials, NOISES[noise](rng, blocks, len(LOADS)), ratios, rng)
        of_one = [
            having(replace(cell, stack="one"), protocol="one", concurrency=load, rate=None)
            for cell, load in zip(cells, LOADS, strict=True)
        ]
        (series,) = find_series(of_one, (), matters=MATTERS)
        yield series


def table(runs: int, seed: int) -> Iterator[str]:
    """The lines of the table, in Markdown."""
    yield "| throughput | noise | blocks | knee found | among the loads that its intervals leave |"
    yield "| --- | --- | ---: | ---: | ---: |"
    for curve in CURVES:
        for noise in NOISE:
            for blocks in BLOCKS:
                of = simulate(curve, noise, blocks=blocks, runs=runs, seed=seed)
                yield f"| {curve} | {noise} | {blocks} | {100 * of.right:.1f} % | {100 * of.held:.1f} % |"


def main() -> None:
    """Print the table, and with `--write` keep it."""
    print_tables("python -m benchmarks.knees", table, names=("knees",), runs=500)


if __name__ == "__main__":
    main()
