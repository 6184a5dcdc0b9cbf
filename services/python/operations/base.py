"""What an operation is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from services.python.contract.limits import Kind
from services.python.contract.lines import Payload

Request = Mapping[str, Any]
Reply = Mapping[str, Any]
WallClockNs = Callable[[], int]

Make = Callable[[int, WallClockNs], Request]
"""The request of a sequence number (from 1). Called just before each send stamp, so it must cost next to nothing."""


class PayloadError(ValueError):
    """The operation cannot be asked with this payload; the message says why."""


Event = Mapping[str, Any]
"""One event of a stream in plain values: `sequence`, `sent_ns`, and what its operation adds."""


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """What a subscription is sent: `count` events, one every `interval_ns`; `content` makes what number n carries."""

    count: int
    interval_ns: int
    content: Callable[[int], dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Stream:
    """The events of an operation of kind `stream`.

    `subscription(payload, seed, seconds)` is the request for as many events as are due in so many seconds, at least one.
    `schedule` says what it is sent; ValueError for a request that cannot be met. `verify` is of one event.
    """

    subscription: Callable[[Payload, int, float], Request]
    schedule: Callable[[Request], Schedule]
    verify: Callable[[Request, Event], str | None]


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One thing that can be asked, behind every protocol.

    `requests(payload, seed)` prepares all that can be prepared before the timed window; PayloadError when the payload
    does not fit. `answer` is what the responder does; ValueError for a request that it cannot answer. `verify` gives
    the reason why a reply is wrong, None for a right one. One of kind `stream` has its events in `stream`; its `requests`
    are subscriptions to a single event, and nobody answers them with a reply.
    """

    name: str
    requests: Callable[[Payload, int], Make]
    answer: Callable[[Request, WallClockNs], dict[str, Any]]
    verify: Callable[[Request, Reply], str | None]
    kind: Kind = "call"
    stream: Stream | None = None


def expect_kind(operation: str, payload: Payload, *kinds: str) -> None:
    """PayloadError unless the payload is of one of these kinds."""
    if payload.kind not in kinds:
        raise PayloadError(f"{operation} carries a payload of kind {' or '.join(kinds)}, not {payload.kind}")


def shorten(value: object, limit: int = 60) -> str:
    """A value's `repr`, cut for a message."""
    text = repr(value[:limit]) if isinstance(value, bytes | str) else repr(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."
