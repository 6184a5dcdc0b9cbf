"""Asks with grpc.aio's awaiting stub."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import grpc
import grpc.aio

from services.grpc import messages, options
from services.grpc.generated import orch_pb2_grpc
from services.harness.client_api import CallFailed, CallSpec, Reply, Request
from services.harness.spec import Client


@dataclass(frozen=True, kw_only=True)
class GrpcAioDialer:
    """Opens channels on the running event loop; the TCP connection comes with a channel's first call."""

    target: str
    method: messages.Method
    timeout_s: float

    async def dial(self) -> GrpcAioConnection:
        """A new channel."""
        return GrpcAioConnection(self)


class GrpcAioConnection:
    """One channel, which is one HTTP/2 connection."""

    def __init__(self, dialer: GrpcAioDialer) -> None:
        self._method = dialer.method
        self._timeout_s = dialer.timeout_s
        self._pack = dialer.method.pack_request
        self._channel = grpc.aio.insecure_channel(dialer.target, options=options.CHANNEL)
        self._ask = getattr(orch_pb2_grpc.OrchStub(self._channel), dialer.method.name)

    async def call(self, request: Request) -> Any:
        """The request and the reply message; CallFailed by the call's status code."""
        message = self._pack(request)
        try:
            reply = await self._ask(message, timeout=self._timeout_s)
        except grpc.aio.AioRpcError as error:
            raise options.failure(error.code(), error.details()) from error
        if reply is None:  # so grpc.aio tells that it could not parse it; the cause goes to its log
            raise CallFailed("undecodable", f"the reply is no {self._method.name} message")
        return message, reply

    def value(self, reply: Any) -> Reply:
        """The reply in plain values."""
        return messages.value(self._method, reply)

    def sizes(self, request: Request, reply: Any) -> tuple[int, int]:  # noqa: ARG002 - the exchange holds the message
        """Serialised bytes of the request and the reply message."""
        return messages.sizes(reply)

    async def close(self) -> None:
        """End the channel."""
        await self._channel.close()


def dialer(call: CallSpec, client: Client) -> GrpcAioDialer:  # noqa: ARG001 - this module has one client
    """Opens channels for awaited calls; CallFailed when Protocol Buffers cannot carry the example request."""
    return GrpcAioDialer(
        target=options.address(call.host, call.port),
        method=messages.method_for(call.operation, call.example),
        timeout_s=call.timeout_s,
    )
