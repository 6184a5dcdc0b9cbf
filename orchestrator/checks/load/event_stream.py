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
from functools import partial
from typing import Any

from orchestrator import quantities
from orchestrator.checks.base import STREAMS, Check, Finding, fails, in_most, passes, untroubled, warns
from orchestrator.checks.replies.reply import percentiles_moved
from orchestrator.evidence.run_evidence import CellEvidence, EventCounts, Part, Samples, StreamTrial, TrialEvidence
from orchestrator.findings.check_result import Overload
from orchestrator.questions.streams.observe import StreamSamples
from orchestrator.statistics.quantiles import quantile

_FEWEST_KEPT, _FEW_KEPT = 0.9, 0.98  # of the planned rate
_BEGUN_LATE, _BEGUN_TOO_LATE = 0.2, 0.5  # of a stream's time: not all clients were sent events at once
_BEGUN_NS = 250_000_000  # what no client waits for unless somebody else is served first
_NS_PER_S = 1e9
_FASTEST = 0.25  # of TCP's own round trip: no event is under way for less
_STAMP = "Let the sender stamp with the monotonic clock of its host (CLOCK_MONOTONIC), when it sends."


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
        troubles.append(f"the requester said {done.rows:,} rows, the record holds {seen.rows:,}")
    if seen.subscriptions != part.load.concurrency or done.requests != seen.subscriptions:
        measured = quantities.count(seen.subscriptions, "subscription")
        troubles.append(f"{measured} of {part.load.concurrency:,} were measured")
    if (failed := sum(done.errors.values())) != seen.unended:
        failures = quantities.count(failed, "subscription")
        troubles.append(f"the requester said that {failures} failed, by the record {seen.unended:,} did")
    if counted is None:
        troubles.append("the requester did not say what came of its events")
    else:
        troubles += [
            f"the requester said {reported:,} {name}, the record holds {recorded:,}"
            for name in ("offered", "delivered", "dropped", "duplicated", "reordered")
            if (recorded := getattr(counts, name)) != (reported := getattr(counted, name))
        ]
        if done.verified != counted.delivered + counted.duplicated:
            troubles.append("not every event that counts was compared with what it should be")
    if counts.strange:
        strange = quantities.count(counts.strange, "row is", "rows are")
        troubles.append(f"{strange} of no subscription, or of another clock")
    ready = trial.record.ready
    if ready is not None and done.identity != ready.identity:
        troubles.append("another responder answered than the one that was started")
    least_ns = _FASTEST * (done.min_rtt_us or 0.0) * 1e3
    if seen.delivery_ns is not None and 0 <= seen.delivery_ns < least_ns:
        within = quantities.ns(seen.delivery_ns)
        troubles.append(f"half of the events came within {within}: they were stamped later than they were sent")
    evidence = {"trial": trial.record.index, "rows": seen.rows, **counts.__dict__}
    action = "Do not publish this cell: its numbers are not those of what happened."
    return untroubled(troubles, action, evidence, "Record and requester agree on every event.", weight=2.0)


def _of_trial(trial: TrialEvidence, stream: StreamTrial) -> Iterator[Finding]:
    """What the sender's stamps and counts say, and how its streams ended."""
    evidence = _evidence(trial, stream)
    for weight, more, explanation, action in _of_stamps(trial, stream):
        yield fails(explanation, action, {**evidence, **more}, weight=weight)
    yield from _of_counts(stream, evidence)
    if stream.unended:
        ended = quantities.listed([f"{number:,} with {status}" for status, number in stream.unended.items()])
        yield warns(
            f"In {trial.called} {quantities.count(sum(stream.unended.values()), 'stream')} did not end "
            f"as a stream does: {ended}.",
            "Find out why: what is missing of these streams counts as dropped.",
            {**evidence, "unended": dict(stream.unended)},
            weight=0.5,
        )


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


def _of_stamps(trial: TrialEvidence, stream: StreamTrial) -> Iterator[tuple[float, dict[str, Any], str, str]]:
    """Stamps that no honest sender of one clock gives: weight, evidence, explanation and action."""
    counted = partial(quantities.count, singular="event was", several="events were")
    within, waits = f"In {trial.called}", "(protos/process.md, Streams)."
    if stream.before_sent:
        text = f"{counted(stream.before_sent)} received before being sent: the two ends do not read one clock."
        yield 1.0, {"before_sent": stream.before_sent}, text, _STAMP
    if stream.early:
        text = (
            f"{within} {counted(stream.early)} sent before being due: the load was not the planned one, or the events are"
            " of an earlier subscription."
        )
        yield (
            0.9,
            {"early": stream.early},
            text,
            f"Let the sender wait until an event is due, and stamp it then {waits}",
        )
    if stream.is_contradictory:
        text = (
            f"{within} no offset between the clocks of both hosts has every event sent after it was asked for and received"
            " after it was sent: the stamps are not of two clocks that count the same time."
        )
        yield 0.85, {}, text, _STAMP


def _rate(cell: CellEvidence, trial: TrialEvidence, stream: StreamTrial) -> Finding | None:
    """Whether events were sent at the planned rate, and each in time; None where they were."""
    evidence, kept, late = _evidence(trial, stream), stream.rate_kept, stream.late_p99_ns
    is_slowed = stream.reading_ns > stream.interval_ns  # by its clients, as they were told
    wanted = stream.interval_ns / stream.reading_ns if is_slowed else 1.0
    if kept is not None and kept < _FEW_KEPT * wanted:
        is_overload = kept < _FEWEST_KEPT * wanted
        planned = cell.cell.load.concurrency * _NS_PER_S / stream.interval_ns * wanted
        return Finding.of(
            "fail" if is_overload else "warn",
            f"In {trial.called} the sender kept {quantities.percent(kept)} of its rate: it could not keep up, or its readers"
            " held it back.",
            "Lower the rate or the number of clients: this is the stack's capacity, not its latency.",
            {**evidence, "wanted": wanted},
            weight=-kept if is_overload else 1 - kept,
            overload=Overload(planned_per_s=planned, delivered_per_s=kept / wanted * planned) if is_overload else None,
        )
    if is_slowed:
        return None  # late as its readers have it, which is what is measured
    if late is not None and late > stream.interval_ns:
        return warns(
            f"In {trial.called} one event in a hundred was sent {quantities.ns(late)} late or more, beyond the "
            f"{quantities.ns(stream.interval_ns)} between two: events left in bursts, and the wait before that is in no "
            "delivery.",
            "Read p99 with the sender's lateness beside it; or measure on a quiet machine, at a lower rate.",
            evidence,
            weight=late / stream.interval_ns / 1e6,
        )
    return None


def _begin(_cell: CellEvidence, trial: TrialEvidence, stream: StreamTrial) -> Finding | None:
    """Whether all clients were sent events at once; None where they were."""
    begun = stream.begun_ns
    if begun is None or begun <= max(_BEGUN_NS, _BEGUN_LATE * stream.lasts_ns):
        return None
    return Finding.of(
        "fail" if begun > _BEGUN_TOO_LATE * stream.lasts_ns else "warn",
        f"In {trial.called} a stream of {quantities.ns(stream.lasts_ns)} began {quantities.ns(begun)} after its "
        "request: not all clients were sent events at once.",
        "Ask with fewer clients, or a responder that serves as many at once.",
        _evidence(trial, stream),
        weight=begun / stream.lasts_ns,
    )


def _of_counts(stream: StreamTrial, evidence: dict[str, Any]) -> Iterator[Finding]:
    delivered, offered, sent = stream.counts.delivered, stream.counts.offered, stream.sent
    if sent is not None and not delivered <= sent <= offered:
        what = f"{delivered:,} events came" if sent < delivered else f"{offered:,} events were asked for"
        yield fails(
            f"{what}, and the sender says that it sent {sent:,}.",
            "Find out who else sends or asks, or what repeats messages on the way.",
            evidence,
            weight=0.7,
        )


def _of_cell(cell: CellEvidence) -> Finding:
    assert cell.stream is not None  # noqa: S101 - narrows the type
    events = cell.stream
    moved = percentiles_moved(events.dropped, events.offered)
    names = ("offered", "sent", "delivered", "dropped", "duplicated", "reordered", "wrong")
    evidence = {name: getattr(events, name) for name in names}
    kinds = {
        "never came": events.dropped - events.wrong if events.dropped >= events.wrong else events.dropped,
        "came wrong": events.wrong,
        "came twice": events.duplicated,
        "came behind a later one": events.reordered,
    }
    counted = quantities.listed([f"{number:,} {what}" for what, number in kinds.items() if number])
    if not counted:
        return passes(f"All {events.offered:,} events came, once and in their order.", evidence)
    is_failed = bool(events.wrong or moved)
    beyond = f": enough to move {quantities.listed(moved)}, which the report shows" if moved else ""
    return Finding.of(
        "fail" if is_failed else "warn",
        f"Of {events.offered:,} events, {counted}{beyond}.",
        "Find out who loses, repeats or reorders: responder, client, or something between them.",
        {**evidence, "moved": moved},
        weight=events.dropped / events.offered if events.offered else 1.0,
    )


NAME = "event stream"
CHECK = Check(name=NAME, severity="fatal", kinds=STREAMS, observe=observe, judge=judge)
