"""Asks with aiohttp's WebSocket client."""

from __future__ import annotations

import asyncio

import aiohttp

from services.python.contract.offers import Client
from services.python.load.client import CallSpec, Event, Reply, Request
from services.python.protocols.websocket import frames
from services.python.transports.http import aiohttp_websocket


class WebSocketDialer:
    """Opens upgraded connections on the running event loop; CallFailed when JSON cannot carry the example request."""

    def __init__(self, call: CallSpec, speech: frames.Speech | None = None) -> None:
        self._call = call
        self._speech = speech or frames.speech_of(call)

    async def dial(self) -> WebSocketConnection:
        speech = self._speech
        session, opened = await aiohttp_websocket.opened(self._call, speech.url, headers=dict(speech.headers))
        return WebSocketConnection(session, opened, speech)


class WebSocketConnection:
    """One upgraded connection. It ends with its first failure: a late reply would be taken for the next one's."""

    body: frames.Frame | None = None
    """See `load.client.Readable.body`."""

    def __init__(
        self, session: aiohttp.ClientSession, opened: aiohttp.ClientWebSocketResponse, speech: frames.Speech
    ) -> None:
        self._session = session
        self._socket = opened
        self._encode, self._decode = speech.encode, speech.decode

    async def call(self, request: Request) -> frames.Exchange:
        sent = self._encode(request)
        try:
            if isinstance(sent, bytes):
                await self._socket.send_bytes(sent)
            else:
                await self._socket.send_str(sent)
            message = await self._socket.receive()
        except (aiohttp.ClientError, OSError) as error:
            await self._session.close()
            raise aiohttp_websocket.failure(error) from error
        if message.type not in (aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY):
            await self._session.close()
            raise aiohttp_websocket.ended(message)
        received: frames.Frame = message.data
        self.body = received
        return frames.exchange(sent, received, self._decode)

    async def subscribe(self, request: Request) -> int:
        sent = self._encode(request)
        try:
            await self._socket.send_str(str(sent))
        except (aiohttp.ClientError, OSError) as error:
            raise aiohttp_websocket.failure(error) from error
        return frames.length_of(sent)

    async def next_event(self) -> tuple[Event, int] | None:
        try:
            message = await self._socket.receive()
        except (aiohttp.ClientError, OSError) as error:
            raise aiohttp_websocket.failure(error) from error
        if message.type not in (aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY):
            raise aiohttp_websocket.ended(message)
        return frames.event(message.data)

    async def has_unasked(self) -> bool:
        try:
            async with asyncio.timeout(0):
                message = await self._socket.receive()
        except (aiohttp.ClientError, OSError):
            return False
        return message.type in (aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY)

    def value(self, reply: frames.Exchange) -> Reply:
        decoded = reply[2]
        return {"data": decoded} if isinstance(decoded, bytes) else decoded

    def sizes(self, request: Request, reply: frames.Exchange) -> tuple[int, int]:  # noqa: ARG002 - the exchange holds the frame
        sent, received = (len(size.encode()) if isinstance(size, str) else size for size in reply[:2])
        return sent, received

    async def close(self) -> None:
        """Close the connection as RFC 6455 says, and the session that held it."""
        if not self._session.closed:
            await self._socket.close()
        await self._session.close()


def dialer(call: CallSpec, client: Client) -> WebSocketDialer:  # noqa: ARG001 - this module has one client
    """Opens connections for awaited calls; CallFailed when JSON cannot carry the example request."""
    return WebSocketDialer(call)
