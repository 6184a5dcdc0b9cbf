"""Calls somebody's own service by gRPC, with a method that a descriptor set describes."""

from __future__ import annotations

from typing import Any

import grpc
import grpc.aio
from google.protobuf.message import DecodeError

from services.python.contract.descriptors import Method
from services.python.contract.offers import Client
from services.python.load.client import AsyncDialing, CallFailed, CallSpec, Dialing, Reply, Request
from services.python.load.sharing import Share
from services.python.protocols.grpc import options

GrpcReply = tuple[list[Any], list[bytes], int, Method]
"""What a call returns: the messages (of a stream all of them), each as it came, the bytes of the request, and the method."""


class _Base(options.OnShare):
    """Requests are serialised before they are timed; messages pass gRPC as bytes, and are parsed within the call.

    The methods of its steps are made ready when they are first called.
    """

    def __init__(self, share: Share[Any], call: CallSpec) -> None:
        super().__init__(share)
        self._timeout_s = call.timeout_s
        self._methods: dict[str, Any] = {}
        self.body: bytes | None = None

    def _method(self, method: Method) -> Any:
        """What calls a method."""
        opens = self._share.of.unary_stream if method.is_stream else self._share.of.unary_unary
        ready = self._methods[method.path] = opens(method.path)
        return ready

    def _read(self, request: Request, came: list[bytes]) -> GrpcReply:
        method = request["method"]
        self.body = None if method.is_stream else came[0]
        messages: list[Any] = came
        if request["call"]["decode"]:
            try:
                messages = [method.reply.FromString(each) for each in came]
            except DecodeError as error:
                raise CallFailed("undecodable", f"the reply is no message of the method's type: {error}") from error
        return messages, came, len(request["message"]), method

    def value(self, reply: GrpcReply) -> Reply:
        """The reply with its messages, which `operations.call` reads as JSON values."""
        messages, came, _, method = reply
        return {"status": 0, "body": b"".join(came), "messages": messages, "method": method}

    def sizes(self, request: Request, reply: GrpcReply) -> tuple[int, int]:  # noqa: ARG002 - noted as they passed
        return reply[2], sum(map(len, reply[1]))


class Connection(_Base, options.Blocking):
    """Calls that block."""

    def call(self, request: Request) -> GrpcReply:
        method = request["method"]
        call = self._methods.get(method.path) or self._method(method)
        try:
            came = call(request["message"], timeout=self._timeout_s, metadata=request["metadata"])
            return self._read(request, list(came) if method.is_stream else [came])
        except grpc.RpcError as error:
            raise options.failure(error.code(), error.details()) from error


class AsyncConnection(_Base, options.Awaiting):
    """Calls that are awaited."""

    async def call(self, request: Request) -> GrpcReply:
        method = request["method"]
        call = self._methods.get(method.path) or self._method(method)
        try:
            coming = call(request["message"], timeout=self._timeout_s, metadata=request["metadata"])
            return self._read(request, [each async for each in coming] if method.is_stream else [await coming])
        except grpc.aio.AioRpcError as error:
            raise options.failure(error.code(), error.details()) from error


def dialer(call: CallSpec, client: Client) -> Dialing | AsyncDialing:
    """Opens channels of that client."""
    channels = options.channels(call, grpc if client.style == "sync" else grpc.aio)
    if client.style == "sync":
        return Dialing(lambda: Connection(channels.take(), call))
    return AsyncDialing(lambda: AsyncConnection(channels.take(), call))
