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

NAME = "search"
"""What a trial's reading is kept as, among what checks observe."""

LEAST_OFFERED = 0.98
"""Of the rate that is tried, what must be sent: as the check `offered load` requires of every open loop."""

Waited = Literal["", "in flight", "late sends"]
"""Where requests waited before they were sent: as many as may be were in flight, or the requester was late."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What a trial of an open loop shows: every statistic that a goal may bound, of what was due and of what was sent."""

    is_offered: bool  # whether enough of the rate was sent
    figures: Mapping[str, float | None]
    once_sent: Mapping[str, float | None]
    is_full: bool  # whether as many were in flight as may be

    def held(self, find: Find) -> bool:
        """Whether the rate was offered, and every goal held."""
        return self.is_offered and _hold(find.goals, self.figures)

    def waited(self, find: Find) -> Waited:
        """Why goals did not hold although what was sent kept them: nothing shows that the responder could not do more."""
        if self.held(find) or not _hold(find.goals, self.once_sent):
            return ""
        return "in flight" if self.is_full else "late sends"


def _hold(goals: Sequence[Goal], figures: Mapping[str, float | None]) -> bool:
    below = {goal.statistic: goal.below if goal.statistic == ERRORS else goal.below * 1000 for goal in goals}
    return all((figure := figures[name]) is not None and figure < most for name, most in below.items())


def observe(samples: Samples) -> Reading:
    """Return the reading of a trial's samples of an open loop, whatever their order."""
    schedule = offered_load.observe(samples)
    failed, not_sent = int(samples.failed.sum()), int(samples.never_sent_ns.size)
    due, offered = samples.measured + not_sent, 0.0
    if isinstance(schedule, offered_load.Schedule) and schedule.intended_per_s > 0:
        offered = schedule.achieved_per_s / schedule.intended_per_s
    return Reading(
        is_offered=due > 0 and offered >= LEAST_OFFERED and not_sent <= MOST_UNSENT * due,
        figures=_figures(samples.ordered_ns, failed, not_sent),
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
