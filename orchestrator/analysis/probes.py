"""Whether goals held in one trial of a search, from its samples: by the run, which goes on from there, and by analysis.

A goal holds where the statistic of all requests that were due is below its bound. Those without a right reply count as
slower than every reply, as everywhere, and so do those that were never sent. And the rate must have been offered: with
fewer requests than were due, the trial says nothing about that rate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

import numpy.typing as npt

from orchestrator.analysis.checks.offered_load import observe
from orchestrator.analysis.evidence import Samples
from orchestrator.analysis.statistics import NS_PER_MS, quantile
from orchestrator.experiment.model.goal import ERRORS, SHARES, Goal
from orchestrator.experiment.plan.plan import Cell, Find
from orchestrator.record_layout import COLUMNS
from orchestrator.results.lines import Failure
from orchestrator.results.manifest import Verdict
from services.python.contract.lines import STATUSES

LEAST_OFFERED = 0.98
"""Of the rate that is tried, what must be sent: as the check `offered load` asks of every open loop."""

MOST_UNSENT = 0.01
"""Of the requests that were due, those that may be left unsent."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What a trial shows of its goals: each one's statistic in ms (of `errors` a share), None beyond every reply."""

    requests: int
    failed: int
    not_sent: int
    offered: float  # sent per second, over what was due
    figures: Mapping[str, float | None]
    missed: tuple[Goal, ...]

    @property
    def is_offered(self) -> bool:
        """Whether the rate was offered."""
        due = self.requests + self.not_sent
        return due > 0 and self.offered >= LEAST_OFFERED and self.not_sent <= MOST_UNSENT * due

    @property
    def held(self) -> bool:
        """Whether the rate was offered, and every goal held."""
        return self.is_offered and not self.missed


def read(find: Find, columns: Mapping[str, npt.NDArray[Any]], cell: Cell) -> Reading:
    """The reading of one requester's samples, whatever their order."""
    samples = Samples(columns, is_open_loop=True, in_flight=cell.load.concurrency)
    schedule = observe(samples)
    failed, not_sent = int(samples.failed.sum()), int(samples.never_sent_ns.size)
    figures = {goal.statistic: _figure(goal, samples, failed, not_sent) for goal in find.goals}
    offered = 0.0
    if schedule is not None and schedule.intended_per_s > 0:
        offered = schedule.achieved_per_s / schedule.intended_per_s
    return Reading(
        requests=samples.measured,
        failed=failed,
        not_sent=not_sent,
        offered=offered,
        figures={name: None if figure == inf else figure for name, figure in figures.items()},
        missed=tuple(goal for goal in find.goals if not figures[goal.statistic] < _bound(goal)),
    )


def _figure(goal: Goal, samples: Samples, failed: int, not_sent: int) -> float:
    if not samples.measured:
        return inf
    if goal.statistic == ERRORS:
        return failed / samples.measured
    return quantile(samples.ordered_ns, SHARES[goal.statistic], failed + not_sent) / NS_PER_MS


def _bound(goal: Goal) -> float:
    return goal.below if goal.statistic == ERRORS else goal.below * 1000


def verdict(find: Find, cell: Cell, failure: Failure | None, records: Sequence[Path]) -> Verdict:
    """The verdict on a trial that just ended, from its raw records; `cell` is at the rate that was tried.

    A trial in which not one request got a right reply is one at which no goal held; any other failure tells nothing.
    """
    if failure is not None:
        return "not held" if failure.stage == "measure" and failure.kind in STATUSES else "no result"
    from orchestrator.results.convert import read_record

    held = bool(records)
    for path in records:
        rows = read_record(path, kind=cell.kind, parts=cell.parts)
        columns = {name: rows[:, place] for place, name in enumerate(COLUMNS)}
        held = held and read(find, columns, cell).held
    return "held" if held else "not held"
