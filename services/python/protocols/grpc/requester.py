"""Asks with grpcio's blocking stub."""

from __future__ import annotations

import grpc

from services.python.codecs.typed import method_of
from services.python.contract.offers import Client
from services.python.load.client import CallSpec, Dialing, Request
from services.python.protocols.grpc import options
from services.python.protocols.grpc.calling import GrpcConnectionBase, GrpcReply


class GrpcConnection(GrpcConnectionBase, options.Blocking):
    """Calls that block."""

    def call(self, request: Request) -> GrpcReply:
        """The reply, its fields read, and both messages' lengths; CallFailed by the call's status code."""
        try:
            reply = self._ask(self._pack(request), timeout=self._timeout_s)
        except grpc.RpcError as error:
            raise options.failure(error.code(), error.details()) from error
        return self._read(reply), self._lengths.sent, self._lengths.received


def dialer(call: CallSpec, client: Client) -> Dialing:  # noqa: ARG001 - this module has one client
    """Opens channels for blocking calls; CallFailed when Protocol Buffers cannot carry the example request.

    The TCP connection comes with a channel's first call.
    """
    method, shares = method_of(call.operation, call.example, call.schema), options.channels(call, grpc)
    return Dialing(lambda: GrpcConnection(method, call, shares.take()))
