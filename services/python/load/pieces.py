"""An operation asked by the calls that it is made of, as what a load loop times as one call: in a row, or all at once.

A wrapper around the dialers of those operations: neither protocols nor load loops know of it. In a row the calls are on one
connection, as at once over HTTP/2, which multiplexes them; at once over HTTP/1.1 each has one of its own. The requests of
all calls are made before the task begins; within it stands, beside the calls, one clock reading before each and after it,
and at once an event-loop task for each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from services.python.load.client import AsyncConnection, CallFailed, Joining, Part, Reply, Request
from services.python.operations import Operation, pieces_of
from services.python.operations.base import Make

Clock = Callable[[], int]

Step = tuple[int, int, Any]
"""Stamps before and after a call, and what it returned or the CallFailed that it ended with."""

_PIECES = "pieces"


@dataclass(frozen=True, kw_only=True)
class Piece:
    """One of the operations that are asked: its dialer, and what verifies its replies."""

    name: str
    dialer: Joining
    verify: Callable[[Request, Reply], str | None]


def make_pieces(operation: Operation, make: Make) -> Make:
    """Makes the requests of a task: those that the operation's own request falls into."""

    def make_all(sequence: int, wall_clock_ns: Clock) -> Request:
        return {_PIECES: pieces_of(operation, make(sequence, wall_clock_ns))}

    return make_all


@dataclass(frozen=True, kw_only=True)
class Pieces:
    """An `AsyncDialer` whose connections ask all of the pieces; `clock` is that of the load loop.

    `at_once`: without waiting for one another. `on_one`: all on one connection of the transport.
    """

    pieces: Sequence[Piece]
    clock: Clock
    at_once: bool
    on_one: bool

    async def dial(self) -> AsyncConnection:
        if self.on_one:
            one = self.pieces[0].dialer.one_connection()
            connections = [await piece.dialer.dial_on(one) for piece in self.pieces]
        else:
            connections = [await piece.dialer.dial() for piece in self.pieces]
        kind = _AtOnce if self.at_once else _InARow
        return kind(self.pieces, connections, self.clock)


class _Task:
    """Both orders have alike what is read of a task's steps afterwards."""

    body: None = None
    """A task has several replies, and each is verified."""

    def __init__(self, pieces: Sequence[Piece], connections: Sequence[AsyncConnection], clock: Clock) -> None:
        self._pieces = pieces
        self._connections = connections
        self._clock = clock

    def value(self, steps: Sequence[Step]) -> Reply:
        """The replies of all calls together: that of the operation which they are asked in place of."""
        together: dict[str, Any] = {}
        for connection, (_, _, reply) in zip(self._connections, steps, strict=True):
            together |= connection.value(reply)
        return together

    def sizes(self, request: Request, steps: Sequence[Step]) -> tuple[int, int]:
        """The sums over all calls."""
        every = zip(self._connections, request[_PIECES], steps, strict=True)
        each = [connection.sizes(asked, reply) for connection, asked, (_, _, reply) in every]
        return sum(sent for sent, _ in each), sum(received for _, received in each)

    def parts(self, request: Request, steps: Sequence[Step]) -> list[Part]:
        """The calls that were made, every reply verified."""
        return [self._part(place, request[_PIECES][place], *step) for place, step in enumerate(steps)]

    def _part(self, place: int, asked: Request, sent_ns: int, received_ns: int, reply: Any) -> Part:
        sizes, failure = (-1, -1), reply
        if not isinstance(reply, CallFailed):
            connection = self._connections[place]
            try:
                sizes = connection.sizes(asked, reply)
                reason = self._pieces[place].verify(asked, connection.value(reply))
            except CallFailed as unreadable:
                sizes, failure = (-1, -1), self._of_call(place, unreadable)
            else:
                failure = None if reason is None else self._of_call(place, CallFailed("wrong-reply", reason))
        return Part(
            sent_ns=sent_ns, received_ns=received_ns, bytes_sent=sizes[0], bytes_received=sizes[1], failure=failure
        )

    def _of_call(self, place: int, failure: CallFailed) -> CallFailed:
        words = failure.detail or failure.status
        return CallFailed(failure.status, f"{self._pieces[place].name}: {words}")

    async def _step(self, place: int, asked: Request) -> Step:
        """One call; the failure of one is returned, and not raised."""
        clock = self._clock
        sent_ns = clock()
        try:
            reply = await self._connections[place].call(asked)
        except CallFailed as failure:
            return sent_ns, clock(), self._of_call(place, failure)
        return sent_ns, clock(), reply

    def _unless_failed(self, request: Request, steps: list[Step]) -> list[Step]:
        """The steps; CallFailed with the first of them that failed."""
        for _, _, reply in steps:
            if isinstance(reply, CallFailed):
                reply.parts = partial(self.parts, request, steps)
                raise reply
        return steps

    async def close(self) -> None:
        for connection in self._connections:
            await connection.close()


class _InARow(_Task):
    async def call(self, request: Request) -> list[Step]:
        """One call after the other; none after one that failed."""
        steps: list[Step] = []
        for place, asked in enumerate(request[_PIECES]):
            steps.append(await self._step(place, asked))
            if isinstance(steps[-1][2], CallFailed):
                break
        return self._unless_failed(request, steps)


class _AtOnce(_Task):
    async def call(self, request: Request) -> list[Step]:
        """All calls, until the last of them has ended, whatever came of the others."""
        import asyncio  # loaded by now: there is an event loop

        asked = request[_PIECES]
        steps = await asyncio.gather(*(self._step(place, one) for place, one in enumerate(asked)))
        return self._unless_failed(request, list(steps))
