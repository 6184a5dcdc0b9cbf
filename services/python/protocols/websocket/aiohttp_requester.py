"""Asks with aiohttp's WebSocket client."""

from __future__ import annotations

import asyncio

import aiohttp

from services.python.load.client import Event, Request
from services.python.protocols.websocket import frames
from services.python.transports.http import aiohttp_websocket

_DATA = (aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY)


class Dialer(frames.DialerBase):
    """Opens upgraded connections on the running event loop."""

    async def dial(self) -> Connection:
        speech = self._speech
        session, opened = await aiohttp_websocket.opened(self._call, speech.url, headers=speech.headers)
        connection = Connection(opened, speech, self._call.timeout_s)
        connection.session = session
        return connection


class Connection(frames.ConnectionBase):
    """One upgraded connection."""

    session: aiohttp.ClientSession

    async def call(self, request: Request) -> frames.Exchange:
        sent = self._encode(request)
        try:
            if isinstance(sent, bytes):
                await self._socket.send_bytes(sent)
            else:
                await self._socket.send_str(sent)
            message = await self._socket.receive()
        except (aiohttp.ClientError, OSError) as error:
            await self.session.close()
            raise aiohttp_websocket.failure(error) from error
        if message.type not in _DATA:
            await self.session.close()
            raise aiohttp_websocket.ended(message)
        self.body = received = message.data
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
        if message.type not in _DATA:
            raise aiohttp_websocket.ended(message)
        return frames.event(message.data)

    async def has_unasked(self) -> bool:
        try:
            async with asyncio.timeout(0):
                message = await self._socket.receive()
        except (aiohttp.ClientError, OSError):
            return False
        return message.type in _DATA

    async def close(self) -> None:
        await aiohttp_websocket.close(self.session, self._socket)


dialer = Dialer
