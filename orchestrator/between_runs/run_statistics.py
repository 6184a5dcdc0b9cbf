"""How far two runs of the same thing lie apart by chance: the model behind `orch compare A B`.

Trials of one run share a machine's state of that hour: its neighbours, its temperature, where memory came to lie. Their
spread therefore understates how far away the *next* run lies. For a cell, the mean log of its trials in run i is

    y_i = m + b_i + e_i,    b_i ~ N(0, between²),    e_i of standard error s_i, from the trials

and the difference of two runs has the variance 2 between² + s_1² + s_2². Two sources for the part between runs:

* **history**: with at least `FEWEST_RUNS` other runs equal to the reference, the SD S of their y is the SD of b + e
  together. The variance is S² per run (s_i² where that is larger) with one degree of freedom less than runs.
* **assumption**: without them, s_i counts `EXCESS` times, and `ASSUMED_SD` of what lies above the ping comes on top:
  what the network does is measured in both runs, and cannot hide.

Then the floor: where the baselines of the two runs differ, f = log(floor of new / floor of old), conditions moved. What
that did to a cell lies between nothing and `REACTION` times f; the interval covers all of it
(docs/explanation/statistics.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import exp, inf, log, sqrt
from typing import Literal

import numpy as np

from orchestrator.findings.block_values import by_block, censored_blocks, missing_blocks
from orchestrator.findings.summary import CellSummary, FloorSummary, RunSummary
from orchestrator.statistics import intervals
from orchestrator.statistics.intervals import ALPHA, LogMean
from orchestrator.statistics.terms import Interval

# Runs that were equal but for the hour lay 1.3 to 3 times as far apart as their trials implied.
EXCESS = 3.0

# SD between equal runs as a share of what lies above the ping, for where trials agree better with one another than runs
# do with runs: assumed.
ASSUMED_SD = {"median": 0.03, "p99": 0.06, "throughput": 0.03}

FEWEST_RUNS = 5

# How strongly a cell may react to what moves its floor: not at all, or in its logarithm up to twice as strongly.
REACTION = 2.0

# A floor that moved by more than this is another network or another machine: no verdict.
MOST_MOVED = 0.25


@dataclass(frozen=True, kw_only=True)
class Spread:
    """What is known of the spread between equal runs. `sd` is of a run's mean log; `runs` 0: an assumption."""

    source: Literal["history", "assumption"]
    sd: float
    runs: int = 0

    def per_run(self, run: LogMean) -> tuple[float, float]:
        """A run's variance, and the part of it that is estimated with few degrees of freedom (see `freedom`)."""
        se = run.se or 0.0
        if self.source == "history":
            return max(self.sd, se) ** 2, max(self.sd, se) ** 2
        return (EXCESS * se) ** 2 + self.sd**2, (EXCESS * se) ** 2


@dataclass(frozen=True, kw_only=True)
class Difference:
    """The log ratio of two runs before the floor is taken into account: its standard error and degrees of freedom."""

    mean: float
    se: float
    freedom: float
    shift: Interval = (0.0, 0.0)  # how much of it the floor's movement may be, least and most

    @property
    def p_value(self) -> float:
        """Two-sided, of no difference beyond what the floor's movement may account for; unadjusted."""
        low, high = self.mean - self.shift[1], self.mean - self.shift[0]
        nearest = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
        if self.se <= 0:
            return float(nearest == 0)
        return intervals.two_sided_p(nearest / self.se, self.freedom)

    def interval(self, alpha: float = ALPHA) -> Interval:
        """The ratio's interval: every reading of the floor's movement, and chance on top of it."""
        half = intervals.t_quantile(1 - alpha / 2, self.freedom) * self.se
        return exp(self.mean - self.shift[1] - half), exp(self.mean - self.shift[0] + half)


@dataclass(frozen=True, kw_only=True)
class FloorMove:
    """A floor in two runs: the ratio of its medians, new over old, with a 95 % interval from its readings."""

    kind: Literal["ping", "tcp"]
    old_ms: float
    new_ms: float
    ratio: float
    interval: Interval

    @property
    def has_moved(self) -> bool:
        """Whether the readings show the two floors to differ."""
        return not self.interval[0] <= 1 <= self.interval[1]

    @property
    def is_beyond_comparing(self) -> bool:
        """Whether it surely moved by more than `MOST_MOVED`."""
        return self.interval[0] > 1 + MOST_MOVED or self.interval[1] < 1 / (1 + MOST_MOVED)


def mean_of(cell: CellSummary, statistic: str) -> LogMean | None:
    """Over the logs of its trials; None where the value of one falls among failed requests, or only some have one."""
    if censored_blocks(cell.trials, statistic) or missing_blocks(cell.trials, statistic):
        return None
    values = list(by_block(cell.trials, statistic).values())
    return intervals.of_trials(values) if values else None


def spread_between(statistic: str, history: Sequence[float], above: float = 1.0) -> Spread:
    """The spread between equal runs; `history` holds the mean logs of equal runs other than the two compared.

    `above` is the share of the cell's latency that lies above the ping, where that is known.
    """
    if len(history) < FEWEST_RUNS:
        return Spread(source="assumption", sd=ASSUMED_SD[statistic] * above)
    return Spread(source="history", sd=float(np.std(history, ddof=1)), runs=len(history))


def difference(new: LogMean, old: LogMean, spread: Spread, moves: Sequence[FloorMove] = ()) -> Difference:
    """The log ratio of two runs of one cell, new over old."""
    return Difference(
        mean=new.mean - old.mean,
        se=sqrt(spread.per_run(new)[0] + spread.per_run(old)[0]),
        freedom=_freedom(new, old, spread),
        shift=shift(moves),
    )


def move_of(kind: Literal["ping", "tcp"], new: Sequence[float], old: Sequence[float]) -> FloorMove | None:
    """One floor in two runs: Welch's interval over the readings, ms, in time order; None with fewer than three in either."""
    readings = [tuple(m for m in medians if m > 0) for medians in (new, old)]
    tested = intervals.unpaired(*readings) if all(readings) else None
    if tested is None:
        return None
    mean, error, freedom = tested
    half = intervals.t_quantile(1 - ALPHA / 2, freedom) * error
    middles = [exp(float(np.mean(np.log(part)))) for part in readings]
    return FloorMove(
        kind=kind, new_ms=middles[0], old_ms=middles[1], ratio=exp(mean), interval=(exp(mean - half), exp(mean + half))
    )


def _freedom(new: LogMean, old: LogMean, spread: Spread) -> float:
    """Degrees of freedom of the variance of a difference.

    Of an assumption: Welch and Satterthwaite, the assumed part being known. Of history: those of the estimate that is
    used, the fewest where it is one of several, for the larger of two estimates is the one that is used.
    """
    if spread.source == "history":
        return float(min([spread.runs - 1, *(run.freedom for run in (new, old) if (run.se or 0.0) > spread.sd)]))
    parts = [(*spread.per_run(run), run.freedom) for run in (new, old)]
    below = sum(estimated**2 / freedom for _, estimated, freedom in parts)
    total = sum(variance for variance, _, _ in parts)
    return total**2 / below if below > 0 else inf


def shift(moves: Iterable[FloorMove]) -> Interval:
    """What the floors' movements may have done to the cell, in its log: from nothing to `REACTION` times as much."""
    reactions = [REACTION * log(move.ratio) for move in moves if move.has_moved]
    return min([0.0, *reactions]), max([0.0, *reactions])


def floor_of(run: RunSummary, kind: str, cell: CellSummary) -> FloorSummary | None:
    """The floor of that kind beside the cell; None without one."""
    return next((f for f in run.floors if f.kind == kind and f.is_beside(cell.placement, cell.id)), None)


def moves(new: RunSummary, old: RunSummary, pair: tuple[CellSummary, CellSummary]) -> Iterator[FloorMove]:
    """How each floor that both runs have moved from the old one to the new; those with too few readings are left out."""
    for kind in ("tcp", "ping"):
        mine, theirs = floor_of(new, kind, pair[0]), floor_of(old, kind, pair[1])
        move = move_of(mine.kind, mine.medians, theirs.medians) if mine and theirs else None
        if move:
            yield move
