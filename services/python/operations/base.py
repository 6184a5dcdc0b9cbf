"""What an operation is."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, Literal

from services.python.contract.limits import Kind
from services.python.contract.lines import Payload
from services.python.contract.messages import Message
from services.python.contract.strict import Part, part

Request = Mapping[str, Any]


class Lasting(dict[str, Any]):
    """A request that is made once and sent again and again: a reply that waits with it takes memory for itself alone."""


Reply = Mapping[str, Any]
WallClockNs = Callable[[], int]

Make = Callable[[int, WallClockNs], Request]
"""The request of a sequence number (from 1). Called just before each send stamp, so it must cost next to nothing."""


Follow = Callable[[Request, dict[str, Any], Request, Reply], Request]
"""A request completed by what a task has saved, to which the previous request's reply adds; ValueError where it cannot."""

Runs = Literal["inline", "pool", "held"]
"""Where `answer` runs: at once, in the thread that took the request, in a thread of a pool, or where what it holds says
(which may also be `loop`: then `awaited` is, on the server's event loop).

What takes longer than a millisecond, or waits, belongs in the pool: an event loop answers nobody else meanwhile.
"""


class PayloadError(ValueError):
    """The operation cannot be asked with this payload; the message says why."""


Event = Mapping[str, Any]  # one event of a stream in plain values: `sequence`, `sent_ns`, and what its operation adds


@part
class Schedule(Part):
    """What a subscription is sent: `count` events, one every `interval_ns`; `content` makes what number n carries.

    Where that is read from what the operation holds, `page` gives instead what `Stream.page` is asked for number n and those
    behind it.
    """

    count: int
    interval_ns: int
    content: Callable[[int], dict[str, Any]] | None = None
    page: Callable[[int], Request] | None = None


@part
class Stream(Part):
    """The events of an operation of kind `stream`.

    `subscription(payload, seed, seconds)` is the request for as many events as are due in so many seconds, at least one.
    `schedule` says what it is sent; ValueError for a request that cannot be met. `verify` is of one event. `page`, of a
    stream that is read from what its operation holds, answers as an operation that asks a store does: its reply has in
    `events` what that event and those behind it carry, at least one.
    """

    subscription: Callable[[Payload, int, float], Request]
    schedule: Callable[[Request], Schedule]
    verify: Callable[[Request, Event], str | None]
    page: Operation | None = None


@part
class Operation(Part):
    """One thing that can be asked, behind every protocol that carries its message.

    `requests(payload, seed)` prepares all that can be prepared before the timed window; PayloadError when the payload
    does not fit, whose kinds are `payloads`. `answer(request, wall_clock_ns)` is what the responder does; ValueError for a
    request that it cannot answer. `verify` gives the reason why a reply is wrong, None for a right one. `runs`: where
    `answer` runs, or a function that says so of a request.

    `open(settings)` gives what the operation holds for as long as the responder answers (a database pool, say). `answer` is
    given it as a third argument, and where that has `times` (`stores.base.Held`) the `Spent` of the request as a fourth.
    Operations with the same `open` hold one thing together. `resources` are the names of the settings that it takes.

    `made_of` names the operations that can be asked in place of this one, whose requests and replies are its own together.
    `shown` gives what of a reply somebody needs who shows it in brief (the knob `fields`), None where that is all of it;
    `verify_shown` is `verify` of that alone. `follow` completes a request of a task from the replies before it. `verified`
    makes what stands for `verify` in a trial, and counts `outcomes`. One of kind `stream` has its events in `stream`.
    """

    name: str
    message: Message
    requests: Callable[[Payload, int], Make]
    answer: Callable[..., dict[str, Any]]
    verify: Callable[[Request, Reply], str | None]
    kind: Kind = "call"
    awaited: Callable[..., Awaitable[dict[str, Any]]] | None = None
    payloads: tuple[str, ...] = ("none",)
    runs: Runs | Callable[[Request], Runs] = "inline"
    open: Callable[[Mapping[str, str]], AbstractContextManager[Any]] | None = None
    resources: tuple[str, ...] = ()
    stream: Stream | None = None
    made_of: tuple[str, ...] = ()
    shown: Callable[[Reply], Reply] | None = None
    verify_shown: Callable[[Request, Reply], str | None] | None = None
    follow: Follow | None = None
    verified: Callable[[], Callable[[Request, Reply], str | None]] | None = None

    @property
    def has_shown(self) -> bool:
        return self.shown is not None

    def runs_in_pool(self, request: Request, held: Any = None) -> bool:
        """Whether this request is answered in a thread of the pool; `held` is what the operation holds."""
        runs = self.runs(request) if callable(self.runs) else self.runs
        return (getattr(held, "runs", "inline") if runs == "held" else runs) == "pool"


def expect_kind(operation: str, payload: Payload, *kinds: str) -> None:
    """PayloadError unless the payload is of one of these kinds."""
    if payload.kind not in kinds:
        raise PayloadError(f"{operation} carries a payload of kind {' or '.join(kinds)}, not {payload.kind}")


def whole(request: Request, name: str, least: int = 0, most: int | None = None) -> int:
    """A field as a whole number within bounds; ValueError for anything else (JSON has `true` and 1.5, too)."""
    value = request.get(name)
    if type(value) is not int or value < least or (most is not None and value > most):
        bounds = f"from {least:,} on" if most is None else f"from {least:,} to {most:,}"
        raise ValueError(f"`{name}` must be a whole number {bounds}, not {shorten(value)}")
    return value


def shorten(value: object, limit: int = 60) -> str:
    """A value's `repr`, cut for a message."""
    text = repr(value[:limit]) if isinstance(value, bytes | str) else repr(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."


class Narrowed:
    """Verifies as `Operation.verify_shown`, and notes of every right reply the bytes that its reader does not need.

    They are those of the content as compact JSON in UTF-8, whatever it was encoded as: the same for every protocol.
    """

    def __init__(self, operation: Operation) -> None:
        """ValueError for an operation of whose replies everything is needed."""
        if operation.shown is None or operation.verify_shown is None:
            raise ValueError(f"every field of a reply of {operation.name} is needed")
        self._shown, self._verify = operation.shown, operation.verify_shown
        self._beyond: list[int] = []  # appended to by several threads at once

    def __call__(self, request: Request, reply: Reply) -> str | None:
        reason = self._verify(request, reply)
        if reason is None:
            self._beyond.append(_size(reply) - _size(self._shown(reply)))
        return reason

    @property
    def over_fetched_bytes(self) -> float:
        return sum(self._beyond) / len(self._beyond) if self._beyond else 0.0


def _size(value: Any) -> int:
    return len(json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode())
