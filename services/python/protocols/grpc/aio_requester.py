"""Asks with grpc.aio's awaiting stub."""

from __future__ import annotations

from typing import Any

import grpc
import grpc.aio

from services.python.codecs.typed import method_of
from services.python.contract.offers import Client
from services.python.load.client import AsyncDialing, CallFailed, CallSpec, Event, Request
from services.python.protocols.grpc import options
from services.python.protocols.grpc.calling import GrpcConnectionBase, GrpcReply


class GrpcAioConnection(GrpcConnectionBase, options.Awaiting):
    """Calls that are awaited."""

    _stream: Any

    async def call(self, request: Request) -> GrpcReply:
        """The reply, its fields read, and both messages' lengths; CallFailed by the call's status code."""
        try:
            reply = await self._ask(self._pack(request), timeout=self._timeout_s)
        except grpc.aio.AioRpcError as error:
            raise options.failure(error.code(), error.details()) from error
        if reply is None:  # so grpc.aio tells that it could not parse it; the cause goes to its log
            raise CallFailed("undecodable", f"the reply is no {self._method.name} message")
        return self._read(reply), self._lengths.sent, self._lengths.received

    async def subscribe(self, request: Request) -> int:
        """Begin a call whose reply is a stream; its size is known once the first event has come."""
        message = self._pack(request)
        self._stream = self._ask(message)
        return int(message.ByteSize())

    async def next_event(self) -> tuple[Event, int] | None:
        """The next message of the stream, its fields read; CallFailed by the call's status code."""
        try:
            message = await self._stream.read()
        except grpc.aio.AioRpcError as error:
            raise options.failure(error.code(), error.details()) from error
        if message is grpc.aio.EOF:
            return None
        if message is None:
            raise CallFailed("undecodable", f"what came is no event of {self._method.name}")
        event: Event = self._read(message)
        return event, self._lengths.received


def dialer(call: CallSpec, client: Client) -> AsyncDialing:  # noqa: ARG001 - this module has one client
    """Opens channels for awaited calls; CallFailed when Protocol Buffers cannot carry the example request."""
    method, shares = method_of(call.operation, call.example, call.schema), options.channels(call, grpc.aio)
    return AsyncDialing(lambda: GrpcAioConnection(method, call, shares.take()))
