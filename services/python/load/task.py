"""Tasks: several calls as what a load loop times as one call; wrappers around any client's dialers.

The requests of all calls are made before the task begins; within it are, beside the calls, one clock reading before each and
after it. A task is one operation so many times, in a row on one connection; its `follow` completes the next request between
two calls, whose time is the task's, and of no call. Or it is the operations that one is made of (`Pieces`): on one
connection in a row, or at once over HTTP/2; at once over HTTP/1.1 each has a connection of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from services.python.load import client
from services.python.load.client import CallFailed, Part, Reply, Request
from services.python.operations import Operation, pieces_of
from services.python.operations.base import Follow, Make

Verify = Callable[[Request, Reply], str | None]
Clock = Callable[[], int]

Step = tuple[int, int, Any]  # stamps before and after a call, and what it returned or the CallFailed that it ended with

Wrapped = TypeVar("Wrapped", client.Connection, client.AsyncConnection)

_CALLS = "calls"


def make_task(make: Make, calls: int) -> Make:
    """Makes the requests of a task: those of as many sequence numbers, each number in one task."""

    def make_all(sequence: int, wall_clock_ns: Clock) -> Request:
        first = (sequence - 1) * calls + 1
        return {_CALLS: [make(number, wall_clock_ns) for number in range(first, first + calls)]}

    return make_all


def make_pieces(operation: Operation, make: Make) -> Make:
    """Makes the requests of a task: those that the operation's own request falls into."""

    def make_all(sequence: int, wall_clock_ns: Clock) -> Request:
        return {_CALLS: pieces_of(operation, make(sequence, wall_clock_ns))}

    return make_all


def wrong_reply(verify: Verify, request: Request, reply: Reply) -> str | None:
    """Why a reply of a task's value is not right; None where all are."""
    calls = request[_CALLS]
    for place, (asked, came) in enumerate(zip(calls, reply[_CALLS], strict=True)):
        if reason := verify(asked, came):
            return f"{_numbered(place, len(calls))}: {reason}"
    return None


def _numbered(place: int, count: int) -> str:
    return f"call {place + 1} of {count}"


class _Steps(Generic[Wrapped]):
    """What is read of a task's steps afterwards, whatever their order."""

    body: None = None  # a task has several replies, and each is verified

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def _at(self, place: int) -> tuple[Wrapped, Verify]:
        """The connection of a call, and what verifies its replies."""
        raise NotImplementedError

    def _name(self, place: int, count: int) -> str:
        """What a call of so many is called in the words of a failure."""
        return _numbered(place, count)

    def value(self, steps: Sequence[Step]) -> Reply:
        return {_CALLS: tuple(self._at(place)[0].value(reply) for place, (_, _, reply) in enumerate(steps))}

    def sizes(self, request: Request, steps: Sequence[Step]) -> tuple[int, int]:
        every = enumerate(zip(request[_CALLS], steps, strict=True))
        each = [self._at(place)[0].sizes(asked, step[2]) for place, (asked, step) in every]
        return sum(sent for sent, _ in each), sum(received for _, received in each)

    def parts(self, request: Request, steps: Sequence[Step]) -> list[Part]:
        return [self._part(request[_CALLS], place, *step) for place, step in enumerate(steps)]

    def _part(self, asked: Sequence[Request], place: int, sent_ns: int, received_ns: int, reply: Any) -> Part:
        sizes, failure = (-1, -1), reply
        if not isinstance(reply, CallFailed):
            connection, verify = self._at(place)
            try:
                sizes = connection.sizes(asked[place], reply)
                reason = verify(asked[place], connection.value(reply))
            except CallFailed as unreadable:
                sizes, failure = (-1, -1), self._of_call(place, asked, unreadable)
            else:
                failure = None if reason is None else self._of_call(place, asked, CallFailed("wrong-reply", reason))
        return Part(
            sent_ns=sent_ns, received_ns=received_ns, bytes_sent=sizes[0], bytes_received=sizes[1], failure=failure
        )

    def _of_call(self, place: int, asked: Sequence[Request], failure: CallFailed) -> CallFailed:
        return CallFailed(failure.status, f"{self._name(place, len(asked))}: {failure.detail or failure.status}")

    def _ended(self, request: Request, steps: Sequence[Step], failure: CallFailed) -> CallFailed:
        """How the task ends with the failure of one of its steps; it has the parts that were made."""
        failure.parts = partial(self.parts, request, steps)
        return failure


class _Task(_Steps[Wrapped]):
    """What both styles have alike: one operation on one connection, one call after the other."""

    def __init__(self, connection: Wrapped, verify: Verify, clock: Clock, follow: Follow | None) -> None:
        super().__init__(clock)
        self._connection: Wrapped = connection
        self._verify, self._follow = verify, follow
        self.has_unasked = getattr(connection, "has_unasked", None)
        self.shared: int | None = getattr(connection, "shared", None)

    @property
    def is_over(self) -> bool:
        return bool(getattr(self._connection, "is_over", False))

    def _at(self, place: int) -> tuple[Wrapped, Verify]:  # noqa: ARG002 - the same for all
        return self._connection, self._verify

    def _following(self, request: Request, steps: list[Step], saved: dict[str, Any], follow: Follow) -> Request:
        """The next request, completed by the replies before it; CallFailed where they do not have what it needs."""
        calls: list[Request] = request[_CALLS]
        place = len(steps)
        try:
            calls[place] = follow(calls[place], saved, calls[place - 1], self._connection.value(steps[-1][2]))
        except ValueError as error:
            raise self._failed(request, steps, self._clock(), CallFailed("wrong-reply", str(error))) from error
        return calls[place]

    def _failed(self, request: Request, steps: list[Step], sent_ns: int, failure: CallFailed) -> CallFailed:
        received_ns = self._clock()
        of_task = self._of_call(len(steps), request[_CALLS], failure)
        steps.append((sent_ns, received_ns, of_task))
        return self._ended(request, steps, of_task)


class _BlockingTask(_Task[client.Connection]):
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


class _AwaitingTask(_Task[client.AsyncConnection]):
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

    def __init__(self, dialer: client.Dialer, verify: Verify, clock: Clock, follow: Follow | None = None) -> None:
        self._dialer, self._how = dialer, (verify, clock, follow)

    def dial(self) -> client.Connection:
        return _BlockingTask(self._dialer.dial(), *self._how)


class AwaitingTasks:
    """An `AsyncDialer` whose connections make tasks; `clock` is that of the load loop."""

    def __init__(self, dialer: client.AsyncDialer, verify: Verify, clock: Clock, follow: Follow | None = None) -> None:
        self._dialer, self._how = dialer, (verify, clock, follow)

    async def dial(self) -> client.AsyncConnection:
        return _AwaitingTask(await self._dialer.dial(), *self._how)


@dataclass(frozen=True, kw_only=True)
class Piece:
    """One of the operations that are asked: its dialer, and what verifies its replies."""

    name: str
    dialer: client.Joining
    verify: Verify


@dataclass(frozen=True, kw_only=True)
class Pieces:
    """An `AsyncDialer` whose connections ask all of the pieces; `clock` is that of the load loop.

    `at_once`: without waiting for one another. `on_one`: all on one connection of the transport.
    """

    pieces: Sequence[Piece]
    clock: Clock
    at_once: bool
    on_one: bool

    async def dial(self) -> client.AsyncConnection:
        if self.on_one:
            one = self.pieces[0].dialer.one_connection()
            connections = [await piece.dialer.dial_on(one) for piece in self.pieces]
        else:
            connections = [await piece.dialer.dial() for piece in self.pieces]
        return _PiecesConnection(self, connections)


class _PiecesConnection(_Steps[client.AsyncConnection]):
    """A connection for each of the pieces."""

    def __init__(self, how: Pieces, connections: Sequence[client.AsyncConnection]) -> None:
        super().__init__(how.clock)
        self._pieces, self._at_once = how.pieces, how.at_once
        self._connections = connections

    def _at(self, place: int) -> tuple[client.AsyncConnection, Verify]:
        return self._connections[place], self._pieces[place].verify

    def _name(self, place: int, count: int) -> str:  # noqa: ARG002 - each has a name
        return self._pieces[place].name

    async def call(self, request: Request) -> list[Step]:
        """In a row none after one that failed; at once all, until the last has ended, whatever came of the others."""
        steps: list[Step] = []
        if self._at_once:
            import asyncio  # loaded by now: there is an event loop

            steps += await asyncio.gather(*(self._step(request, place) for place in range(len(self._pieces))))
        else:
            for place in range(len(self._pieces)):
                steps.append(await self._step(request, place))
                if isinstance(steps[-1][2], CallFailed):
                    break
        for _, _, reply in steps:
            if isinstance(reply, CallFailed):
                raise self._ended(request, steps, reply)
        return steps

    async def _step(self, request: Request, place: int) -> Step:
        """One call; the failure of one is returned, and not raised."""
        clock, asked = self._clock, request[_CALLS]
        sent_ns = clock()
        try:
            reply = await self._connections[place].call(asked[place])
        except CallFailed as failure:
            return sent_ns, clock(), self._of_call(place, asked, failure)
        return sent_ns, clock(), reply

    async def close(self) -> None:
        for connection in self._connections:
            await connection.close()
