"""Asks on an event loop (uvloop), one request in flight per connection."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

from services.python.contract.offers import Client
from services.python.load.client import CallFailed, CallSpec, Counted, Counting, Request
from services.python.load.handshake import no_connection, tls_failure
from services.python.protocols.tcp.frames import (
    HEADER,
    HEADER_BYTES,
    LARGEST_BODY,
    MORE_THAN_A_FRAME,
    request_code,
    request_encoder,
)
from services.python.protocols.tcp.requester import decoded

_Frame = tuple[int, bytes]


def dialer(call: CallSpec, client: Client) -> LoopDialer:  # noqa: ARG001 - one client, nothing to choose
    """See `load.client`."""
    return LoopDialer(call)


class LoopDialer:
    """Opens connections."""

    def __init__(self, call: CallSpec) -> None:
        self._call = call
        self._code = request_code(call.operation, call.example)
        self._encode = request_encoder(call.operation, call.example)

    async def dial(self) -> LoopConnection:
        loop, tls = asyncio.get_running_loop(), self._call.tls
        secured: dict[str, Any] = {} if tls is None else {"ssl": tls.context, "server_hostname": self._call.host}
        opening = loop.create_connection(_Frames, self._call.host, self._call.port, **secured)
        try:
            _, protocol = await asyncio.wait_for(opening, self._call.timeout_s)
        except TimeoutError as error:
            raise CallFailed("timeout", "no connection in time") from error
        except OSError as error:
            raise tls_failure(error) or no_connection(error) from error
        return LoopConnection(protocol, self._code, self._encode, self._call.timeout_s)


class LoopConnection(Counting):
    """One connection; see `load.client.AsyncConnection`."""

    body: bytes | None = None

    def __init__(self, frames: _Frames, code: int, encode: Callable[[Request], bytes], timeout_s: float) -> None:
        self._frames = frames
        self._code = code
        self._encode = encode
        self._timeout_s = timeout_s

    async def call(self, request: Request) -> Counted:
        body = self._encode(request)
        code, reply = await self._frames.exchange(self._code, body, self._timeout_s)
        self.body = reply
        return decoded(self._code, code, reply), len(body), len(reply)

    async def has_unasked(self) -> bool:
        return self._frames.has_unasked

    async def close(self) -> None:
        self._frames.close()


class _Frames(asyncio.Protocol):
    """Puts frames together from what the loop receives."""

    def __init__(self) -> None:
        self._received = bytearray()
        self._transport: asyncio.Transport | None = None
        self._waiting: asyncio.Future[_Frame] | None = None
        self.has_unasked = False  # something came while no request waited

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    async def exchange(self, code: int, body: bytes, timeout_s: float) -> _Frame:
        if self._transport is None or self._transport.is_closing():
            raise CallFailed("closed", "the connection is closed")
        loop = asyncio.get_running_loop()
        self._waiting = loop.create_future()
        timer = loop.call_later(timeout_s, self._fail, CallFailed("timeout", "no reply in time"))
        self._transport.writelines((HEADER.pack(len(body), code), body))
        try:
            return await self._waiting
        finally:
            timer.cancel()

    def data_received(self, data: bytes) -> None:
        if self._waiting is None or self._waiting.done():
            self.has_unasked = True
            return
        self._received += data
        if len(self._received) < HEADER_BYTES:
            return
        length, code = HEADER.unpack_from(self._received)
        if length > LARGEST_BODY:
            self._fail(CallFailed("undecodable", f"a frame of {length:,} bytes"))
        elif len(self._received) > HEADER_BYTES + length:
            self.has_unasked = True
            self._fail(CallFailed("undecodable", MORE_THAN_A_FRAME))
        elif len(self._received) == HEADER_BYTES + length:
            body = bytes(memoryview(self._received)[HEADER_BYTES:])
            self._received = bytearray()
            self._waiting.set_result((code, body))

    def connection_lost(self, exc: Exception | None) -> None:
        self._fail(CallFailed("closed", str(exc) if exc else "the responder ended the connection"))
        self._transport = None

    def close(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def _fail(self, failure: CallFailed) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(failure)
