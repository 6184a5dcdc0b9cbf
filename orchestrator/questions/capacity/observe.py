"""Whether goals held in one trial of a search, from its samples: by the run, which goes on from there, and by analysis.

A goal holds where the statistic of all requests that were due is below its bound. Those without a right reply count as
slower than every reply, as everywhere, and so do those that were never sent. And the rate must have been offered: with
fewer requests than were due, the trial says nothing about that rate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from orchestrator.checks.load import offered_load
from orchestrator.evidence.one_clock import from_its_begin, put_together
from orchestrator.evidence.run_evidence import Samples
from orchestrator.experiment.model.goal import ERRORS, SHARES, Goal
from orchestrator.experiment.plan.plan import Cell, Find
from orchestrator.findings.summary import MOST_UNSENT
from orchestrator.record_layout import COLUMNS
from orchestrator.results.manifest import Failure, Verdict
from orchestrator.statistics.quantiles import NS_PER_MS, Nanoseconds, finite, quantile
from services.python.contract.lines import STATUSES

Waited = Literal["", "in flight", "late sends"]
"""Why goals were missed by requests that waited before they were sent: as many as may be were in flight, or the requester
was late; empty where those that were sent missed them, too."""

NAME = "search"
"""What a trial's reading is kept as, among what checks observe."""

LEAST_OFFERED = 0.98
"""Of the rate that is tried, what must be sent: as the check `offered load` requires of every open loop."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What a requester's samples show: every statistic of latency in ms, None beyond every reply, and errors as a share."""

    requests: int
    failed: int
    not_sent: int
    offered: float  # what was sent per second, over what was due
    figures: Mapping[str, float | None]
    once_sent: Mapping[str, float | None]  # of what was sent, from when it was
    is_full: bool  # as many were in flight as may be

    @property
    def is_offered(self) -> bool:
        """Whether enough of the rate was sent."""
        due = self.requests + self.not_sent
        return due > 0 and self.offered >= LEAST_OFFERED and self.not_sent <= MOST_UNSENT * due

    def missed(self, find: Find) -> tuple[Goal, ...]:
        """The goals that did not hold."""
        return tuple(goal for goal in find.goals if not _holds(goal, self.figures[goal.statistic]))

    def held(self, find: Find) -> bool:
        """Whether the rate was offered, and every goal held."""
        return self.is_offered and not self.missed(find)

    def waited(self, find: Find) -> Waited:
        """Where requests waited before they were sent, if the goals did not hold for that alone; empty if not.

        What was sent was then answered within the goals: nothing shows that its responder could not do more.
        """
        if self.held(find) or not all(_holds(goal, self.once_sent[goal.statistic]) for goal in find.goals):
            return ""
        return "in flight" if self.is_full else "late sends"


def _holds(goal: Goal, figure: float | None) -> bool:
    return figure is not None and figure < (goal.below if goal.statistic == ERRORS else goal.below * 1000)


def observe(samples: Samples) -> Reading:
    """The reading of a trial's samples of an open loop, whatever their order."""
    schedule = offered_load.observe(samples)
    failed, not_sent = int(samples.failed.sum()), int(samples.never_sent_ns.size)
    figures = _figures(samples.ordered_ns, failed, not_sent)
    offered = 0.0
    if isinstance(schedule, offered_load.Schedule) and schedule.intended_per_s > 0:
        offered = schedule.achieved_per_s / schedule.intended_per_s
    return Reading(
        requests=samples.measured,
        failed=failed,
        not_sent=not_sent,
        offered=offered,
        figures=figures,
        once_sent=_figures(np.sort(samples.call_ns), failed, 0),
        is_full=samples.most_in_flight >= samples.in_flight,
    )


def _figures(ordered_ns: Nanoseconds, failed: int, not_sent: int) -> dict[str, float | None]:
    """Every statistic that a goal may bound, of right replies in ascending order and what counts as slower than those."""
    figures: dict[str, float | None] = dict.fromkeys((*SHARES, ERRORS))
    if sent := ordered_ns.size + failed:
        for name, share in SHARES.items():
            figures[name] = finite(quantile(ordered_ns, share, failed + not_sent) / NS_PER_MS)
        figures[ERRORS] = failed / sent
    return figures


def verdict(find: Find, cell: Cell, failure: Failure | None, records: Sequence[Sequence[Path]]) -> Verdict:
    """The verdict on a trial that just ended, from the raw records of each host; `cell` is at the rate that was tried.

    A trial in which not one request got a right reply is one at which no goal held; any other failure tells nothing.
    """
    if failure is not None:
        return "not held" if failure.stage == "measure" and failure.kind in STATUSES else "no result"
    from orchestrator.results.convert import read_record

    if not records:
        return "not held"

    def samples(path: Path) -> Samples:
        rows = read_record(path, kind=cell.recorded, parts=cell.parts)
        columns = {name: rows[:, place] for place, name in enumerate(COLUMNS)}
        return Samples(columns, is_open_loop=True, in_flight=cell.load.concurrency)

    hosts = [put_together(list(map(samples, of_host))) for of_host in records]
    measured = [host for host in hosts if host.measured] or hosts[:1]
    return "held" if observe(from_its_begin(measured)).held(find) else "not held"
