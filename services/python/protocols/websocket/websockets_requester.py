"""Asks with the asyncio client of `websockets`."""

from __future__ import annotations

import asyncio
from typing import Any

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, WebSocketException

from services.python.contract.limits import MAX_MESSAGE_BYTES
from services.python.load.client import CallFailed, Event, Request
from services.python.load.handshake import socket_failure
from services.python.protocols.websocket import frames

_CLOSE_TIMEOUT_S = 1


class _Connect(connect):
    """Follows no redirect, which may lead to another host: it is an error like any other status."""

    def process_redirect(self, exc: Exception) -> Exception:
        """The error itself, and no other address."""
        return exc


class Dialer(frames.DialerBase):
    """Opens upgraded connections on the running event loop."""

    async def dial(self) -> Connection:
        timeout_s, tls = self._call.timeout_s, self._call.tls
        secured: dict[str, Any] = {} if tls is None else {"ssl": tls.context}
        try:
            opened = await _Connect(
                self._speech.url,
                **secured,
                additional_headers=dict(self._speech.headers),
                compression=None,
                proxy=None,
                open_timeout=timeout_s,
                close_timeout=_CLOSE_TIMEOUT_S,
                ping_interval=None,
                max_size=MAX_MESSAGE_BYTES,
            )
        except (WebSocketException, OSError) as error:
            raise _failure(error) from error
        return Connection(opened, self._speech, timeout_s)


class Connection(frames.ConnectionBase):
    """One upgraded connection."""

    async def call(self, request: Request) -> frames.Exchange:
        sent = self._encode(request)
        try:
            async with asyncio.timeout(self._timeout_s):
                await self._socket.send(sent)
                self.body = received = await self._socket.recv()
        except ConnectionClosed as error:
            raise CallFailed("closed", str(error)) from error
        except TimeoutError as error:
            self._socket.transport.abort()
            raise CallFailed("timeout", f"no reply within {self._timeout_s} s") from error
        return frames.exchange(sent, received, self._decode)

    async def subscribe(self, request: Request) -> int:
        sent = self._encode(request)
        try:
            await self._socket.send(sent)
        except ConnectionClosed as error:
            raise CallFailed("closed", str(error)) from error
        return frames.length_of(sent)

    async def next_event(self) -> tuple[Event, int] | None:
        try:
            return frames.event(await self._socket.recv())
        except ConnectionClosed as error:
            raise CallFailed("closed", str(error)) from error

    async def has_unasked(self) -> bool:
        try:
            async with asyncio.timeout(0):
                await self._socket.recv()
        except (ConnectionClosed, TimeoutError):
            return False
        return True

    async def close(self) -> None:
        await self._socket.close()


def _failure(error: WebSocketException | OSError) -> CallFailed:
    if isinstance(error, OSError):
        return socket_failure(error)
    if isinstance(error, InvalidStatus):
        return CallFailed("protocol", str(error))
    # `websockets` reports a connection that ended amid the handshake as a message that could not be read.
    if isinstance(error, InvalidHandshake) and isinstance(error.__cause__, EOFError):
        return CallFailed("closed", str(error))
    return CallFailed("undecodable", f"{error}: {error.__cause__}" if error.__cause__ else str(error))


dialer = Dialer
