"""`events`: a subscription to synthetic events, sent at a rate whether or not anybody keeps up.

An event's text is a part of the generator's stream, as long as the request says; where it begins depends on the event's
number, so that neighbours differ and the sender makes each by a slice.
"""

from __future__ import annotations

from base64 import b64encode
from functools import lru_cache
from typing import Any

from services.python.contract.generator import stream
from services.python.contract.limits import MAX_PAYLOAD_BYTES
from services.python.contract.lines import Payload
from services.python.contract.messages import EVENTS
from services.python.contract.streams import LONGEST_INTERVAL_NS, SHORTEST_INTERVAL_NS, schedule
from services.python.operations.base import (
    Event,
    Make,
    Operation,
    PayloadError,
    Reply,
    Request,
    Schedule,
    Stream,
    WallClockNs,
    expect_kind,
    shorten,
)

_STARTS = 64  # different places at which an event's text begins
_MOST_EVENTS = 1_000_000_000
_FIELDS = ("interval_ns", "count", "size", "seed")
_OF_AN_EVENT = {"sequence", "sent_ns", "data"}
_LATEST_NS = 1 << 62  # 146 years since the host was started


@lru_cache(maxsize=8)
def _text(seed: int, size: int) -> str:
    length = size + _STARTS - 1
    return b64encode(stream(f"events/{seed}", (length * 3 + 3) // 4)).decode()[:length]


def text_of(seed: int, size: int, number: int) -> str:
    """The text of event `number` (from 1), `size` ASCII characters."""
    start = number % _STARTS
    return _text(seed, size)[start : start + size]


def _subscription(payload: Payload, seed: int, seconds: float) -> Request:
    expect_kind("events", payload, "events")
    if not payload.per_second:
        raise PayloadError("events: a rate above 0, not 0 a second")
    interval_ns, count = schedule(payload.per_second, seconds)
    return {"interval_ns": interval_ns, "count": count, "size": payload.size, "seed": seed}


def _requests(payload: Payload, seed: int) -> Make:
    request = _subscription(payload, seed, 0.0)
    return lambda _sequence, _wall_clock_ns: request


def _schedule(request: Request) -> Schedule:
    interval_ns, count, size, seed = (_whole(request, name) for name in _FIELDS)
    is_interval = SHORTEST_INTERVAL_NS <= interval_ns <= LONGEST_INTERVAL_NS
    if not is_interval or not 1 <= count <= _MOST_EVENTS or size > MAX_PAYLOAD_BYTES:
        raise ValueError(
            f"{count} events of {size} characters every {interval_ns} ns: there must be one to {_MOST_EVENTS:,}, of at "
            f"most {MAX_PAYLOAD_BYTES:,}, {SHORTEST_INTERVAL_NS:,} to {LONGEST_INTERVAL_NS:,} ns apart"
        )
    text = _text(seed, size)

    def content(number: int) -> dict[str, Any]:
        start = number % _STARTS
        return {"data": text[start : start + size]}

    return Schedule(count=count, interval_ns=interval_ns, content=content)


def _whole(request: Request, name: str) -> int:
    value = request.get(name)
    if type(value) is not int or value < 0:
        raise ValueError(f"{name} must be a whole number from 0 on, not {shorten(value)}")
    return value


def _answer(request: Request, wall_clock_ns: WallClockNs) -> dict[str, Any]:  # noqa: ARG001 - there is no answer
    raise ValueError("events are subscribed to: there is no single reply")


def _verify(request: Request, event: Event | Reply) -> str | None:
    number = event.get("sequence")
    if type(number) is not int or not 1 <= number <= request["count"]:
        return f"an event numbered {shorten(number)}, of {request['count']} asked for"
    if type(stamp := event.get("sent_ns")) is not int or not 0 <= stamp <= _LATEST_NS:
        return f"event {number} has the stamp {shorten(stamp)}"
    if event.get("data") != text_of(request["seed"], request["size"], number):
        return f"event {number} carries {shorten(event.get('data'))}"
    if event.keys() != _OF_AN_EVENT:
        return f"event {number} has the fields {shorten(sorted(event))}"
    return None


OPERATION = Operation(
    name="events",
    message=EVENTS,
    kind="stream",
    payloads=("events",),
    requests=_requests,
    answer=_answer,
    verify=_verify,
    stream=Stream(subscription=_subscription, schedule=_schedule, verify=_verify),
)
