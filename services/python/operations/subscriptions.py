"""What all subscriptions have: so many events, so far apart, each with its number and its sender's stamp."""

from __future__ import annotations

from typing import Any, Final

from services.python.contract.lines import Payload
from services.python.contract.streams import LONGEST_INTERVAL_NS, SHORTEST_INTERVAL_NS, schedule
from services.python.operations.base import Event, PayloadError, Request, WallClockNs, expect_kind, shorten, whole

STAMPED: Final = frozenset({"sequence", "sent_ns"})  # the fields of every event; the others are its operation's

_MOST_EVENTS = 1_000_000_000
_LATEST_NS = 1 << 62  # 146 years since the host was started


def due(operation: str, payload: Payload, seconds: float) -> dict[str, int]:
    """The fields of a subscription that every stream has, for what is due in so many seconds. PayloadError."""
    expect_kind(operation, payload, "events")
    if not payload.per_second:
        raise PayloadError(f"{operation}: a rate above 0, not 0 a second")
    interval_ns, count = schedule(payload.per_second, seconds)
    return {"interval_ns": interval_ns, "count": count}


def asked(request: Request) -> tuple[int, int]:
    """The interval and the number of the events that are asked for; ValueError where there is no such stream."""
    interval_ns, count = whole(request, "interval_ns"), whole(request, "count")
    if not SHORTEST_INTERVAL_NS <= interval_ns <= LONGEST_INTERVAL_NS or not 1 <= count <= _MOST_EVENTS:
        raise ValueError(
            f"{count} events every {interval_ns} ns: there must be one to {_MOST_EVENTS:,}, {SHORTEST_INTERVAL_NS:,} to "
            f"{LONGEST_INTERVAL_NS:,} ns apart"
        )
    return interval_ns, count


def no_reply(request: Request, wall_clock_ns: WallClockNs, *held: Any) -> dict[str, Any]:  # noqa: ARG001 - of anything
    """ValueError: what `Operation.answer` is of a stream."""
    raise ValueError("events are subscribed to: there is no single reply")


def misnumbered(request: Request, event: Event) -> str | None:
    """Why it is no event of this subscription, by its number and its stamp; None where it is one."""
    number = event.get("sequence")
    if type(number) is not int or not 1 <= number <= request["count"]:
        return f"an event numbered {shorten(number)}, of {request['count']} asked for"
    if type(stamp := event.get("sent_ns")) is not int or not 0 <= stamp <= _LATEST_NS:
        return f"event {number} has the stamp {shorten(stamp)}"
    return None
