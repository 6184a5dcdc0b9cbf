"""Find stalls that a closed loop hides: while the responder is silent, such a loop sends nothing that could be late.

Requests sent at an even pace over the measured time would meet each stall in proportion to its length. The share of them
that waits longer than x is the sum of what latencies exceed x by, over the sum of all latencies; where that is 1 % is the
p99 at an even pace. Exponential latencies have the same p99 at either pace, so ten times the measured p99 is a stall.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from orchestrator.evidence.run_evidence import CellEvidence, Samples
from orchestrator.findings.summary import CellSummary
from orchestrator.questions.base import Question, is_no_search
from orchestrator.statistics.quantiles import NS_PER_MS, finite, supported_quantile

NAME = "stalls"
_BEYOND = 0.01  # the share of requests beyond p99
_TIMES = 10.0  # so much longer than the measured p99 is the one at an even pace


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The longest latency of a trial, its p99, and its p99 at an even pace; ms."""

    longest: float
    p99: float
    even_p99: float


@dataclass(frozen=True, kw_only=True)
class Stall(Reading):
    """The worst trial of a cell, and in how many of its trials an even pace makes p99 at least tenfold."""

    cell: str
    stack_label: str
    setting: str
    stalled: int
    trials: int


def observe(samples: Samples) -> Reading | None:
    """Return what a trial's samples show of stalls; None without one, in an open loop, or with too few for p99."""
    latencies = samples.ordered_ns
    p99 = finite(supported_quantile(latencies, 1 - _BEYOND, int(samples.failed.sum())))
    if samples.is_open_loop or not p99:
        return None
    slowest = latencies[::-1][: int(latencies.size * _BEYOND) + 1].astype(np.float64)
    sums, counts = np.cumsum(slowest), np.arange(1, slowest.size + 1)
    allowed = _BEYOND * float(latencies.sum())
    is_enough = sums[:-1] - counts[:-1] * slowest[1:] >= allowed
    if not is_enough.any():
        return None
    place = int(np.argmax(is_enough))
    even = float((sums[place] - allowed) / counts[place]) / NS_PER_MS
    return Reading(longest=float(slowest[0]) / NS_PER_MS, p99=p99, even_p99=even) if even >= _TIMES * p99 else None


def stalls(evidence: Sequence[CellEvidence], cells: Sequence[CellSummary]) -> tuple[Stall, ...]:
    """Return each cell of calls or tasks that stalled in most of its trials, the one whose p99 would grow most first.

    A machine that pauses stalls a trial here and there, whatever the stack.
    """
    by_id = {cell.id: cell for cell in cells if cell.kind in ("call", "task")}
    worst_of_cells = []
    for each in evidence:
        cell = by_id.get(each.cell.id)
        readings = [reading for trial in each.trials if (reading := trial.whole.get(NAME)) is not None]
        if cell is not None and 2 * len(readings) > len(cell.trials):
            worst = max(readings, key=lambda reading: reading.even_p99 / reading.p99)
            stall = Stall(
                **vars(worst),
                cell=cell.id,
                stack_label=cell.labels.stack,
                setting=cell.setting,
                stalled=len(readings),
                trials=len(cell.trials),
            )
            worst_of_cells.append(stall)
    return tuple(sorted(worst_of_cells, key=lambda stall: stall.p99 / stall.even_p99))


QUESTION: Question[tuple[Stall, ...]] = Question(
    name=NAME,
    type=tuple[Stall, ...],
    empty=(),
    find=lambda basis: stalls(basis.evidence.cells, basis.summary.cells),
    applies=is_no_search,
)
