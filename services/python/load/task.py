"""Tasks: so many calls, one after the other on one connection, as what a load loop times as one call.

A wrapper around any client's dialer: neither protocols nor load loops know of it. The requests of all calls are made before
the task begins; within it stands, beside the calls, one clock reading before each and one after it. An operation's `follow`
completes the next request between two calls: its time is the task's, and of no call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Generic, TypeVar

from services.python.load.client import (
    AsyncConnection,
    AsyncDialer,
    CallFailed,
    Connection,
    Dialer,
    Part,
    Reply,
    Request,
)
from services.python.operations.base import Follow, Make

Verify = Callable[[Request, Reply], str | None]
Clock = Callable[[], int]

Step = tuple[int, int, Any]
"""Stamps before and after a call, and what it returned or the CallFailed that it ended with."""

Wrapped = TypeVar("Wrapped", Connection, AsyncConnection)

_CALLS = "calls"


def make_task(make: Make, calls: int) -> Make:
    """Makes the requests of a task: those of as many sequence numbers, each number in one task."""

    def make_all(sequence: int, wall_clock_ns: Clock) -> Request:
        first = (sequence - 1) * calls + 1
        return {_CALLS: [make(number, wall_clock_ns) for number in range(first, first + calls)]}

    return make_all


def wrong_reply(verify: Verify, request: Request, reply: Reply) -> str | None:
    """Why a reply of a task's value is not right; None where all are."""
    calls = request[_CALLS]
    for place, (asked, came) in enumerate(zip(calls, reply[_CALLS], strict=True)):
        if reason := verify(asked, came):
            return _of_call(place, calls, CallFailed("wrong-reply", reason)).detail
    return None


class _Task(Generic[Wrapped]):
    """What both styles have alike: what is read of a task's steps afterwards."""

    def __init__(self, connection: Wrapped, verify: Verify, clock: Clock, follow: Follow | None) -> None:
        self._connection: Wrapped = connection
        self._follow = follow
        self.has_unasked = getattr(connection, "has_unasked", None)
        self.shared: int | None = getattr(connection, "shared", None)
        self._verify = verify
        self._clock = clock

    @property
    def is_over(self) -> bool:
        return bool(getattr(self._connection, "is_over", False))

    @property
    def body(self) -> None:
        """Nothing: a task has several replies, and each is verified."""

    def value(self, steps: Sequence[Step]) -> Reply:
        return {_CALLS: tuple(self._connection.value(reply) for _, _, reply in steps)}

    def sizes(self, request: Request, steps: Sequence[Step]) -> tuple[int, int]:
        """The sums over all calls."""
        each = [self._connection.sizes(r, reply) for r, (_, _, reply) in zip(request[_CALLS], steps, strict=True)]
        return sum(sent for sent, _ in each), sum(received for _, received in each)

    def parts(self, request: Request, steps: Sequence[Step]) -> list[Part]:
        """The calls that were made, every reply verified."""
        asked: Sequence[Request] = request[_CALLS]
        return [self._part(asked, place, *step) for place, step in enumerate(steps)]

    def _following(self, request: Request, steps: list[Step], saved: dict[str, Any], follow: Follow) -> Request:
        """The next request, completed by the replies before it; CallFailed where they do not have what it needs."""
        calls: list[Request] = request[_CALLS]
        place = len(steps)
        try:
            calls[place] = follow(calls[place], saved, calls[place - 1], self._connection.value(steps[-1][2]))
        except ValueError as error:
            failure = CallFailed("wrong-reply", str(error))
            raise self._failed(request, steps, self._clock(), failure) from error
        return calls[place]

    def _part(self, asked: Sequence[Request], place: int, sent_ns: int, received_ns: int, reply: Any) -> Part:
        sizes, failure = (-1, -1), reply
        if not isinstance(reply, CallFailed):
            sizes, failure = self._connection.sizes(asked[place], reply), None
            try:
                reason = self._verify(asked[place], self._connection.value(reply))
            except CallFailed as unreadable:
                sizes, failure = (-1, -1), _of_call(place, asked, unreadable)
            else:
                failure = None if reason is None else _of_call(place, asked, CallFailed("wrong-reply", reason))
        return Part(
            sent_ns=sent_ns, received_ns=received_ns, bytes_sent=sizes[0], bytes_received=sizes[1], failure=failure
        )

    def _failed(self, request: Request, steps: list[Step], sent_ns: int, failure: CallFailed) -> CallFailed:
        """How the task ends with the failure of its next call; it has the parts that were made."""
        received_ns = self._clock()
        of_task = _of_call(len(steps), request[_CALLS], failure)
        steps.append((sent_ns, received_ns, of_task))
        of_task.parts = partial(self.parts, request, steps)
        return of_task


def _of_call(place: int, asked: Sequence[Request], failure: CallFailed) -> CallFailed:
    words = failure.detail or failure.status
    return CallFailed(failure.status, f"call {place + 1} of {len(asked)}: {words}")


class _BlockingTask(_Task[Connection]):
    def call(self, request: Request) -> list[Step]:
        steps, saved = list[Step](), dict[str, Any]()
        call, clock, follow = self._connection.call, self._clock, self._follow
        for asked in request[_CALLS]:
            if follow is not None and steps:
                asked = self._following(request, steps, saved, follow)
            sent_ns = clock()
            try:
                reply = call(asked)
            except CallFailed as failure:
                raise self._failed(request, steps, sent_ns, failure) from failure
            steps.append((sent_ns, clock(), reply))
        return steps

    def close(self) -> None:
        self._connection.close()


class _AwaitingTask(_Task[AsyncConnection]):
    async def call(self, request: Request) -> list[Step]:
        steps, saved = list[Step](), dict[str, Any]()
        call, clock, follow = self._connection.call, self._clock, self._follow
        for asked in request[_CALLS]:
            if follow is not None and steps:
                asked = self._following(request, steps, saved, follow)
            sent_ns = clock()
            try:
                reply = await call(asked)
            except CallFailed as failure:
                raise self._failed(request, steps, sent_ns, failure) from failure
            steps.append((sent_ns, clock(), reply))
        return steps

    async def close(self) -> None:
        await self._connection.close()


class BlockingTasks:
    """A `Dialer` whose connections make tasks; `clock` is that of the load loop."""

    def __init__(self, dialer: Dialer, verify: Verify, clock: Clock, follow: Follow | None = None) -> None:
        self._dialer, self._how = dialer, (verify, clock, follow)

    def dial(self) -> Connection:
        return _BlockingTask(self._dialer.dial(), *self._how)


class AwaitingTasks:
    """An `AsyncDialer` whose connections make tasks; `clock` is that of the load loop."""

    def __init__(self, dialer: AsyncDialer, verify: Verify, clock: Clock, follow: Follow | None = None) -> None:
        self._dialer, self._how = dialer, (verify, clock, follow)

    async def dial(self) -> AsyncConnection:
        return _AwaitingTask(await self._dialer.dial(), *self._how)
