"""How long the cost model takes, how far it is off, and how often its intervals hold, on cells whose truth is known.

    python -m benchmarks.model [--runs 200] [--seed 1] [--write]

Cells are those of `tests/support/modelled.py`, sealed as a plan seals them. *windows*: five distances, five sizes, kept and
new connections, some with a window. *paced*: as experiments/decision_map.yaml, four distances and three sizes, over links
whose control paces what it sends, as BBR does. The fit of 500 cells is timed from cells to predictions on a map of 60 x 40
places for every series. `--write` keeps the table in docs/validation/.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from benchmarks.simulated import print_tables
from orchestrator.questions.prediction.fit import fit_all
from orchestrator.questions.prediction.judged import judged
from orchestrator.questions.prediction.predict import Places, estimate
from orchestrator.questions.prediction.shapes import ModelCell, Windows
from tests.support.modelled import NEW, PACED_SIZES, Lab, Truth, paced, sealed_as_planned

KEPT = Truth()
OPENED = Truth(name="new", opening=1, windows=NEW, own=1.2)
HELD = Truth(name="held", windows=Windows(first=None, growth=2.0, steady=65_536.0, is_stepped=True))
TRUTHS = (KEPT, OPENED, replace(OPENED, name="grpc", opening=2, own=1.0), HELD)
NOISY = {"noise": 0.05, "network_noise": 0.004}
PACED = (
    Truth(own=0.5, per_kb=0.003, windows=paced(0, 0.81, 1.02), **NOISY),
    Truth(name="grpc", per_kb=0.005, windows=paced(0, 0.73, 0.9), **NOISY),
    Truth(name="new", opening=1, per_kb=0.003, windows=paced(1, 2.2, 9.3), **NOISY),
    Truth(name="grpc, new", opening=2, own=1.5, per_kb=0.008, windows=paced(2, 2.1, 8.9), **NOISY),
)
LABS = {
    "windows": Lab(TRUTHS),
    "paced": Lab(PACED, rtts=(1.0, 10.0, 30.0, 80.0), sizes=PACED_SIZES, rate=200.0),
}
SERIES = 20  # of 25 cells each
MAP = (60, 40)  # distances x sizes


def simulate(lab: Lab, blocks: int, drift: float, runs: int, seed: int) -> tuple[float, ...]:
    """Median and p90 of the errors on sealed cells, and coverage of their intervals."""
    truths = lab.truths
    errors, covered = [], []
    for number in range(runs):
        made = replace(lab, seed=seed + number, blocks=blocks, drift=drift).cells()
        cells = sealed_as_planned(made, 0.2, seed + number)
        fits, _ = fit_all([truth.series for truth in truths], cells)
        found = judged(fits, cells)
        if found is None:
            continue
        errors += [abs(cell.error) for cell in found.cells]
        covered += [cell.is_covered for cell in found.cells]
    return (*(float(np.percentile(errors, p)) for p in (50, 90)), float(np.mean(covered)))


def timed() -> tuple[int, float, float]:
    """How many cells, seconds of the fit, and seconds of the maps of all series."""
    truths = [replace(TRUTHS[number % len(TRUTHS)], name=f"stack-{number}") for number in range(SERIES)]
    cells: Sequence[ModelCell] = sealed_as_planned(Lab(tuple(truths)).cells(), 0.2, 1)
    begun = time.perf_counter()
    fits, _ = fit_all([truth.series for truth in truths], cells)
    judged(fits, cells)
    fitted = time.perf_counter()
    places = Places(
        rtt=np.geomspace(0.5, 200, MAP[0])[:, None],
        size=np.geomspace(50, 2e6, MAP[1])[None, :],
        rate_mbit=np.array(1000.0),
    )
    for fit in fits:
        estimate(fit, places)
    return len(cells), fitted - begun, time.perf_counter() - fitted


def table(runs: int, seed: int) -> Iterator[str]:
    """The lines of the table; the time that 500 cells take is printed, as it is this machine's."""
    cells, fit_s, map_s = timed()
    print(
        f"{cells} cells: fit {fit_s:.2f} s, maps of {MAP[0]} x {MAP[1]} places {map_s:.2f} s, in all {fit_s + map_s:.2f} s"
    )
    titles = ("links", "blocks", "SD of whole blocks", "off at the median", "at p90", "sealed cells in their 90 %")
    yield f"| {' | '.join(titles)} |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for name, blocks, drift in product(LABS, (3, 5), (0.0, 0.03)):
        median, p90, covered = simulate(LABS[name], blocks, drift, runs, seed)
        yield f"| {name} | {blocks} | {drift:.0%} | {median:.2%} | {p90:.2%} | {covered:.1%} |"


if __name__ == "__main__":
    print_tables("python -m benchmarks.model", table, names=("model",), runs=200)
