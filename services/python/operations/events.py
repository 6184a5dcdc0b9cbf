"""`events`: a subscription to synthetic events, sent at a rate whether or not anybody keeps up.

An event's text is a part of the generator's stream, as long as the request says; where it begins depends on the event's
number, so that neighbours differ and the sender makes each by a slice.
"""

from __future__ import annotations

from base64 import b64encode
from functools import lru_cache
from typing import Any, Final

from services.python.contract.generator import stream
from services.python.contract.limits import MAX_PAYLOAD_BYTES
from services.python.contract.lines import Payload
from services.python.contract.messages import EVENTS
from services.python.contract.streams import LONGEST_INTERVAL_NS, SHORTEST_INTERVAL_NS, schedule
from services.python.operations import base

STAMPED: Final = frozenset({"sequence", "sent_ns"})  # the fields of every event; the others are its operation's

_MOST_EVENTS = 1_000_000_000
_LATEST_NS = 1 << 62  # 146 years since the host was started


def due(operation: str, payload: Payload, seconds: float) -> dict[str, int]:
    """The fields of a subscription that every stream has, for what is due in so many seconds. PayloadError."""
    base.expect_kind(operation, payload, "events")
    if not payload.per_second:
        raise base.PayloadError(f"{operation}: a rate above 0, not 0 a second")
    interval_ns, count = schedule(payload.per_second, seconds)
    return {"interval_ns": interval_ns, "count": count}


def asked(request: base.Request) -> tuple[int, int]:
    """The interval and the number of the events that are asked for; ValueError where there is no such stream."""
    interval_ns, count = base.whole(request, "interval_ns"), base.whole(request, "count")
    if not SHORTEST_INTERVAL_NS <= interval_ns <= LONGEST_INTERVAL_NS or not 1 <= count <= _MOST_EVENTS:
        raise ValueError(
            f"{count} events every {interval_ns} ns: there must be one to {_MOST_EVENTS:,}, {SHORTEST_INTERVAL_NS:,} to "
            f"{LONGEST_INTERVAL_NS:,} ns apart"
        )
    return interval_ns, count


def no_reply(request: base.Request, wall_clock_ns: base.WallClockNs, *held: Any) -> dict[str, Any]:  # noqa: ARG001 - of anything
    """ValueError: what `Operation.answer` is of a stream."""
    raise ValueError("events are subscribed to: there is no single reply")


def misnumbered(request: base.Request, event: base.Event) -> str | None:
    """Why it is no event of this subscription, by its number and its stamp; None where it is one."""
    number = event.get("sequence")
    if type(number) is not int or not 1 <= number <= request["count"]:
        return f"an event numbered {base.shorten(number)}, of {request['count']} asked for"
    if type(stamp := event.get("sent_ns")) is not int or not 0 <= stamp <= _LATEST_NS:
        return f"event {number} has the stamp {base.shorten(stamp)}"
    return None


_STARTS = 64  # different places at which an event's text begins
_OF_AN_EVENT = {*STAMPED, "data"}


@lru_cache(maxsize=8)
def _text(seed: int, size: int) -> str:
    length = size + _STARTS - 1
    return b64encode(stream(f"events/{seed}", (length * 3 + 3) // 4)).decode()[:length]


def text_of(seed: int, size: int, number: int) -> str:
    """The text of event `number` (from 1), `size` ASCII characters."""
    start = number % _STARTS
    return _text(seed, size)[start : start + size]


def _subscription(payload: Payload, seed: int, seconds: float) -> base.Request:
    return {**due("events", payload, seconds), "size": payload.size, "seed": seed}


def _requests(payload: Payload, seed: int) -> base.Make:
    request = _subscription(payload, seed, 0.0)
    return lambda _sequence, _wall_clock_ns: request


def _schedule(request: base.Request) -> base.Schedule:
    interval_ns, count = asked(request)
    size, seed = base.whole(request, "size"), base.whole(request, "seed")
    if size > MAX_PAYLOAD_BYTES:
        raise ValueError(f"events of {size:,} characters: there must be at most {MAX_PAYLOAD_BYTES:,}")
    text = _text(seed, size)

    def content(number: int) -> dict[str, Any]:
        start = number % _STARTS
        return {"data": text[start : start + size]}

    return base.Schedule(count=count, interval_ns=interval_ns, content=content)


def _verify(request: base.Request, event: base.Event | base.Reply) -> str | None:
    if why := misnumbered(request, event):
        return why
    number = event["sequence"]
    if event.get("data") != text_of(request["seed"], request["size"], number):
        return f"event {number} carries {base.shorten(event.get('data'))}"
    if event.keys() != _OF_AN_EVENT:
        return f"event {number} has the fields {base.shorten(sorted(event))}"
    return None


OPERATION = base.Operation(
    name="events",
    message=EVENTS,
    kind="stream",
    payloads=("events",),
    requests=_requests,
    answer=no_reply,
    verify=_verify,
    stream=base.Stream(subscription=_subscription, schedule=_schedule, verify=_verify),
)
