"""offered load: the requester offered what the experiment asked for, and was not itself the limit.

A requester whose core is busy for more than 85 % of the window limits what is measured when several requests are in
flight. With one in flight it waits whenever the responder works, so a busy requester is a part of that latency (the
client's share), not a limit of the load: no warning there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np

from orchestrator.checks.base import CALLS, Check, Finding, fails, in_most, not_reported, passes, point, warns
from orchestrator.evidence.run_evidence import CellEvidence, Part, Samples, TrialEvidence
from orchestrator.findings.check_result import Overload, Point
from orchestrator.statistics.quantiles import Nanoseconds, quantile
from services.python.contract.limits import SATURATED
from services.python.load.phases import NEVER, arrivals

_REDRAWN = 10_000
_MOST_LATE = 0.05  # of a worker's round


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """An open loop's sends against its schedule; rates per second, lag in nanoseconds."""

    intended: int
    never_sent: int
    intended_per_s: float
    achieved_per_s: float
    lag_p99_ns: float
    median_ns: float
    first_due: str  # digest of when the first requests were due
    first_due_ns: int  # when the first one was, by the requester's clock
    early: int  # sent before they were due
    earliest_ns: int  # by how much the earliest of them


@dataclass(frozen=True, kw_only=True)
class Rested:
    """On average, nanoseconds: how late requests were sent after their think time, and a worker's round."""

    late_mean_ns: float
    cycle_ns: float  # a latency, its rest and what came between


def observe(samples: Samples) -> Schedule | Rested | None:
    """None for a closed loop without think time."""
    if samples.rests is not None and samples.measured > samples.in_flight:
        cycle_ns = samples.span_ns * samples.in_flight / samples.measured
        return Rested(late_mean_ns=float((samples.sent_ns - samples.ready_ns).mean()), cycle_ns=cycle_ns)
    if not samples.is_open_loop or samples.measured < 2:
        return None
    sent, unsent = samples.sent_ns, samples.never_sent_ns
    intended = np.concatenate([samples.intended_ns, unsent])
    lag = np.sort(sent - samples.intended_ns)
    window_ns = int(intended.max() - intended.min())
    longest_ns = max(window_ns, int(sent[-1] - sent[0]))  # all may have been sent, over a longer time
    spans = ((intended.size, window_ns), (sent.size, longest_ns))
    rates = [(n - 1) * 1e9 / span if span > 0 else 0.0 for n, span in spans]
    return Schedule(
        intended=int(intended.size),
        never_sent=int(unsent.size),
        intended_per_s=rates[0],
        achieved_per_s=rates[1],
        lag_p99_ns=quantile(lag, 0.99) if lag.size else 0.0,
        median_ns=quantile(samples.ordered_ns, 0.5) if samples.ordered_ns.size else 0.0,
        first_due=_digest(samples.schedule_ns(_REDRAWN)),
        first_due_ns=int(intended.min()),
        early=int((lag < 0).sum()),
        earliest_ns=max(0, -int(lag[0])),
    )


def _digest(due_ns: Nanoseconds) -> str:
    return hashlib.sha256(due_ns.astype("<i8").tobytes()).hexdigest()[:16]


def cut(seen: Schedule, part: Part) -> Point | None:
    """A point where a schedule ends before its load does, or goes on beyond.

    What is due is recorded, sent or not. Of a long one that ends by time not all is redrawn: the number may lie within five
    standard deviations of a Poisson count.
    """
    load = part.load
    most_requests = load.requests or NEVER
    least = most = len(arrivals(replace(load, requests=min(most_requests, _REDRAWN)), part.seed))
    if least == _REDRAWN:
        least = most = most_requests
        if load.rate_per_s is not None and load.duration_s is not None:
            mean = load.rate_per_s * load.duration_s
            least, most = (min(most_requests, int(mean + deviations * sqrt(mean))) for deviations in (-5, 5))
    if least <= seen.intended <= most:
        return None
    kind = "ends-before-its-load" if seen.intended < least else "goes-on-beyond-its-load"
    return point(kind, least=least, most=most if most > least else None)


def judge(cell: CellEvidence) -> list[Finding]:
    """The schedule where there is one, and the requester's core and event loop."""
    findings = [finding for finding in _findings(cell) if finding is not None]
    overloads = [finding for finding in findings if finding.overload]
    return [*(f for f in findings if not f.overload), *in_most(overloads, len(cell.trials))]


def _findings(cell: CellEvidence) -> Iterator[Finding | None]:
    parts = [(trial, part) for trial in cell.trials for part in trial.parts]
    for trial, part in parts:
        seen = part.seen.get(NAME)
        if isinstance(seen, Schedule):
            yield _schedule(cell, trial, part, seen)
        elif seen is not None:
            yield _think_time(cell, trial, seen)
        if not cell.is_open_loop:
            yield _unlike_its_load(trial, part)
        yield _requester(cell, trial, part)


def _who(trial: TrialEvidence, part: Part) -> Point:
    """The requester; of several, which of them."""
    return point("requester") if len(trial.parts) == 1 else point("process", process=part.process + 1, host=part.host)


def _unlike_its_load(trial: TrialEvidence, part: Part) -> Finding | None:
    """Where a closed loop made more or fewer requests than its load has."""
    requests, load = part.done.requests, part.load
    evidence: dict[str, Any] = {"trial": trial.record.index, "requests": requests, "declared": load.requests}
    is_cut = load.duration_s is None and load.requests is not None and requests < load.requests
    if is_cut or (load.requests is not None and requests > load.requests):
        points = _who(trial, part), point("fewer-requests" if is_cut else "more-requests")
        return fails(points, evidence, weight=abs(requests - (load.requests or 0)))
    return None


def _not_the_schedule(trial: TrialEvidence, part: Part, seen: Schedule) -> tuple[Point, ...]:
    """How the requests' due times differ from those of the load; nothing where they do not."""
    load = replace(part.load, requests=min(seen.intended, _REDRAWN), duration_s=None)
    due = np.asarray(arrivals(load, part.seed), dtype=np.int64)
    if _digest(due - due[0]) != seen.first_due:  # what is entered as intended may be a send time
        return (point("not-drawn"),)
    if unlike := cut(seen, part):
        return _who(trial, part), unlike
    if seen.early:
        return point("sent-early", sent=seen.intended - seen.never_sent), point("fix-times")
    begin_ns = part.done.begin_ns
    if begin_ns is None or seen.first_due_ns == begin_ns:
        return ()
    late_ns = seen.first_due_ns - begin_ns
    return point("begins-late" if late_ns > 0 else "begins-early", away_ns=abs(late_ns)), point("fix-times")


def _schedule(cell: CellEvidence, trial: TrialEvidence, part: Part, seen: Schedule) -> Finding:
    rate = part.load.rate_per_s or 0.0
    evidence = {"trial": trial.record.index, "declared_per_s": rate, **seen.__dict__}
    if trouble := _not_the_schedule(trial, part, seen):
        return fails(trouble, evidence)
    delivered = seen.achieved_per_s / seen.intended_per_s
    sent = [point("only-sent" if delivered < 0.9 else "sent", delivered=delivered)]
    if seen.never_sent and part.done.not_sent:
        sent.append(point(part.done.not_sent_reason or "requester-behind"))
    if delivered < 0.9:
        planned = cell.cell.load.rate_per_s or rate
        overload = Overload(planned_per_s=planned, delivered_per_s=delivered * planned)
        return fails((*sent, point("not-the-load")), evidence, weight=-delivered, overload=overload)
    if delivered < 0.98 or seen.lag_p99_ns > max(1e6, 0.1 * seen.median_ns):
        return warns((*sent, point("late")), evidence, weight=seen.lag_p99_ns)
    return passes((*sent, point("on-time")), evidence)


def _think_time(cell: CellEvidence, trial: TrialEvidence, seen: Rested) -> Finding:
    late = seen.late_mean_ns / seen.cycle_ns if seen.cycle_ns > 0 else 0.0
    evidence: dict[str, Any] = {"trial": trial.record.index, "think_s": cell.cell.load.think_s, **seen.__dict__}
    rested = point("rested", think_ms=cell.cell.load.think_s * 1e3)
    if late > _MOST_LATE:
        return warns((rested, point("less-than-declared", late=late)), evidence, weight=late)
    return passes((rested,), evidence, weight=late)


def _requester(cell: CellEvidence, trial: TrialEvidence, part: Part) -> Finding:
    share = part.done.cpu_share
    if share is not None and cell.requesters > 1 and trial.summary:
        share = max(share, trial.summary.cpu_share or 0.0)  # of the CPUs that its processes share
    several = part.load.concurrency > 1 or cell.is_open_loop
    evidence = {"trial": trial.record.index, "cpu_share": share}
    if share is None:
        return not_reported("cpu_share", evidence)
    if several and share > SATURATED:
        return warns("core-may-limit", evidence)
    return passes("core", evidence)


NAME = "offered load"
CHECK = Check(name=NAME, severity="serious", kinds=CALLS, observe=observe, judge=judge)
