"""From plain values to Protocol Buffers messages and back, one `Method` for each operation.

Parsing a message decodes none of its fields into Python's values: that happens as each is read. Both ends therefore read
every field once (`protos/fields.md`); `FORWARDING` is for those who pass a message on unread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from google.protobuf import struct_pb2
from google.protobuf.message import DecodeError

from services.python.codecs.base import Codec, Coder
from services.python.codecs.json import json_text
from services.python.generated import orch_pb2 as pb
from services.python.load.client import CallFailed, Request

Message = Any  # what protoc generated has no types that mypy can follow


@dataclass(frozen=True, kw_only=True)
class Method:
    """How one operation travels: `pack_*` makes messages from plain values, `unpack_*` the reverse, field by field."""

    name: str
    pack_request: Callable[[Request], Message]
    unpack_request: Callable[[Message], dict[str, Any]]
    pack_reply: Callable[[Mapping[str, Any]], Message]
    unpack_reply: Callable[[Message], dict[str, Any]]


def _pack_echo(message: Callable[..., Message]) -> Callable[[Mapping[str, Any]], Message]:
    """Makes an EchoRequest or an EchoReply: both have the same fields."""

    def pack(content: Mapping[str, Any]) -> Message:
        if "data" in content:
            return message(data=content["data"])
        if "records" in content:
            return message(records={"items": content["records"]})
        return message(document=_document(content["document"]))

    return pack


def _document(value: Any) -> dict[str, Any]:
    """The one field of a `google.protobuf.Value` that holds it; protobuf converts the values nested in it."""
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


def _unpack_echo(message: Message) -> dict[str, Any]:
    content = message.WhichOneof("content")
    if content == "data":
        return {"data": message.data}
    if content == "records":
        # A slice of a repeated field is a list, made in C; `list(...)` would ask for one item after the other.
        return {
            "records": [
                {"id": item.id, "name": item.name, "value": item.value, "active": item.active, "tags": item.tags[:]}
                for item in message.records.items
            ]
        }
    if content == "document":
        return {"document": _plain(message.document)}
    return {}


def _plain(value: Message) -> Any:
    """A `google.protobuf.Value` as Python's own; its numbers are doubles. json_format.MessageToDict takes longer."""
    kind = value.WhichOneof("kind")
    if kind == "struct_value":
        return {name: _plain(item) for name, item in value.struct_value.fields.items()}
    if kind == "list_value":
        return [_plain(item) for item in value.list_value.values]
    return None if kind is None or kind == "null_value" else getattr(value, kind)


def _echoed_unread(request: Message) -> dict[str, Any]:
    content = request.WhichOneof("content")
    return {content: getattr(request, content)} if content else {}


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
        pack_request=_pack_echo(pb.EchoRequest),
        unpack_request=_unpack_echo,
        pack_reply=_pack_echo(pb.EchoReply),
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


STREAMS: Mapping[str, Method] = {
    "events": Method(
        name="Events",
        pack_request=lambda request: pb.EventsRequest(**request),
        unpack_request=lambda message: {
            "interval_ns": message.interval_ns,
            "count": message.count,
            "size": message.size,
            "seed": message.seed,
        },
        pack_reply=lambda event: pb.Event(**event),
        unpack_reply=lambda message: {
            "sequence": message.sequence,
            "sent_ns": message.sent_ns,
            "data": message.data,
        },
    ),
}
"""Operations of kind `stream`: what `Method` calls a reply is an event of theirs."""


FORWARDING: Mapping[str, Method] = {
    **METHODS,
    "echo": replace(METHODS["echo"], unpack_request=_echoed_unread, pack_reply=lambda content: pb.EchoReply(**content)),
}
"""METHODS for a responder that puts the message it got into its reply, its fields unread."""


def method_for(operation: str, example: Request) -> Method:
    """The operation's method, once it is sure that the example survives the wire.

    CallFailed when it does not: a document may hold what no double can carry, and an ordinary integer field has 32 bits.
    """
    method = {**METHODS, **STREAMS}[operation]
    try:
        if "document" in example:
            json_text(example["document"])  # a double can be NaN, a JSON value cannot
        message = method.pack_request(example)
        arrived = type(message).FromString(message.SerializeToString())
        changed = "document" in example and _unpack_echo(arrived)["document"] != example["document"]
    except (TypeError, ValueError, RecursionError) as error:
        raise CallFailed("protocol", f"Protocol Buffers cannot carry this {operation} request: {error}") from error
    if changed:
        raise CallFailed(
            "protocol",
            "Protocol Buffers carry a document's numbers as doubles, which change one of these (an integer beyond 2^53?); "
            "put such numbers into strings, or leave this stack out",
        )
    return method


_REQUESTS: Mapping[str, Callable[..., Message]] = {
    "identity": pb.IdentityRequest,
    "timestamp": pb.TimestampRequest,
    "add": pb.AddRequest,
    "echo": pb.EchoRequest,
    "image": pb.ImageRequest,
}
_REPLIES: Mapping[str, Callable[..., Message]] = {
    "identity": pb.IdentityReply,
    "timestamp": pb.TimestampReply,
    "add": pb.AddReply,
    "echo": pb.EchoReply,
    "image": pb.ImageReply,
}


def _coder(kind: Any, pack: Callable[..., Message], unpack: Callable[[Message], dict[str, Any]]) -> Coder:
    parse = kind.FromString
    return Coder(write=lambda fields: bytes(pack(fields).SerializeToString()), read=lambda body: unpack(parse(body)))


def _request(message: str) -> Coder:
    operation = message.partition("/")[0]
    method = METHODS[operation]
    return _coder(_REQUESTS[operation], method.pack_request, method.unpack_request)


def _reply(message: str) -> Coder:
    operation = message.partition("/")[0]
    method = METHODS[operation]
    return _coder(_REPLIES[operation], method.pack_reply, method.unpack_reply)


CODEC = Codec(media_type="application/protobuf", request=_request, reply=_reply, errors=(DecodeError, ValueError))
"""The messages of gRPC by themselves, for whoever carries them otherwise."""
