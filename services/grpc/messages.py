"""From plain values to Protocol Buffers messages and back, one `Method` for each operation.

Records and documents stay messages on the responder: they are what a gRPC service works on, and a message can be put
into another one as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from google.protobuf import json_format, struct_pb2

from services.grpc.generated import orch_pb2 as pb
from services.harness.client_api import CallFailed, Reply, Request

Message = Any  # what protoc generated has no types that mypy can follow


@dataclass(frozen=True, kw_only=True)
class Method:
    """How one operation travels: `pack_*` makes messages from plain values, `unpack_*` the reverse."""

    name: str
    pack_request: Callable[[Request], Message]
    unpack_request: Callable[[Message], dict[str, Any]]
    pack_reply: Callable[[Mapping[str, Any]], Message]
    unpack_reply: Callable[[Message], dict[str, Any]]


def _pack_echo(request: Request) -> Message:
    if "data" in request:
        return pb.EchoRequest(data=request["data"])
    if "records" in request:
        return pb.EchoRequest(records={"items": request["records"]})
    return pb.EchoRequest(document=_document(request["document"]))


def _document(value: Any) -> dict[str, Any]:
    """The one field of a `google.protobuf.Value` that holds it; nested values are converted in C."""
    match value:
        case None:
            return {"null_value": struct_pb2.NULL_VALUE}
        case bool():
            return {"bool_value": value}
        case int() | float():
            return {"number_value": value}
        case str():
            return {"string_value": value}
        case list():
            return {"list_value": value}
        case dict():
            return {"struct_value": value}
    raise TypeError(f"not a JSON value: {type(value).__name__}")


def _echoed_content(request: Message) -> dict[str, Any]:
    content = request.WhichOneof("content")
    return {content: getattr(request, content)} if content else {}


def _unpack_echo(reply: Message) -> dict[str, Any]:
    content = reply.WhichOneof("content")
    if content == "data":
        return {"data": reply.data}
    if content == "records":
        return {"records": [_record(item) for item in reply.records.items]}
    if content == "document":
        return {"document": json_format.MessageToDict(reply.document)}
    return {}


def _record(item: Message) -> dict[str, Any]:
    return {
        "id": item.id,
        "name": item.name,
        "value": item.value,
        "active": item.active,
        "tags": list(item.tags),
    }


METHODS: Mapping[str, Method] = {
    "timestamp": Method(
        name="Timestamp",
        pack_request=lambda request: pb.TimestampRequest(request_timestamp=request["request_timestamp"]),
        unpack_request=lambda message: {"request_timestamp": message.request_timestamp},
        pack_reply=lambda reply: pb.TimestampReply(**reply),
        unpack_reply=lambda message: {
            "request_timestamp": message.request_timestamp,
            "response_timestamp": message.response_timestamp,
        },
    ),
    "add": Method(
        name="Add",
        pack_request=lambda request: pb.AddRequest(a=request["a"], b=request["b"]),
        unpack_request=lambda message: {"a": message.a, "b": message.b},
        pack_reply=lambda reply: pb.AddReply(**reply),
        unpack_reply=lambda message: {"sum": message.sum},
    ),
    "echo": Method(
        name="Echo",
        pack_request=_pack_echo,
        unpack_request=_echoed_content,
        pack_reply=lambda reply: pb.EchoReply(**reply),
        unpack_reply=_unpack_echo,
    ),
    "image": Method(
        name="Image",
        pack_request=lambda request: pb.ImageRequest(data=request["data"], full_decode=request["full_decode"]),
        unpack_request=lambda message: {"data": message.data, "full_decode": message.full_decode},
        pack_reply=lambda reply: pb.ImageReply(**reply),
        unpack_reply=lambda message: {"width": message.width, "height": message.height},
    ),
    "identity": Method(
        name="Identity",
        pack_request=lambda _request: pb.IdentityRequest(),
        unpack_request=lambda _message: {},
        pack_reply=lambda reply: pb.IdentityReply(**reply),
        unpack_reply=lambda message: {"identity": message.identity},
    ),
}


def method_for(operation: str, example: Request) -> Method:
    """The operation's method, once it is sure that the example survives the wire.

    CallFailed when it does not: a document may hold what no double can carry, and an ordinary integer field has 32 bits.
    """
    method = METHODS[operation]
    try:
        message = method.pack_request(example)
        arrived = type(message).FromString(message.SerializeToString())
        changed = "document" in example and _unpack_echo(arrived)["document"] != example["document"]
    except (TypeError, ValueError, json_format.Error) as error:
        raise CallFailed("protocol", f"gRPC cannot carry this {operation} request: {error}") from error
    if changed:
        raise CallFailed(
            "protocol",
            "gRPC carries a document's numbers as doubles, which change one of these (an integer beyond 2^53?); "
            "put such numbers into strings, or leave grpc out",
        )
    return method


def value(method: Method, exchange: tuple[Message, Message]) -> Reply:
    """The reply of an exchange (request message, reply message) in plain values."""
    return method.unpack_reply(exchange[1])


def sizes(exchange: tuple[Message, Message]) -> tuple[int, int]:
    """Serialised bytes of both messages of an exchange."""
    return exchange[0].ByteSize(), exchange[1].ByteSize()
