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
from services.python.operations.base import Event, Make, Operation, Reply, Request, Schedule, Stream, shorten, whole
from services.python.operations.subscriptions import STAMPED, asked, due, misnumbered, no_reply

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


def _subscription(payload: Payload, seed: int, seconds: float) -> Request:
    return {**due("events", payload, seconds), "size": payload.size, "seed": seed}


def _requests(payload: Payload, seed: int) -> Make:
    request = _subscription(payload, seed, 0.0)
    return lambda _sequence, _wall_clock_ns: request


def _schedule(request: Request) -> Schedule:
    interval_ns, count = asked(request)
    size, seed = whole(request, "size"), whole(request, "seed")
    if size > MAX_PAYLOAD_BYTES:
        raise ValueError(f"events of {size:,} characters: there must be at most {MAX_PAYLOAD_BYTES:,}")
    text = _text(seed, size)

    def content(number: int) -> dict[str, Any]:
        start = number % _STARTS
        return {"data": text[start : start + size]}

    return Schedule(count=count, interval_ns=interval_ns, content=content)


def _verify(request: Request, event: Event | Reply) -> str | None:
    if why := misnumbered(request, event):
        return why
    number = event["sequence"]
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
    answer=no_reply,
    verify=_verify,
    stream=Stream(subscription=_subscription, schedule=_schedule, verify=_verify),
)
