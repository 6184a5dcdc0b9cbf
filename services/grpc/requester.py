"""Asks with grpcio's blocking stub."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import grpc

from services.grpc import messages, options
from services.grpc.generated import orch_pb2_grpc
from services.harness.client_api import CallSpec, Reply, Request
from services.harness.spec import Client


@dataclass(frozen=True, kw_only=True)
class GrpcDialer:
    """Opens channels; the TCP connection comes with a channel's first call."""

    target: str
    method: messages.Method
    timeout_s: float

    def dial(self) -> GrpcConnection:
        """A new channel."""
        return GrpcConnection(self)


class GrpcConnection:
    """One channel, which is one HTTP/2 connection."""

    def __init__(self, dialer: GrpcDialer) -> None:
        self._method = dialer.method
        self._timeout_s = dialer.timeout_s
        self._pack = dialer.method.pack_request
        self._channel = grpc.insecure_channel(dialer.target, options=options.CHANNEL)
        self._ask = getattr(orch_pb2_grpc.OrchStub(self._channel), dialer.method.name)

    def call(self, request: Request) -> Any:
        """The request and the reply message; CallFailed by the call's status code."""
        message = self._pack(request)
        try:
            return message, self._ask(message, timeout=self._timeout_s)
        except grpc.RpcError as error:
            raise options.failure(error.code(), error.details()) from error

    def value(self, reply: Any) -> Reply:
        """The reply in plain values."""
        return messages.value(self._method, reply)

    def sizes(self, request: Request, reply: Any) -> tuple[int, int]:  # noqa: ARG002 - the exchange holds the message
        """Serialised bytes of the request and the reply message."""
        return messages.sizes(reply)

    def close(self) -> None:
        """End the channel."""
        self._channel.close()


def dialer(call: CallSpec, client: Client) -> GrpcDialer:  # noqa: ARG001 - this module has one client
    """Opens channels for blocking calls; CallFailed when Protocol Buffers cannot carry the example request."""
    return GrpcDialer(
        target=options.address(call.host, call.port),
        method=messages.method_for(call.operation, call.example),
        timeout_s=call.timeout_s,
    )
