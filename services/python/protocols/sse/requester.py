"""Subscribes with aiohttp's HTTP client, and reads the body as it comes."""

from __future__ import annotations

from functools import partial

import aiohttp

from services.python.contract.offers import Client
from services.python.load.client import AsyncDialing, CallFailed, CallSpec, Counted, Counting, Event, Request
from services.python.protocols.sse import stream
from services.python.transports.http.aiohttp_client import OneSocket, failure, session_on
from services.python.transports.http.route import authority, shown

_SHOWN_BYTES = 1024


class SseConnection(Counting):
    """One session on one kept connection, which comes with the first subscription; one subscription at a time."""

    body: None = None  # events are not kept as they came

    def __init__(self, call: CallSpec) -> None:
        self._url = f"{call.http}://{authority(call.host, call.port)}/{call.operation}"
        self._response: aiohttp.ClientResponse | None = None
        self._socket = OneSocket()
        self._reader = stream.Reader()
        within_s = None if call.kind == "stream" else call.timeout_s
        self._session = session_on(
            self._socket,
            call,
            {"Accept": stream.MEDIA_TYPE, "Accept-Encoding": "identity", "User-Agent": "orch"},
            timeout=aiohttp.ClientTimeout(total=within_s, sock_connect=call.timeout_s),
        )

    async def call(self, request: Request) -> Counted:
        """A body of a single event: who answers."""
        sent = await self.subscribe(request)
        first = await self.next_event()
        if first is None or await self.next_event() is not None:
            raise CallFailed("undecodable", "not a body of one event")
        return first[0], sent, first[1]

    async def subscribe(self, request: Request) -> int:
        query = stream.query_of(request)
        url = f"{self._url}?{query}" if query else self._url
        again = self._socket.is_open
        try:
            response = await self._session.get(url, allow_redirects=False)
            if response.status != 200:
                beginning = await response.content.read(_SHOWN_BYTES)  # of a body that may have no end
                response.close()
                raise CallFailed("protocol", f"HTTP {response.status}: {shown(beginning)}")
        except (aiohttp.ClientError, OSError) as error:
            raise failure(error, again=again) from error
        self._response, self._reader = response, stream.Reader()
        return len(query)

    async def next_event(self) -> tuple[Event, int] | None:
        assert self._response is not None  # noqa: S101 - `subscribe` came before
        reader, content = self._reader, self._response.content
        while (event := reader.next()) is None:
            try:
                data = await content.readany()
            except (aiohttp.ClientError, OSError) as error:
                raise failure(error) from error
            if not data:
                if reader.is_within:
                    raise CallFailed("undecodable", "the body ends within an event")
                return None
            reader.feed(data)
        return event

    async def close(self) -> None:
        if self._response is not None:
            self._response.close()
        await self._session.close()


def dialer(call: CallSpec, client: Client) -> AsyncDialing:  # noqa: ARG001 - this module has one client
    """Opens connections for awaited subscriptions."""
    return AsyncDialing(partial(SseConnection, call))
