"""What both gRPC clients share: when a reply's fields are read, and how long each message was."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from services.python.codecs import coding
from services.python.codecs.protobuf import Method
from services.python.load.client import CallSpec, Reply, Request
from services.python.load.sharing import Share
from services.python.protocols.grpc import options, service

GrpcReply = tuple[Any, Any, Any]
"""What a client's `call` returns: the reply in plain values, and what was noted of both messages: their lengths, or where
they were compressed themselves.
"""


@lru_cache(maxsize=2)
def _compressed_size(message: bytes) -> int:
    """How long a message is as gRPC's core sends it, which does not say so: compressed again, outside of the timed call."""
    return min(len(message), len(coding.pack(message)))


def _nothing(reply: Any) -> Any:
    return reply


class MeasuredChannel:
    """A channel as the generated stub sees it, which notes what `note` says of a call's messages as they pass as bytes.

    To ask a message for its length costs as much as to serialise it again.
    """

    def __init__(self, channel: Any, note: Callable[[bytes], Any] = len) -> None:
        self._channel = channel
        self._note = note
        self.sent: Any = 0
        self.received: Any = 0
        self.body: bytes | None = None

    def unary_unary(self, path: str, request_serializer: Any, response_deserializer: Any, **keywords: Any) -> Any:
        return self._noted(self._channel.unary_unary, path, request_serializer, response_deserializer, keywords)

    def unary_stream(self, path: str, request_serializer: Any, response_deserializer: Any, **keywords: Any) -> Any:
        """See `grpc.Channel.unary_stream`; `received` is of the event that was parsed last."""
        return self._noted(self._channel.unary_stream, path, request_serializer, response_deserializer, keywords)

    def _noted(
        self, make: Any, path: str, request_serializer: Any, response_deserializer: Any, keywords: dict[str, Any]
    ) -> Any:
        note = self._note

        def serialise(message: Any) -> bytes:
            data: bytes = request_serializer(message)
            self.sent = note(data)
            return data

        def parse(data: bytes) -> Any:
            self.received = note(data)
            self.body = data
            return response_deserializer(data)

        return make(path, request_serializer=serialise, response_deserializer=parse, **keywords)


class GrpcConnectionBase(options.OnShare):
    """What is done with a call's messages."""

    def __init__(self, method: Method, call: CallSpec, share: Share[Any]) -> None:
        super().__init__(share)
        is_compressed = coding.coding(call.knobs) is not None
        self._method = method
        self._timeout_s = call.timeout_s
        self._pack, self._read = method.pack_request, method.unpack_reply
        self._size = _compressed_size if is_compressed else _nothing
        self._lengths = MeasuredChannel(share.of, _nothing if is_compressed else len)
        self._ask = service.stub(self._lengths, method)

    @property
    def body(self) -> bytes | None:
        return self._lengths.body

    def value(self, reply: GrpcReply) -> Reply:
        value: Reply = reply[0]
        return value

    def sizes(self, request: Request, reply: GrpcReply) -> tuple[int, int]:  # noqa: ARG002 - noted as they were sent
        """Serialised bytes of the request and the reply message, compressed ones as they are on the wire."""
        return self._size(reply[1]), self._size(reply[2])
