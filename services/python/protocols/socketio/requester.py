"""Asks with python-socketio's asyncio client, over WebSocket or long polling."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from typing import Any

import aiohttp
import socketio
from socketio.exceptions import SocketIOError

from services.python.contract.limits import MAX_MESSAGE_BYTES
from services.python.contract.offers import Client
from services.python.load.client import CallFailed, CallSpec, Event, Reply, Request
from services.python.protocols.socketio import events
from services.python.protocols.socketio.events import Part, Traffic, size
from services.python.transports.http.aiohttp_websocket import OneAddress
from services.python.transports.http.route import authority

TRANSPORTS = {"socketio": "websocket", "socketio-polling": "polling"}
_CLOSE_TIMEOUT_S = 1
_MOST_TIMES = 2  # as many events as were asked for may wait; the books of the trial take no more either


class SocketIoDialer:
    """Opens Socket.IO sessions on the running event loop."""

    def __init__(self, call: CallSpec, transport: str, speech: events.Speech) -> None:
        self._call = call
        self._transport = transport
        self._speech = speech

    async def dial(self) -> SocketIoConnection:
        """Connect, upgrade where the transport is WebSocket, and join the default namespace."""
        # A session of our own: the library leaves its own one open when it cannot connect.
        connector = OneAddress(self._call.host, self._call.port, self._call.tls)
        http = aiohttp.ClientSession(connector=connector, trust_env=False)
        # The library's own time-outs lose their name on the way up; ours comes first.
        later_s = 2 * self._call.timeout_s
        traffic = Traffic()
        client = socketio.AsyncClient(
            reconnection=False,
            handle_sigint=False,
            serializer=traffic.packet_class(),
            http_session=http,
            request_timeout=later_s,
            websocket_extra_options={"compress": 0, "max_msg_size": MAX_MESSAGE_BYTES},
        )
        connection = SocketIoConnection(client, http, traffic, self._call, self._speech)
        try:
            async with asyncio.timeout(self._call.timeout_s):
                await client.connect(
                    f"{self._call.http}://{authority(self._call.host, self._call.port)}",
                    headers=dict(self._speech.headers),
                    socketio_path=self._speech.path,
                    transports=[self._transport],
                    wait_timeout=later_s,
                )
        except (SocketIOError, aiohttp.ClientError, OSError, ValueError) as error:
            await connection.close()
            raise events.connection_failure(error) from error
        return connection


class SocketIoConnection:
    """One Socket.IO session."""

    body = None  # See `load.client.Readable.body`: the library does not give it

    def __init__(
        self, client: Any, http: aiohttp.ClientSession, traffic: Traffic, call: CallSpec, speech: events.Speech
    ) -> None:
        self._client = client
        self._emits, self._read = speech.emits, speech.read
        self._http = http
        self._traffic = traffic
        self._timeout_s = call.timeout_s
        self._acknowledgement: asyncio.Future[tuple[Any, ...]] | None = None
        self._events = deque[tuple[Any, tuple[Part, ...]]]()  # received, and not read yet
        self._ended: tuple[Any, ...] | CallFailed | None = None  # the acknowledgement, which follows all events
        self._room = 0  # events that may still come: whoever sends far more does not stop
        self._waiting: asyncio.Future[None] | None = None
        client.on("disconnect", self._disconnected)
        if call.kind == "stream":
            client.on(call.operation, self._came)

    async def call(self, request: Request) -> events.Exchange:
        """Emit an event, await its acknowledgement.

        What `AsyncClient.call` does, save that it would go on waiting after the connection has ended.
        """
        self._acknowledgement = acknowledgement = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(self._timeout_s):
                await self._client.emit(*self._emits(request), callback=self._acknowledged)
                arguments = await acknowledgement
        except TimeoutError as error:
            raise CallFailed("timeout", f"no acknowledgement within {self._timeout_s} s") from error
        except SocketIOError as error:
            raise CallFailed("closed", str(error)) from error
        return self._read(arguments), self._traffic.sent, self._traffic.received

    def value(self, reply: events.Exchange) -> Reply:
        return reply[0]

    def sizes(self, request: Request, reply: events.Exchange) -> tuple[int, int]:  # noqa: ARG002 - counted when sent
        """Bytes of both packets' JSON and attachments, without acknowledgement number and transport framing."""
        return size(reply[1]), size(reply[2])

    async def subscribe(self, request: Request) -> int:
        """Emit an event; those of the stream come until it is acknowledged."""
        self._events.clear()
        self._ended, self._room = None, _MOST_TIMES * int(request.get("count", 0)) + _MOST_TIMES
        try:
            await self._client.emit(*self._emits(request), callback=self._over)
        except SocketIOError as error:
            raise CallFailed("closed", str(error)) from error
        return size(self._traffic.sent)

    async def next_event(self) -> tuple[Event, int] | None:
        while not self._events:
            if isinstance(self._ended, CallFailed):
                raise self._ended
            if self._ended is not None:
                events.read_acknowledgement(self._ended)
                return None
            self._waiting = asyncio.get_running_loop().create_future()
            await self._waiting
        event, parts = self._events.popleft()
        if not isinstance(event, dict):
            raise CallFailed("undecodable", f"an event of {event!r:.200}, not of named fields")
        return event, size(parts)

    def _came(self, *arguments: Any) -> None:
        if self._room:
            self._room -= 1
            self._events.append((arguments[0] if len(arguments) == 1 else arguments, self._traffic.event))
            self._wake()

    def _over(self, *arguments: Any) -> None:
        self._ended = arguments
        self._wake()

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    def _acknowledged(self, *arguments: Any) -> None:
        if self._acknowledgement is not None and not self._acknowledgement.done():
            self._acknowledgement.set_result(arguments)

    def _disconnected(self, reason: str) -> None:
        if self._ended is None:
            self._ended = CallFailed("closed", f"the connection ended: {reason}")
            self._wake()
        if self._acknowledgement is not None and not self._acknowledgement.done():
            self._acknowledgement.set_exception(CallFailed("closed", f"the connection ended: {reason}"))

    async def close(self) -> None:
        leaving = asyncio.ensure_future(self._client.disconnect())
        if self._client.eio.current_transport == "polling":
            await self._hang_up()
        with contextlib.suppress(TimeoutError, SocketIOError, aiohttp.ClientError, OSError):
            await asyncio.wait_for(leaving, _CLOSE_TIMEOUT_S)
        await self._http.close()

    async def _hang_up(self) -> None:
        """Say goodbye, then cut the GET that is waiting: the responder will not answer it, and the library waits for it."""
        sender = self._client.eio.write_loop_task
        if sender is not None:
            await asyncio.wait({sender}, timeout=_CLOSE_TIMEOUT_S)
        await self._http.close()


def dialer(call: CallSpec, client: Client) -> SocketIoDialer:
    """Opens sessions for awaited calls; CallFailed when JSON cannot carry the example request."""
    return SocketIoDialer(call, TRANSPORTS[client.name], events.speech_of(call))
