"""The rules: from what was noted around one call to the stamps that such code takes for its beginning and its end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from services.python.contract.timing_rules import RULES

_MICROSECOND = timedelta(microseconds=1)

Stamps = tuple[int, int]
"""Begin and end, in nanoseconds of the requester's monotonic clock. By clocks of two hosts the end may come first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Noted:
    """What was noted around one call, by the requester's monotonic clock; `reply` is what the client's `call` returned.

    `cpu_ns`: CPU time of the process between begin and end. `queued_ns`: when the request had been handed over, and the
    reply was not waited for yet. `first_of_batch_ns`, `first_of_events_ns`: when the first call of this one's batch began.
    `opening_ns`: how long its connection took to open before it, 0 unless it is the first on it.
    """

    reply: Any
    begun_ns: int
    queued_ns: int
    ended_ns: int
    cpu_ns: int
    first_of_batch_ns: int
    first_of_events_ns: int
    opening_ns: int


Values = Mapping[str, Any]
Rule = Callable[[Noted, Values, Values], Stamps]
"""Also given are the request and the reply in plain values."""


def server_minus_client(noted: Noted, request: Values, reply: Values) -> Stamps:
    """`response_timestamp - request_timestamp`: one way at best, and by two clocks."""
    stamps = (datetime.fromisoformat(reply["response_timestamp"]), datetime.fromisoformat(request["request_timestamp"]))
    return noted.begun_ns, noted.begun_ns + (stamps[0] - stamps[1]) // _MICROSECOND * 1_000


def one_stamp_for_a_batch(noted: Noted, request: Values, reply: Values) -> Stamps:  # noqa: ARG001
    """Each reply of a batch timed from the one stamp before its first request."""
    return noted.first_of_batch_ns, noted.ended_ns


def thousand_events(noted: Noted, request: Values, reply: Values) -> Stamps:  # noqa: ARG001
    """Each reply an event, timed from the request that came first of a thousand."""
    return noted.first_of_events_ns, noted.ended_ns


def stopped_at_enqueue(noted: Noted, request: Values, reply: Values) -> Stamps:  # noqa: ARG001
    """The timer stopped when the call had been handed over; nobody waited for the reply."""
    return noted.begun_ns, noted.queued_ns


def cpu_time(noted: Noted, request: Values, reply: Values) -> Stamps:  # noqa: ARG001
    """`time.process_time()` before and after: waiting costs nothing by that clock."""
    return noted.begun_ns, noted.begun_ns + noted.cpu_ns


def connecting(noted: Noted, request: Values, reply: Values) -> Stamps:  # noqa: ARG001
    """The first request of a connection has its opening in it."""
    return noted.begun_ns - noted.opening_ns, noted.ended_ns


OF_RULE: Mapping[str, Rule] = {
    "server-minus-client": server_minus_client,
    "one-stamp-for-50": one_stamp_for_a_batch,
    "thousand-events": thousand_events,
    "stopped-at-enqueue": stopped_at_enqueue,
    "cpu-time": cpu_time,
    "connecting-in-the-mean": connecting,
}
IN_ORDER: tuple[Rule, ...] = tuple(OF_RULE[rule.name] for rule in RULES)
