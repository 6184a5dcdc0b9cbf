"""event stream: every event that was due came, once, in its order, and the sender kept to its schedule.

No event may be sent before it is due, no stream may begin long after its request, and the sender's own count of
events must be that of the rows. TCP neither loses nor reorders, so what is missing, came twice or out of order is
the stack's doing. Dropped events count as slower than all others; where they move a percentile that is shown further than
chance does, the cell fails. A sender that slow readers hold back must keep their rate.

Deliveries are timed from the sender's stamp: events that are due before the one before them was sent leave in a burst, and
their wait is in no delivery. So one event in a hundred may not be a whole interval late.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from orchestrator.checks.base import STREAMS, Check, Finding, fails, in_most, passes, point, untroubled, warns
from orchestrator.checks.replies.reply import percentiles_moved
from orchestrator.evidence.run_evidence import CellEvidence, EventCounts, Part, Samples, StreamTrial, TrialEvidence
from orchestrator.evidence.stream_samples import StreamSamples
from orchestrator.findings.check_result import Overload
from orchestrator.statistics.quantiles import quantile

_FEWEST_KEPT, _FEW_KEPT = 0.9, 0.98  # of the planned rate
_BEGUN_LATE, _BEGUN_TOO_LATE = 0.2, 0.5  # of a stream's time: not all clients were sent events at once
_BEGUN_NS = 250_000_000  # what no client waits for unless somebody else is served first
_NS_PER_S = 1e9
_FASTEST = 0.25  # of TCP's own round trip: no event is under way for less


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What one requester's record holds: rows, measured subscriptions, and what became of their events."""

    rows: int
    subscriptions: int
    counts: EventCounts
    unended: int  # subscriptions that did not end as they should
    delivery_ns: float | None  # median; None over a distance


def observe(samples: Samples) -> Seen | None:
    """None for what is no stream."""
    if not isinstance(samples, StreamSamples):
        return None
    return Seen(
        rows=samples.rows,
        subscriptions=samples.subscriptions,
        counts=samples.counts,
        unended=sum(samples.unended.values()),
        delivery_ns=quantile(samples.ordered_ns, 0.5) if samples.is_one_clock and samples.measured else None,
    )


def judge(cell: CellEvidence) -> Iterator[Finding | None]:
    """All trials, and all of them together."""
    yield from (_disagreement(*part) for part in cell.parts(NAME))
    streams = [(trial, trial.stream) for trial in cell.trials if trial.stream]
    for trial, stream in streams:
        yield from _of_trial(trial, stream)
    for of_schedule in (_rate, _begin):
        late = [finding for trial, stream in streams if (finding := of_schedule(cell, trial, stream))]
        yield from in_most(late, len(streams))
    if cell.stream:
        yield _of_cell(cell)


def _disagreement(trial: TrialEvidence, part: Part, seen: Seen) -> Finding:
    """Record against `done` line, and whether the responder met is the one that this run started."""
    counts, counted, done = seen.counts, part.done.events, part.done
    troubles = []
    if done.rows != seen.rows:
        troubles.append(point("rows", reported=done.rows))
    if seen.subscriptions != part.load.concurrency or done.requests != seen.subscriptions:
        troubles.append(point("subscriptions", measured=seen.subscriptions, concurrency=part.load.concurrency))
    if (failed := sum(done.errors.values())) != seen.unended:
        troubles.append(point("failed", failed=failed, unended=seen.unended))
    if counted is None:
        troubles.append(point("no-counts"))
    else:
        troubles += [
            point("count", name=name, reported=reported, recorded=recorded)
            for name in ("offered", "delivered", "dropped", "duplicated", "reordered")
            if (recorded := getattr(counts, name)) != (reported := getattr(counted, name))
        ]
        if done.verified != counted.delivered + counted.duplicated:
            troubles.append(point("unverified"))
    if counts.strange:
        troubles.append(point("strange"))
    ready = trial.record.ready
    if ready is not None and done.identity != ready.identity:
        troubles.append(point("another-responder"))
    least_ns = _FASTEST * (done.min_rtt_us or 0.0) * 1e3
    if seen.delivery_ns is not None and 0 <= seen.delivery_ns < least_ns:
        troubles.append(point("stamped-late", delivery_ns=seen.delivery_ns))
    evidence = {"trial": trial.record.index, "rows": seen.rows, **counts.__dict__}
    return untroubled(troubles, "not-agreed", evidence, "record-agrees", weight=2.0)


def _of_trial(trial: TrialEvidence, stream: StreamTrial) -> Iterator[Finding]:
    """What the sender's stamps and counts say, and how its streams ended."""
    evidence = _evidence(trial, stream)
    if stream.before_sent:
        yield fails("before-sent", {**evidence, "before_sent": stream.before_sent}, weight=1.0)
    if stream.early:
        yield fails("before-due", {**evidence, "early": stream.early}, weight=0.9)
    if stream.is_contradictory:
        yield fails("contradictory-stamps", evidence, weight=0.85)
    delivered, sent = stream.counts.delivered, stream.sent
    if sent is not None and not delivered <= sent <= stream.counts.offered:
        yield fails("more-came" if sent < delivered else "more-asked-for", evidence, weight=0.7, delivered=delivered)
    if stream.unended:
        statuses, streams = [*stream.unended.items()], sum(stream.unended.values())
        evidence = {**evidence, "unended": dict(stream.unended)}
        yield warns("unended", evidence, weight=0.5, statuses=statuses, streams=streams)


def _evidence(trial: TrialEvidence, stream: StreamTrial) -> dict[str, Any]:
    return {
        "trial": trial.record.index,
        "interval_ns": stream.interval_ns,
        "late_p99_ns": stream.late_p99_ns,
        "worst_late_ns": stream.worst_late_ns,
        "begun_ns": stream.begun_ns,
        "rate_kept": stream.rate_kept,
        "sent": stream.sent,
        "offered": stream.counts.offered,
    }


def _rate(cell: CellEvidence, trial: TrialEvidence, stream: StreamTrial) -> Finding | None:
    """Whether events were sent at the planned rate, and each in time; None where they were."""
    evidence, kept, late = _evidence(trial, stream), stream.rate_kept, stream.late_p99_ns
    is_slowed = stream.reading_ns > stream.interval_ns  # by its clients, as they were told
    wanted = stream.interval_ns / stream.reading_ns if is_slowed else 1.0
    if kept is not None and kept < _FEW_KEPT * wanted:
        evidence = {**evidence, "wanted": wanted}
        if kept >= _FEWEST_KEPT * wanted:
            return warns("rate-not-kept", evidence, weight=1 - kept)
        planned = cell.cell.load.concurrency * _NS_PER_S / stream.interval_ns * wanted
        overload = Overload(planned_per_s=planned, delivered_per_s=kept / wanted * planned)
        return fails("rate-not-kept", evidence, weight=-kept, overload=overload)
    if is_slowed:
        return None  # late as its readers have it, which is what is measured
    if late is not None and late > stream.interval_ns:
        return warns("in-bursts", evidence, weight=late / stream.interval_ns / 1e6)
    return None


def _begin(_cell: CellEvidence, trial: TrialEvidence, stream: StreamTrial) -> Finding | None:
    """Whether all clients were sent events at once; None where they were."""
    begun = stream.begun_ns
    if begun is None or begun <= max(_BEGUN_NS, _BEGUN_LATE * stream.lasts_ns):
        return None
    finds = fails if begun > _BEGUN_TOO_LATE * stream.lasts_ns else warns
    return finds("begun-late", _evidence(trial, stream), weight=begun / stream.lasts_ns, lasts_ns=stream.lasts_ns)


def _of_cell(cell: CellEvidence) -> Finding:
    assert cell.stream is not None  # noqa: S101 - narrows the type
    events = cell.stream
    moved = percentiles_moved(events.dropped, events.offered)
    names = ("offered", "sent", "delivered", "dropped", "duplicated", "reordered", "wrong")
    evidence = {name: getattr(events, name) for name in names}
    missing = events.dropped - events.wrong if events.dropped >= events.wrong else events.dropped
    became = {"missing": missing, "wrong": events.wrong, "duplicated": events.duplicated, "reordered": events.reordered}
    if not any(became.values()):
        return passes("all-came", evidence)
    finds = fails if events.wrong or moved else warns
    weight = events.dropped / events.offered if events.offered else 1.0
    return finds("not-all-came", {**evidence, "moved": moved}, weight=weight, became=became)


NAME = "event stream"
CHECK = Check(name=NAME, severity="fatal", kinds=STREAMS, observe=observe, judge=judge)
