"""Mixes: which operation each request asks, and a client's connections for all of them.

A wrapper around any client's dialers, one for each operation: neither protocols nor load loops know of it. Which operation
a request asks is drawn before the trial (`phases.mix_order`), its request is made before the timed call, and within that
stands one look into a list.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from services.python.load.client import AsyncConnection, AsyncDialer, CallFailed, Connection, Dialer, Reply, Request
from services.python.load.phases import place_in_mix
from services.python.operations.base import Make

Verify = Callable[[Request, Reply], str | None]

Wrapped = TypeVar("Wrapped", Connection, AsyncConnection)

_PLACE, _ASKED = "place", "asked"


def make_mixed(makes: Sequence[Make], drawn: array[int]) -> Make:
    """Makes the request of whichever operation is drawn, its place in the mix beside it."""

    def make(sequence: int, wall_clock_ns: Callable[[], int]) -> Request:
        place = place_in_mix(drawn, sequence)
        return {_PLACE: place, _ASKED: makes[place](sequence, wall_clock_ns)}

    return make


def verify_mixed(verifies: Sequence[Verify], names: Sequence[str]) -> Verify:
    """Verifies each reply as its operation does; the reason names the operation."""

    def verify(request: Request, reply: Reply) -> str | None:
        place = request[_PLACE]
        reason = verifies[place](request[_ASKED], reply[_ASKED])
        return None if reason is None else f"{names[place]}: {reason}"

    return verify


class _Mixed(Generic[Wrapped]):
    """What both styles have alike. One connection for each operation, opened at once or when it is first asked."""

    body = None  # its replies are of several requests: each is looked at

    def __init__(self, dialers: Sequence[Any], readers: list[Wrapped | None]) -> None:
        self._dialers = dialers
        # Of each operation the connection opened last, of whichever lane: any of them reads the replies of all.
        self._readers: list[Wrapped | None] = readers
        self._connections: list[Wrapped | None] = [None] * len(readers)

    def _of(self, request: Request) -> Wrapped:
        found = self._readers[request[_PLACE]]
        assert found is not None  # noqa: S101 - a reply came over one
        return found

    def _opens(self, place: int, connection: Wrapped) -> Wrapped:
        self._readers[place] = self._connections[place] = connection
        return connection

    def value(self, request_and_reply: tuple[Request, Any]) -> Reply:
        request, reply = request_and_reply
        return {_ASKED: self._of(request).value(reply)}

    def sizes(self, request: Request, request_and_reply: tuple[Request, Any]) -> tuple[int, int]:
        return self._of(request).sizes(request[_ASKED], request_and_reply[1])

    @property
    def is_over(self) -> bool:
        return any(getattr(connection, "is_over", False) for connection in self._connections)

    def _opened(self) -> list[Wrapped]:
        return [connection for connection in self._connections if connection is not None]

    def _looks(self) -> list[Any]:
        return [look for connection in self._opened() if (look := getattr(connection, "has_unasked", None))]


class _MixDialer:
    """Opens connections of a client for a mix. `are_kept`: all at once, not when each is first asked."""

    def __init__(self, dialers: Sequence[Dialer] | Sequence[AsyncDialer], *, are_kept: bool) -> None:
        self._dialers = dialers
        self._are_kept = are_kept
        self._readers: list[Any] = [None] * len(dialers)


class BlockingMix(_MixDialer):
    """See `client.Dialer`."""

    def dial(self) -> BlockingMixConnection:
        mixed = BlockingMixConnection(self._dialers, self._readers)
        if self._are_kept:
            mixed.open_all()
        return mixed


class BlockingMixConnection(_Mixed[Connection]):
    """See `client.Connection`."""

    def open_all(self) -> None:
        """A connection for each operation; CallFailed when one cannot be had, and then none is left."""
        try:
            for place, dialer in enumerate(self._dialers):
                self._opens(place, dialer.dial())
        except CallFailed:
            self.close()
            raise

    def call(self, request: Request) -> tuple[Request, Any]:
        place = request[_PLACE]
        connection = self._connections[place]
        if connection is None:
            connection = self._opens(place, self._dialers[place].dial())
        return request, connection.call(request[_ASKED])

    def has_unasked(self) -> bool:
        found = [look() for look in self._looks()]
        return any(found)

    def close(self) -> None:
        for connection in self._opened():
            connection.close()


class AwaitingMix(_MixDialer):
    """See `client.AsyncDialer`."""

    async def dial(self) -> AwaitingMixConnection:
        mixed = AwaitingMixConnection(self._dialers, self._readers)
        if self._are_kept:
            await mixed.open_all()
        return mixed


class AwaitingMixConnection(_Mixed[AsyncConnection]):
    """See `client.AsyncConnection`."""

    async def open_all(self) -> None:
        try:
            for place, dialer in enumerate(self._dialers):
                self._opens(place, await dialer.dial())
        except CallFailed:
            await self.close()
            raise

    async def call(self, request: Request) -> tuple[Request, Any]:
        place = request[_PLACE]
        connection = self._connections[place]
        if connection is None:
            connection = self._opens(place, await self._dialers[place].dial())
        return request, await connection.call(request[_ASKED])

    async def has_unasked(self) -> bool:
        found = [await look() for look in self._looks()]
        return any(found)

    async def close(self) -> None:
        for connection in self._opened():
            await connection.close()
