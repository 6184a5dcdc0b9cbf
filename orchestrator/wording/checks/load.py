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

_LITTLES_LAW: Mapping[str, Words] = {
    "follows-latency": (
        "Pauses between requests grow with the latency before them, by {typical:percent} of it: the clock stops at about"
        " {stops_at:percent} of the wait.",
        "Check where the timer stops: what a latency leaves out appears in the pause after it.",
    ),
    "held-up": (
        "[in {called}, ]between a reply and the next request, {unknown_pause_ms:ms} on average are not the requester's own"
        " work, but not in most pauses: the machine held some of them up, or the clock.",
        "See `noise`: on a quieter machine a clock that stops early for some of the requests would be found.",
    ),
    "in-flight": "Throughput x latency gives {in_flight:.2f} in flight, {concurrency} declared",
    "more-than-there-was": (
        ": the latencies add up to more time than there was.",
        "Check whether latencies include more than the request itself, such as time in a queue.",
    ),
    "open-loop": (
        "In an open loop a worker rests between requests, so that a clock that stops early leaves no trace.",
        "Measure the same stacks in a closed loop too, where it does.",
    ),
    "own-work": "the rest is the requester's own work.",
    "stops-early": (
        "[in {called}, ]between a reply and the next request, {unknown_pause_ms:ms} are not the requester's own work, at a"
        " latency of {latency_s:s}: the clock stops too early.",
        "Measure again. If it remains, check the timer: what a latency leaves out is in the pause after it.",
    ),
    "too-few": (
        "{requests:count request}: too few for {concurrency} in flight to ignore the window's ends.",
        "Plan at least ten requests for each one in flight.",
    ),
    "waits-in-no-latency": (
        ": {unknown_s:.2f} s of waiting are in no latency; it worked only {requester_cpu_s:.2f} s.",
        "Check which clock times the calls (a CPU-time clock leaves out waiting) and where the timer stops.",
    ),
    "workers": "Throughput x (latency + think time) gives {in_flight:.2f} workers, {concurrency} declared",
}
_FIX_TIMES = "Fix the requester's intended times: latency counts from them, and a late one hides part of the wait."
_FIND_THE_END = "Find out what ended the requester, or what it asked for: this is not the declared load."
_DUE = ", with {intended:count request} due in it, not {least:,}[ to {most:,}]."
_SENT = "{delivered:percent} of {declared_per_s:rate} requests per second were sent[, {never_sent:,} were not]"
_OFFERED_LOAD: Mapping[str, Words] = {
    "begins-early": "The first request was due {away_ns:ns} before the start of the measured phase, not at it.",
    "begins-late": "The first request was due {away_ns:ns} after the start of the measured phase, not at it.",
    "connections-busy": " (all connections were busy)",
    "core": "The requester's core was {cpu_share:percent} busy.",
    "core-may-limit": (
        "The requester's core was {cpu_share:percent} busy: the load may be limited by the requester, not by the responder.",
        "Read throughput as the client's limit; to find the responder's, add requesters (`processes`) or use a lighter"
        " client.",
    ),
    "ends-before-its-load": (f": the schedule ends before its load does{_DUE}", _FIND_THE_END),
    "fewer-requests": (" made {requests:count request}; its load has {declared:,}.", _FIND_THE_END),
    "fix-times": ("", _FIX_TIMES),
    "goes-on-beyond-its-load": (f": the schedule goes on beyond its load{_DUE}", _FIND_THE_END),
    "late": (
        ", one in a hundred more than {lag_p99_ns:ns} late.",
        "Lower the rate or add requesters (`processes`): latencies count from the intended time, and include this lag.",
    ),
    "less-than-declared": (
        ", {late:percent} of a worker's round: less load than declared.",
        "Lower the concurrency or add requesters: those that rest share one requester's CPU.",
    ),
    "more-requests": (
        " made {requests:count request}; its load has {declared:,}.",
        "Find out which requests were made, or entered, beyond the load.",
    ),
    "not-drawn": (
        "Requests were not due at the times that the trial's seed gives.",
        "Fix the requester's schedule: latency counts from it, and one that follows replies hides late sends.",
    ),
    "not-the-load": (
        ": not the declared load.",
        "Lower the rate, raise the concurrency, or add requesters (`processes`).",
    ),
    "on-time": ", on time.",
    "only-sent": f"Only {_SENT}",
    "process": "Requester process {process} on {host}",
    "requester": "The requester",
    "requester-behind": " (the requester could not keep up)",
    "rested": "After a think time of {think_ms:ms} requests were sent {late_mean_ns:ns} late on average",
    "sent": _SENT,
    "sent-early": "{early:,} of {sent:,} requests were sent before they were due, by up to {earliest_ns:ns}.",
}

WORDS: Mapping[str, Mapping[str, Words]] = {
    "event stream": _EVENT_STREAM,
    "in flight": _IN_FLIGHT,
    "Little's law": _LITTLES_LAW,
    "offered load": _OFFERED_LOAD,
    "queueing ramp": _QUEUEING_RAMP,
}
