"""A machine whose load is known, and runs made on it one after the other: summaries for comparing runs, no samples.

Every run measures the same three stacks in five blocks, with looks at both floors around each block. A trial's log is

    its stack's truth + reaction x load(t) + the run's own effect + the trial's own effect

where a stack reacts more or less strongly to the load than the floor does, and the run's effect, which nothing in the
run shows, makes equal runs lie `excess` times as far apart as their trials imply.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import exp, sqrt

import numpy as np

from orchestrator.findings.summary import CellSummary, FloorSummary, RunSummary
from orchestrator.summarise import summarise
from tests.support.findings import measured
from tests.support.runs import a_run

Load = Callable[[float], float]

BLOCKS = 5
TRIAL_S = 12.0
LOOK_S = 4.0
STACKS = ("rest", "grpc", "http+cbor")
RUN_S = BLOCKS * (len(STACKS) * TRIAL_S + 2 * LOOK_S)

# Logs by which a run's cells exceed the machine at rest, over the seconds since the first run began.
LOADS: Mapping[str, Load] = {
    "steady": lambda _: 0.0,
    "falling": lambda s: 0.5 * exp(-s / (6 * RUN_S)),
    "sawtooth": lambda s: 0.25 * (s / (2.7 * RUN_S) % 1.0),
}

# How strongly medians, p99s and times per request follow what moves the floor by 1.
REACTIONS = {"rest": (0.8, 1.6, 1.2), "grpc": (1.3, 1.9, 1.6), "http+cbor": (0.5, 1.2, 0.9)}


@dataclass
class Machine:
    """`trial_sd` is of a trial's log (twice as much for p99); `excess` as above. Times go on from run to run."""

    load: Load = LOADS["steady"]
    excess: float = 1.3
    trial_sd: float = 0.03
    seed: int = 1
    now_s: float = 0.0
    made: int = 0
    _rng: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        self._rng = np.random.default_rng(self.seed)

    def run(self, *, slower: Mapping[str, float] | None = None) -> RunSummary:
        """The next run; `slower` multiplies the times of some protocols (1.2: 20 % slower)."""
        base = _base()
        times, readings = self._schedule()
        cells = tuple(
            self._cell(cell, times[i], (slower or {}).get(cell.protocol, 1.0)) for i, cell in enumerate(base.cells)
        )
        floors = tuple(self._floor(floor, readings) for floor in base.floors)
        self.made += 1
        return measured(replace(base, cells=cells, floors=floors), id=f"run-{self.made:04d}")

    def _schedule(self) -> tuple[list[list[float]], list[float]]:
        times: list[list[float]] = [[] for _ in STACKS]
        readings = []
        for _ in range(BLOCKS):
            readings.append(self.now_s)
            self.now_s += LOOK_S
            for stack in self._rng.permutation(len(STACKS)):
                times[stack].append(self.now_s)
                self.now_s += TRIAL_S
            readings.append(self.now_s)
            self.now_s += LOOK_S
        return times, readings

    def _cell(self, cell: CellSummary, times: list[float], slower: float) -> CellSummary:
        of_run = self.trial_sd / sqrt(BLOCKS) * sqrt(self.excess**2 - 1)
        run_effect = self._rng.normal(0, of_run)
        run_tail = self._rng.normal(0, of_run)
        trials = []
        for trial, at_s in zip(cell.trials, times, strict=True):
            median, p99, each = (reaction * self.load(at_s) for reaction in REACTIONS[cell.protocol])
            own, tail = self._rng.normal(0, self.trial_sd, size=2)
            trials.append(
                replace(
                    trial,
                    median=0.3 * slower * exp(median + run_effect + own),
                    p99=0.9 * slower * exp(p99 + run_effect + own + sqrt(3) * (run_tail + tail)),
                    throughput_per_s=3000 / slower * exp(-(each + run_effect + own)),
                )
            )
        return replace(cell, trials=tuple(trials))

    def _floor(self, floor: FloorSummary, readings: list[float]) -> FloorSummary:
        middle, reaction = (0.04, 0.6) if floor.kind == "ping" else (0.08, 1.0)
        medians = tuple(middle * exp(reaction * self.load(at_s) + self._rng.normal(0, 0.03)) for at_s in readings)
        return replace(floor, medians=medians)


_kept: list[RunSummary] = []


def _base() -> RunSummary:
    """A summary of a clean run of the three stacks, from which all others are made."""
    if not _kept:
        _kept.append(summarise(a_run(stacks=STACKS, blocks=BLOCKS)))
    return _kept[0]
