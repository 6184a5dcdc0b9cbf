"""Words of the checks in `orchestrator/checks/load`."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.wording.checks.vocabulary import Words

EVENTS: Mapping[str, str] = {
    "missing": "never came",
    "wrong": "came wrong",
    "duplicated": "came twice",
    "reordered": "came behind a later one",
}

_REPEATED = "Find out who else sends or asks, or what repeats messages on the way."
_STAMP = "Let the sender stamp with the monotonic clock of its host (CLOCK_MONOTONIC), when it sends."
_EVENT_STREAM: Mapping[str, Words] = {
    "all-came": "All {offered:,} events came, once and in their order.",
    "another-responder": "another responder answered than the one that was started",
    "before-due": (
        "In {called} {early:count event was|events were} sent before being due: the load was not the planned one, or the"
        " events are of an earlier subscription.",
        "Let the sender wait until an event is due, and stamp it then (protos/process.md, Streams).",
    ),
    "before-sent": (
        "{before_sent:count event was|events were} received before being sent: the two ends do not read one clock.",
        _STAMP,
    ),
    "begun-late": (
        "In {called} a stream of {lasts_ns:ns} began {begun_ns:ns} after its request: not all clients were sent events at"
        " once.",
        "Ask with fewer clients, or a responder that serves as many at once.",
    ),
    "contradictory-stamps": (
        "In {called} no offset between the clocks of both hosts has every event sent after it was asked for and received"
        " after it was sent: the stamps are not of two clocks that count the same time.",
        _STAMP,
    ),
    "count": "the requester said {reported:,} {name}, the record holds {recorded:,}",
    "failed": "the requester said that {failed:count subscription} failed, by the record {unended:,} did",
    "in-bursts": (
        "In {called} one event in a hundred was sent {late_p99_ns:ns} late or more, beyond the {interval_ns:ns} between"
        " two: events left in bursts, and the wait before that is in no delivery.",
        "Read p99 with the sender's lateness beside it; or measure on a quiet machine, at a lower rate.",
    ),
    "more-came": ("{delivered:,} events came, and the sender says that it sent {sent:,}.", _REPEATED),
    "more-asked-for": ("{offered:,} events were asked for, and the sender says that it sent {sent:,}.", _REPEATED),
    "no-counts": "the requester did not say what came of its events",
    "not-agreed": ("", "Do not publish this cell: its numbers are not those of what happened."),
    "not-all-came": (
        "Of {offered:,} events, {became:events}[: enough to move {moved:listed}, which the report shows].",
        "Find out who loses, repeats or reorders: responder, client, or something between them.",
    ),
    "rate-not-kept": (
        "In {called} the sender kept {rate_kept:percent} of its rate: it could not keep up, or its readers held it back.",
        "Lower the rate or the number of clients: this is the stack's capacity, not its latency.",
    ),
    "record-agrees": "Record and requester agree on every event.",
    "rows": "the requester said {reported:,} rows, the record holds {rows:,}",
    "stamped-late": "half of the events came within {delivery_ns:ns}: they were stamped later than they were sent",
    "strange": "{strange:count row is|rows are} of no subscription, or of another clock",
    "subscriptions": "{measured:count subscription} of {concurrency:,} were measured",
    "unended": (
        "In {called} {streams:count stream} did not end as a stream does: {statuses:statuses}.",
        "Find out why: what is missing of these streams counts as dropped.",
    ),
    "unverified": "not every event that counts was compared with what it should be",
}

_IN_FLIGHT: Mapping[str, Words] = {
    "all-at-once": (
        "{most} requests were in flight at once[ in requester process {process}][ on {host}]",
        "Declare that concurrency, or await each reply: latencies now include waiting for each other.",
    ),
    "as-declared": "At most {most} in flight[ in requester process {process}][ on {host}], {declared} declared.",
    "declares-one": "the experiment declares one at a time",
    "declares-several": "the experiment declares at most {declared}",
    "never-as-declared": (
        "No more than {most} requests were ever in flight[ in requester process {process}][ on {host}], {declared} declared",
        "Check whether the requester kept up (`offered load`), or lower the concurrency.",
    ),
}

_GROWS = "Latency grows {growth:.1f}-fold over the trial: requests are queueing."
_QUEUEING_RAMP: Mapping[str, Words] = {
    "grows": (_GROWS, "Send each request when the previous one is answered, or report throughput instead."),
    "grows-at-a-rate": (_GROWS, "Lower the offered rate below the responder's capacity."),
    "level": "Latency does not grow over the trial.",
    "too-few": ("Fewer than {requests} requests per trial: too few to see a ramp.", "Ask for more requests per trial."),
}

WORDS: Mapping[str, Mapping[str, Words]] = {
    "event stream": _EVENT_STREAM,
    "in flight": _IN_FLIGHT,
    "queueing ramp": _QUEUEING_RAMP,
}
