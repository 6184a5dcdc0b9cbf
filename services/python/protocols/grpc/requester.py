"""Asks with grpcio's blocking stub."""

from __future__ import annotations

from dataclasses import dataclass

import grpc

from services.python.contract.offers import Client
from services.python.load.client import CallSpec, Request
from services.python.protocols.grpc import options
from services.python.protocols.grpc.calling import Calling, GrpcConnectionBase, GrpcReply, calling


@dataclass(frozen=True)
class GrpcDialer:
    """Opens channels; the TCP connection comes with a channel's first call."""

    calling: Calling

    def dial(self) -> GrpcConnection:
        """A new channel."""
        channel = self.calling.channel
        opens = grpc.secure_channel if "credentials" in channel else grpc.insecure_channel
        return GrpcConnection(self.calling, opens(**channel))


class GrpcConnection(GrpcConnectionBase):
    """Calls that block."""

    def call(self, request: Request) -> GrpcReply:
        """The reply, its fields read, and both messages' lengths; CallFailed by the call's status code."""
        try:
            reply = self._ask(self._pack(request), timeout=self._timeout_s)
        except grpc.RpcError as error:
            raise options.failure(error.code(), error.details()) from error
        return self._read(reply), self._lengths.sent, self._lengths.received

    def close(self) -> None:
        """End the channel."""
        self._channel.close()


def dialer(call: CallSpec, client: Client) -> GrpcDialer:
    """Opens channels for blocking calls; CallFailed when Protocol Buffers cannot carry the example request."""
    return GrpcDialer(calling(call, client))
