"""What both gRPC clients share: when a reply's fields are read, and how long each message was."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from services.python.codecs import protobuf as messages
from services.python.contract.offers import Client
from services.python.generated import orch_pb2_grpc
from services.python.load.client import CallSpec, Reply, Request
from services.python.protocols.grpc import options

GrpcReply = tuple[Any, int, int]
"""What a client's `call` returns: the reply in plain values (of a parse-only client: its message), and both lengths."""


@dataclass(frozen=True, kw_only=True)
class Calling:
    """One operation, made ready once for a trial.

    `read` is what the timed call does to a parsed reply, `value` what is left to do after it: one of them reads the
    fields, the other does nothing.
    """

    target: str
    method: messages.Method
    timeout_s: float
    read: Callable[[Any], Any]
    value: Callable[[Any], Reply]


def calling(call: CallSpec, client: Client) -> Calling:
    """How this client makes the call; CallFailed when Protocol Buffers cannot carry the example request."""
    method = messages.method_for(call.operation, call.example)
    read, value = (_nothing, method.unpack_reply) if client.omits else (method.unpack_reply, _nothing)
    return Calling(
        target=options.address(call.host, call.port),
        method=method,
        timeout_s=call.timeout_s,
        read=read,
        value=value,
    )


def _nothing(reply: Any) -> Any:
    return reply


class MeasuredChannel:
    """A channel as the generated stub sees it, which notes the lengths of a call's messages as they pass as bytes.

    To ask a message for its length costs as much as to serialise it again.
    """

    def __init__(self, channel: Any) -> None:
        self._channel = channel
        self.sent = self.received = 0

    def unary_unary(self, path: str, request_serializer: Any, response_deserializer: Any, **keywords: Any) -> Any:
        """See `grpc.Channel.unary_unary`."""

        def serialise(message: Any) -> bytes:
            data: bytes = request_serializer(message)
            self.sent = len(data)
            return data

        def parse(data: bytes) -> Any:
            self.received = len(data)
            return response_deserializer(data)

        return self._channel.unary_unary(path, request_serializer=serialise, response_deserializer=parse, **keywords)


class GrpcConnectionBase:
    """One channel, which is one HTTP/2 connection, with one call in flight."""

    def __init__(self, calling: Calling, channel: Any) -> None:
        self._method = calling.method
        self._timeout_s = calling.timeout_s
        self._pack = calling.method.pack_request
        self._read = calling.read
        self._value = calling.value
        self._channel = channel
        self._lengths = MeasuredChannel(channel)
        self._ask = getattr(orch_pb2_grpc.OrchStub(self._lengths), calling.method.name)

    def value(self, reply: GrpcReply) -> Reply:
        """The reply in plain values; a parse-only client's is read only now."""
        return self._value(reply[0])

    def sizes(self, request: Request, reply: GrpcReply) -> tuple[int, int]:  # noqa: ARG002 - noted as they were sent
        """Serialised bytes of the request and the reply message."""
        return reply[1], reply[2]
