"""Calls somebody's own service by gRPC, with a method that a descriptor set describes."""

from __future__ import annotations

from typing import Any

import grpc
import grpc.aio

from services.python.contract.descriptors import Method, values_of
from services.python.contract.knobs import CONNECTIONS
from services.python.contract.offers import Client
from services.python.load.client import CallFailed, CallSpec, Reply, Request
from services.python.load.sharing import Share, Shares
from services.python.protocols.grpc import options
from services.python.protocols.grpc.calling import MeasuredChannel

GrpcReply = tuple[Any, int, int, Method]
"""What a call returns: the message (of a stream all of them), the bytes of the request and of the reply, and the method."""


class _Base:
    """One call in flight on a channel, which is one HTTP/2 connection, of its own or shared with others.

    The methods of its steps are made ready when they are first called.
    """

    def __init__(self, share: Share[Any], call: CallSpec) -> None:
        self._share = share
        self._timeout_s = call.timeout_s
        self._measured = MeasuredChannel(share.of)
        self._methods: dict[tuple[str, bool], Any] = {}
        self._is_stream = False

    def _method(self, request: Request) -> Any:
        """What calls the method of a request."""
        method, is_read = request["method"], request["call"]["decode"]
        self._is_stream = method.is_stream
        if (ready := self._methods.get((method.path, is_read))) is None:
            opens = self._measured.unary_stream if method.is_stream else self._measured.unary_unary
            read = method.reply.FromString if is_read else bytes
            ready = opens(method.path, lambda message: message.SerializeToString(), read)
            self._methods[method.path, is_read] = ready
        return ready

    @property
    def shared(self) -> int | None:
        """See `load.client.Shared`."""
        return self._share.number

    @property
    def body(self) -> bytes | None:
        """See `load.client.Connection.body`; a stream has no one body."""
        return None if self._is_stream else self._measured.body

    def value(self, reply: GrpcReply) -> Reply:
        """The reply as JSON values; of a stream a list of them."""
        message, method = reply[0], reply[3]
        came = message if method.is_stream else [message]
        every = [method.reply.FromString(each) if isinstance(each, bytes) else each for each in came]
        body = b"".join(each.SerializeToString() for each in every)
        documents = [values_of(each) for each in every]
        return {"status": 0, "body": body, "document": documents if method.is_stream else documents[0]}

    def sizes(self, request: Request, reply: GrpcReply) -> tuple[int, int]:  # noqa: ARG002 - noted as they passed
        """Serialised bytes of the messages."""
        return reply[1], reply[2]


class Connection(_Base):
    """Calls that block."""

    def call(self, request: Request) -> GrpcReply:
        """See `load.client.Connection.call`."""
        measured, method = self._measured, request["method"]
        try:
            reply = self._method(request)(request["message"], timeout=self._timeout_s, metadata=request["metadata"])
            if method.is_stream:
                received, reply = _read_all(measured, reply)
                return reply, measured.sent, received, method
        except grpc.RpcError as error:
            raise options.failure(error.code(), error.details()) from error
        return reply, measured.sent, measured.received, method

    def close(self) -> None:
        """End the channel when nobody else uses it."""
        if (channel := self._share.end()) is not None:
            channel.close()


def _read_all(measured: MeasuredChannel, stream: Any) -> tuple[int, list[Any]]:
    received, messages = 0, []
    for message in stream:
        received += measured.received
        messages.append(message)
    return received, messages


class AsyncConnection(_Base):
    """Calls that are awaited."""

    async def call(self, request: Request) -> GrpcReply:
        """See `load.client.AsyncConnection.call`."""
        measured, method = self._measured, request["method"]
        try:
            call = self._method(request)(request["message"], timeout=self._timeout_s, metadata=request["metadata"])
            if method.is_stream:
                received, messages = 0, []
                async for message in call:
                    received += measured.received
                    messages.append(message)
                return messages, measured.sent, received, method
            reply = await call
        except grpc.aio.AioRpcError as error:
            raise options.failure(error.code(), error.details()) from error
        if reply is None:  # so grpc.aio tells that it could not parse it
            raise CallFailed("undecodable", "the reply is no message of the method's type")
        return reply, measured.sent, measured.received, method

    async def close(self) -> None:
        """End the channel when nobody else uses it."""
        if (channel := self._share.end()) is not None:
            await channel.close()


class _Dialer:
    def __init__(self, call: CallSpec, library: Any) -> None:
        self._call = call
        channel = {
            "target": options.address(call.host, call.port),
            "options": options.channel(call.knobs),
            **options.credentials(call.tls),
        }
        opens = library.secure_channel if call.tls is not None else library.insecure_channel
        number = int(call.knobs[CONNECTIONS]) if CONNECTIONS in call.knobs else None
        self._channels: Shares[Any] = Shares(lambda: opens(**channel), number)


class _BlockingDialer(_Dialer):
    def dial(self) -> Connection:
        return Connection(self._channels.take(), self._call)


class _AwaitingDialer(_Dialer):
    async def dial(self) -> AsyncConnection:
        return AsyncConnection(self._channels.take(), self._call)


def dialer(call: CallSpec, client: Client) -> _BlockingDialer | _AwaitingDialer:
    """Opens channels of that client."""
    return _BlockingDialer(call, grpc) if client.style == "sync" else _AwaitingDialer(call, grpc.aio)
