"""Asks with aiohttp's WebSocket client."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import aiohttp

from services.python.contract.limits import MAX_MESSAGE_BYTES
from services.python.contract.offers import Client
from services.python.load.client import CallFailed, CallSpec, Event, Request
from services.python.protocols.websocket import frames
from services.python.protocols.websocket.connection import ConnectionBase, socket_failure
from services.python.transports.http.one_address import OneAddress

_CLOSE_TIMEOUT_S = 1


class AiohttpDialer:
    """Opens upgraded connections on the running event loop."""

    def __init__(self, call: CallSpec) -> None:
        self._call = call
        self._url = frames.url(call)
        self._encode = frames.encoder(call)
        self._decode = frames.decoder(call)

    async def dial(self) -> AiohttpConnection:
        """Connect and upgrade; CallFailed when either is refused."""
        session = aiohttp.ClientSession(
            connector=OneAddress(self._call.host, self._call.port, self._call.tls),
            trust_env=False,
            timeout=aiohttp.ClientTimeout(total=self._call.timeout_s),
        )
        try:
            opened = await session.ws_connect(
                self._url,
                timeout=aiohttp.ClientWSTimeout(ws_receive=_patience_s(self._call), ws_close=_CLOSE_TIMEOUT_S),
                compress=0,
                max_msg_size=MAX_MESSAGE_BYTES,
            )
        except (aiohttp.ClientError, OSError) as error:
            await session.close()
            raise _failure(error) from error
        return AiohttpConnection(session, opened, self._encode, self._decode)


class AiohttpConnection(ConnectionBase):
    """One upgraded connection. It ends with its first failure: a late reply would be taken for the next one's."""

    def __init__(
        self,
        session: aiohttp.ClientSession,
        opened: aiohttp.ClientWebSocketResponse,
        encode: Callable[[Request], frames.Frame],
        decode: Callable[[frames.Frame], Any],
    ) -> None:
        self._session = session
        self._socket = opened
        self._encode = encode
        self._decode = decode

    async def call(self, request: Request) -> frames.Exchange:
        """Send a frame, await a frame."""
        sent = self._encode(request)
        try:
            if isinstance(sent, bytes):
                await self._socket.send_bytes(sent)
            else:
                await self._socket.send_str(sent)
            message = await self._socket.receive()
        except (aiohttp.ClientError, OSError) as error:
            await self._session.close()
            raise _failure(error) from error
        if message.type not in (aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY):
            await self._session.close()
            raise _ended(message)
        received: frames.Frame = message.data
        self.body = received
        return frames.exchange(sent, received, self._decode)

    async def subscribe(self, request: Request) -> int:
        """Send a frame; the events are read by `next_event`."""
        sent = self._encode(request)
        try:
            await self._socket.send_str(str(sent))
        except (aiohttp.ClientError, OSError) as error:
            raise _failure(error) from error
        return frames.length_of(sent)

    async def next_event(self) -> tuple[Event, int] | None:
        """Await a frame."""
        try:
            message = await self._socket.receive()
        except (aiohttp.ClientError, OSError) as error:
            raise _failure(error) from error
        if message.type not in (aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY):
            raise _ended(message)
        return frames.event(message.data)

    async def has_unasked(self) -> bool:
        """See `load.client.Unnumbered`."""
        try:
            async with asyncio.timeout(0):
                message = await self._socket.receive()
        except (aiohttp.ClientError, OSError):
            return False
        return message.type in (aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY)

    async def close(self) -> None:
        """Close the connection as RFC 6455 says, and the session that held it."""
        if not self._session.closed:
            await self._socket.close()
        await self._session.close()


def _patience_s(call: CallSpec) -> float | None:
    """How long a frame may take; how far apart a stream's events are is their sender's to say."""
    return None if call.kind == "stream" else call.timeout_s


def _ended(message: aiohttp.WSMessage) -> CallFailed:
    if message.type is aiohttp.WSMsgType.ERROR:
        return CallFailed("undecodable", str(message.data))
    return CallFailed("closed", f"the connection ended: {message.extra or message.type.name}")


def _failure(error: Exception) -> CallFailed:
    if isinstance(error, aiohttp.WSServerHandshakeError):
        return CallFailed("protocol", str(error))
    if isinstance(error, aiohttp.ClientConnectionResetError | aiohttp.ServerDisconnectedError):
        return CallFailed("closed", str(error))
    if isinstance(error, OSError):
        return socket_failure(error)
    return CallFailed("undecodable", f"{type(error).__name__}: {error}")


def dialer(call: CallSpec, client: Client) -> AiohttpDialer:  # noqa: ARG001 - this module has one client
    """Opens connections for awaited calls; CallFailed when JSON cannot carry the example request."""
    return AiohttpDialer(call)
