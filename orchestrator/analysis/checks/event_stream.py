"""event stream: every event that was due came, once, in its order, and the sender kept to its schedule.

TCP neither loses nor reorders, so what is missing, came twice or behind a higher number is the stack's doing, or that of
something in between. Dropped events count as slower than all others in each percentile; from a share on that moves a
percentile shown further than chance does, the cell fails. An event's delivery is timed from the sender's stamp: what the
sender is late by is in no latency, so its lateness is held against the interval, and its rate against the plan.
"""

from __future__ import annotations

from orchestrator.analysis import words
from orchestrator.analysis.checks.base import STREAMS, Check, Finding, worst
from orchestrator.analysis.evidence import CellEvidence, EventCounts, Part, Samples, StreamTrial, TrialEvidence
from orchestrator.analysis.statistics import fails_that_move, is_supported
from orchestrator.analysis.streams import StreamSamples
from services.python.contract.limits import SATURATED

_FEWEST_KEPT, _FEW_KEPT = 0.9, 0.98  # of the planned rate
_PERCENTILES = {"median": 0.5, "p90": 0.90, "p95": 0.95, "p99": 0.99, "p99.9": 0.999}

Seen = tuple[int, int, EventCounts]


def observe(samples: Samples) -> Seen | None:
    """Rows of the record, measured subscriptions, and counts of events; None for what is no stream."""
    if not isinstance(samples, StreamSamples):
        return None
    return samples.rows, samples.subscriptions, samples.counts


def judge(cell: CellEvidence) -> Finding | None:
    """The worst of all trials, and all of them together."""
    findings = [_disagreement(cell, trial, part, seen) for trial, part, seen in cell.parts(NAME) if seen is not None]
    findings += [busy for trial, part, _ in cell.parts(NAME) if (busy := _busy(trial, part)) is not None]
    findings += [finding for trial in cell.trials if trial.stream for finding in _of_trial(trial, trial.stream)]
    findings += [_of_cell(cell)] if cell.stream else []
    return worst(findings)


def _disagreement(cell: CellEvidence, trial: TrialEvidence, part: Part, seen: Seen) -> Finding:
    """Record against `done` line, and whether the responder met is the one that this run started."""
    rows, subscriptions, counts = seen
    said, done = part.done.events, part.done
    troubles = []
    if done.rows != rows:
        troubles.append(f"the requester said {done.rows:,} rows, the record holds {rows:,}")
    if subscriptions != cell.cell.load.concurrency or done.requests != subscriptions:
        troubles.append(f"{words.count(subscriptions, 'subscription')} of {cell.cell.load.concurrency:,} were measured")
    if said is None:
        troubles.append("the requester did not say what came of its events")
    else:
        names = ("offered", "delivered", "dropped", "duplicated", "reordered")
        mine, theirs = ([getattr(of, name) for name in names] for of in (counts, said))
        troubles += [
            f"the requester said {other:,} {name}, the record holds {one:,}"
            for name, one, other in zip(names, mine, theirs, strict=True)
            if one != other
        ]
        if done.verified != said.delivered + said.duplicated:
            troubles.append("not every event that counts was compared with what it should be")
    if counts.strange:
        troubles.append(f"{words.count(counts.strange, 'row is', 'rows are')} of no subscription, or of another clock")
    ready = trial.record.ready
    if ready is not None and done.identity != ready.identity:
        troubles.append("another responder answered than the one that was started")
    evidence = {"trial": trial.record.index, "rows": rows, **counts.__dict__}
    if troubles:
        text = "; ".join(troubles)
        return Finding(
            verdict="fail",
            evidence=evidence,
            weight=2.0,
            explanation=f"{text[0].upper()}{text[1:]}.",
            action="Do not publish this cell: its counts are not those of what happened.",
        )
    return Finding(verdict="pass", evidence=evidence, explanation="Record and requester agree on every event.")


def _busy(trial: TrialEvidence, part: Part) -> Finding | None:
    """Clients of one requester share its core: when that is busy, events that have come wait there."""
    share = part.done.cpu_share
    if share is None or share <= SATURATED:
        return None
    return Finding(
        verdict="warn",
        evidence={"trial": trial.record.index, "cpu_share": share},
        weight=share - 1,
        explanation=f"In {trial.called} the requester's core was {words.percent(share)} busy: events wait there.",
        action="Lower the rate or the number of clients, or ask from several hosts (`requesters`).",
    )


def _of_trial(trial: TrialEvidence, stream: StreamTrial) -> list[Finding]:
    """What the sender did."""
    evidence = {
        "trial": trial.record.index,
        "interval_ns": stream.interval_ns,
        "late_p99_ns": stream.late_p99_ns,
        "worst_late_ns": stream.worst_late_ns,
        "rate_kept": stream.rate_kept,
        "sent": stream.sent,
        "offered": stream.counts.offered,
    }
    found = []
    if stream.before_sent:
        found.append(
            Finding(
                verdict="fail",
                evidence={**evidence, "before_sent": stream.before_sent},
                weight=1.0,
                explanation=f"{words.count(stream.before_sent, 'event was', 'events were')} received before being sent: "
                "the two ends do not read one clock.",
                action="Let the sender stamp with the monotonic clock of the host (CLOCK_MONOTONIC).",
            )
        )
    kept, late = stream.rate_kept, stream.late_p99_ns
    if kept is not None and kept < _FEW_KEPT:
        found.append(
            Finding(
                verdict="fail" if kept < _FEWEST_KEPT else "warn",
                evidence=evidence,
                weight=1 - kept,
                explanation=f"In {trial.called} the sender kept {words.percent(kept)} of its rate: it could not keep up, or "
                "its readers held it back.",
                action="Lower the rate or the number of clients: this is the stack's capacity, not its latency.",
            )
        )
    elif late is not None and late > stream.interval_ns:
        found.append(
            Finding(
                verdict="warn",
                evidence=evidence,
                weight=late / stream.interval_ns / 1e6,
                explanation=f"In {trial.called} one event in a hundred was sent {words.ns(late)} late or more, beyond the "
                f"{words.ns(stream.interval_ns)} between two: the wait before its stamp is in no delivery.",
                action="Read p99 with the sender's lateness beside it; or measure on a quiet machine, at a lower rate.",
            )
        )
    if stream.sent is not None and stream.sent < stream.counts.delivered:
        found.append(
            Finding(
                verdict="fail",
                evidence=evidence,
                explanation=f"{stream.counts.delivered:,} events came, and the sender says that it sent {stream.sent:,}.",
                action="Find out who else sends, or what repeats messages on the way.",
            )
        )
    return found


def _of_cell(cell: CellEvidence) -> Finding:
    """Lost, repeated and reordered events of all trials."""
    assert cell.stream is not None  # noqa: S101 - narrows the type
    of = cell.stream
    shown = {name: share for name, share in _PERCENTILES.items() if is_supported(of.offered, share) or name == "median"}
    moved = [name for name, share in shown.items() if of.dropped > fails_that_move(share, of.offered)]
    evidence = {
        name: getattr(of, name)
        for name in ("offered", "sent", "delivered", "dropped", "duplicated", "reordered", "wrong")
    }
    kinds = {
        "never came": of.dropped - of.wrong if of.dropped >= of.wrong else of.dropped,
        "came wrong": of.wrong,
        "came twice": of.duplicated,
        "came behind a later one": of.reordered,
    }
    counted = words.listed([f"{number:,} {what}" for what, number in kinds.items() if number])
    if not counted:
        return Finding(
            verdict="pass", evidence=evidence, explanation=f"All {of.offered:,} events came, once and in their order."
        )
    is_failed = bool(of.wrong or moved)
    beyond = f": enough to move {words.listed(moved)}, which the report shows" if moved else ""
    return Finding(
        verdict="fail" if is_failed else "warn",
        evidence={**evidence, "moved": moved},
        weight=of.dropped / of.offered if of.offered else 1.0,
        explanation=f"Of {of.offered:,} events, {counted}{beyond}.",
        action="Find out who loses, repeats or reorders: responder, client, or something between them.",
    )


NAME = "event stream"
CHECK = Check(name=NAME, severity="fatal", kinds=STREAMS, observe=observe, judge=judge)
