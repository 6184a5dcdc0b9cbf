"""Asks with the asyncio client of `websockets`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, WebSocketException

from services.python.contract.limits import MAX_MESSAGE_BYTES
from services.python.contract.offers import Client
from services.python.load.client import CallFailed, CallSpec, Event, Request
from services.python.load.handshake import socket_failure
from services.python.protocols.websocket import frames

_CLOSE_TIMEOUT_S = 1


class _Connect(connect):
    """Follows no redirect, which may lead to another host: it is an error like any other status."""

    def process_redirect(self, exc: Exception) -> Exception:
        """The error itself, and no other address."""
        return exc


class WebSocketsDialer(frames.DialerBase):
    """Opens upgraded connections on the running event loop."""

    async def dial(self) -> WebSocketsConnection:
        secured: dict[str, Any] = {} if self._call.tls is None else {"ssl": self._call.tls.context}
        try:
            opened = await _Connect(
                self._url,
                **secured,
                additional_headers=self._headers,
                compression=None,
                proxy=None,
                open_timeout=self._call.timeout_s,
                close_timeout=_CLOSE_TIMEOUT_S,
                ping_interval=None,
                max_size=MAX_MESSAGE_BYTES,
            )
        except InvalidStatus as error:
            raise CallFailed("protocol", str(error)) from error
        except InvalidHandshake as error:
            raise _handshake_failure(error) from error
        except WebSocketException as error:
            raise CallFailed("undecodable", str(error)) from error
        except OSError as error:
            raise socket_failure(error) from error
        return WebSocketsConnection(opened, self._encode, self._decode, self._call.timeout_s)


class WebSocketsConnection(frames.ConnectionBase):
    """One upgraded connection. It ends with its first failure: a late reply would be taken for the next one's."""

    def __init__(
        self,
        opened: ClientConnection,
        encode: Callable[[Request], frames.Frame],
        decode: Callable[[frames.Frame], Any],
        timeout_s: float,
    ) -> None:
        self._socket = opened
        self._encode = encode
        self._decode = decode
        self._timeout_s = timeout_s

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


def _handshake_failure(error: InvalidHandshake) -> CallFailed:
    # `websockets` reports a connection that ended amid the handshake as a message that could not be read.
    if isinstance(error.__cause__, EOFError):
        return CallFailed("closed", str(error))
    return CallFailed("undecodable", f"{error}: {error.__cause__}" if error.__cause__ else str(error))


def dialer(call: CallSpec, client: Client) -> WebSocketsDialer:  # noqa: ARG001 - this module has one client
    """Opens connections for awaited calls; CallFailed when JSON cannot carry the example request."""
    return WebSocketsDialer(call)
