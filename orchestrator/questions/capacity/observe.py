"""Whether goals held in one trial of a search, from its samples: the run goes on from there.

A goal holds where the statistic of all requests that were due is below its bound. Those without a right reply count as
slower than every reply, as everywhere, and so do those that were never sent. And the rate must have been offered: with
fewer requests than were due, the trial says nothing about that rate.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

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

LEAST_OFFERED = 0.98
"""Of the rate that is tried, what must be sent: as the check `offered load` requires of every open loop."""


def _holds(goal: Goal, figure: float | None) -> bool:
    return figure is not None and figure < (goal.below if goal.statistic == ERRORS else goal.below * 1000)


def _held(samples: Samples, find: Find) -> bool:
    """Whether the rate of a trial was offered, and every goal held; samples of an open loop, whatever their order."""
    schedule = offered_load.observe(samples)
    failed, not_sent = int(samples.failed.sum()), int(samples.never_sent_ns.size)
    due, offered = samples.measured + not_sent, 0.0
    if isinstance(schedule, offered_load.Schedule) and schedule.intended_per_s > 0:
        offered = schedule.achieved_per_s / schedule.intended_per_s
    if not due or offered < LEAST_OFFERED or not_sent > MOST_UNSENT * due:
        return False
    figures = _figures(samples.ordered_ns, failed, not_sent)
    return all(_holds(goal, figures[goal.statistic]) for goal in find.goals)


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
    return "held" if _held(from_its_begin(measured), find) else "not held"
