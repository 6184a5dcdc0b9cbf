"""From plain values to Protocol Buffers messages and back, one `Method` for each message.

Parsing a message decodes none of its fields into Python's values: that happens as each is read. Both ends therefore read
every field once (`protos/fields.md`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from google.protobuf import struct_pb2
from google.protobuf.message import DecodeError

from services.python.codecs.base import Codec, Coder
from services.python.codecs.json import json_text
from services.python.contract import messages as contract
from services.python.contract.messages import ACTIVITY, ECHO, EVENTS, IDENTITY, ROWS, Field, capitals
from services.python.generated import orch_pb2 as pb
from services.python.load.client import CallFailed, Request
from services.python.operations import OPERATIONS, message_named

SERVICE = "orch.v1.Orch"

Message = Any  # what protoc generated has no types that mypy can follow


@dataclass(frozen=True, kw_only=True)
class Method:
    """How an operation travels: `pack_*` makes messages from plain values, `unpack_*` the reverse, field by field.

    `name` is that of gRPC's method, `service` of its service; `request` and `reply` are the types of the messages.
    """

    name: str
    request: Any
    reply: Any
    pack_request: Callable[[Request], Message]
    unpack_request: Callable[[Message], dict[str, Any]]
    pack_reply: Callable[[Mapping[str, Any]], Message]
    unpack_reply: Callable[[Message], dict[str, Any]]
    service: str = SERVICE
    is_stream: bool = False  # what it calls a reply is an event, of several


def _pack_echo(message: Callable[..., Message]) -> Callable[[Mapping[str, Any]], Message]:

    def pack(content: Mapping[str, Any]) -> Message:
        if "data" in content:
            return message(data=content["data"])
        if "records" in content:
            return message(records={"items": content["records"]})
        return message(document=as_value(content["document"]))

    return pack


def as_value(value: Any) -> dict[str, Any]:
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
        return {"document": from_value(message.document)}
    return {}


def from_value(value: Message) -> Any:
    """A `google.protobuf.Value` as Python's own; its numbers are doubles. json_format.MessageToDict takes longer."""
    kind = value.WhichOneof("kind")
    if kind == "struct_value":
        return {name: from_value(item) for name, item in value.struct_value.fields.items()}
    if kind == "list_value":
        return [from_value(item) for item in value.list_value.values]
    return None if kind is None or kind == "null_value" else getattr(value, kind)


def _dictionary(fields: Mapping[str, Field], source: str) -> str:
    """A dictionary display of Python that reads every field of a message, rows within it too."""
    values = {
        name: f"[{_dictionary(ROWS[kind], 'row')} for row in {source}.{name}]" if kind in ROWS else f"{source}.{name}"
        for name, kind in fields.items()
    }
    return f"{{{', '.join(f'{name!r}: {value}' for name, value in values.items())}}}"


def _coders(kind: Any, fields: Mapping[str, Field]) -> tuple[Callable[..., Message], Callable[..., dict[str, Any]]]:
    """What makes messages of this class and what reads them: compiled once, and as quick as written out by hand."""
    given = ", ".join(f"{name}=fields[{name!r}]" for name in fields)
    source = f"(lambda fields: kind({given}), lambda message: {_dictionary(fields, 'message')})"
    coders: tuple[Callable[..., Message], Callable[..., dict[str, Any]]] = eval(source, {"kind": kind})  # noqa: S307 - of ours
    return coders


_EVENTS = {EVENTS.name: pb.Event, ACTIVITY.name: pb.ActivityEvent}
_MESSAGES: Mapping[str, contract.Message] = {
    message.name: message
    for message in (IDENTITY, *(operation.message for operation in OPERATIONS.values()))
    if hasattr(pb, f"{capitals(message.name)}Request")
}
GENERATED = frozenset(map(capitals, _MESSAGES))  # the names of the methods of `protos/orch.proto`


@cache
def method_named(message: str) -> Method:
    """How the message of that name travels; KeyError for one that the .proto has not."""
    described, name = _MESSAGES[message], capitals(message)
    request = getattr(pb, f"{name}Request")
    reply = _EVENTS[message] if described.is_stream else getattr(pb, f"{name}Reply")
    if message == ECHO.name:
        request_coders, answered = (_pack_echo(request), _unpack_echo), (_pack_echo(reply), _unpack_echo)
    else:
        request_coders, answered = _coders(request, described.request), _coders(reply, described.reply)
    return Method(
        name=name,
        request=request,
        reply=reply,
        pack_request=request_coders[0],
        unpack_request=request_coders[1],
        pack_reply=answered[0],
        unpack_reply=answered[1],
        is_stream=described.is_stream,
    )


def methods() -> Mapping[str, Method]:
    """How each operation whose message the .proto has travels, by the operation's name."""
    messages = {operation: message_named(operation).name for operation in (IDENTITY.name, *OPERATIONS)}
    return {
        operation: named(method_named(message), operation)
        for operation, message in messages.items()
        if message in _MESSAGES
    }


def named(method: Method, operation: str) -> Method:
    """The method under the name that an operation has there."""
    name = capitals(operation)
    return method if method.name == name else replace(method, name=name)


def method_for(operation: str, example: Request, typed: Method | None = None) -> Method:
    """The operation's method, once it is sure that the example survives the wire.

    CallFailed when it does not: a document may hold what no double can carry, and an ordinary integer field has 32 bits.
    """
    chosen = typed or named(method_named(message_named(operation).name), operation)
    try:
        if "document" in example:
            json_text(example["document"])  # a double can be NaN, a JSON value cannot
        message = chosen.pack_request(example)
        arrived = type(message).FromString(message.SerializeToString())
        changed = "document" in example and chosen.unpack_request(arrived)["document"] != example["document"]
    except (TypeError, ValueError, RecursionError, DecodeError) as error:
        raise CallFailed("protocol", f"Protocol Buffers cannot carry this {operation} request: {error}") from error
    if changed:
        raise CallFailed(
            "protocol",
            "Protocol Buffers carry a document's numbers as doubles, which change one of these (an integer beyond 2^53?); "
            "put such numbers into strings, or leave this stack out",
        )
    return chosen


def coder(kind: Any, pack: Callable[..., Message], unpack: Callable[[Message], dict[str, Any]]) -> Coder:
    """How messages of this class are written from plain values, and read."""
    parse = kind.FromString
    return Coder(
        write=lambda fields: bytes(pack(fields).SerializeToString()),
        read=lambda body: unpack(parse(body)),
        parse=parse,
        value=unpack,
    )


def request_coder(method: Method) -> Coder:
    """How requests of a method are written and read by themselves."""
    return coder(method.request, method.pack_request, method.unpack_request)


def reply_coder(method: Method) -> Coder:
    """How its replies are."""
    return coder(method.reply, method.pack_reply, method.unpack_reply)


CODEC = Codec(
    media_type="application/protobuf",
    request=lambda form: request_coder(method_named(form.partition("/")[0])),
    reply=lambda form: reply_coder(method_named(form.partition("/")[0])),
    errors=(DecodeError, ValueError),
    schemas=frozenset(form for message in _MESSAGES.values() if not message.is_stream for form in message.forms()),
    require=method_for,
)
"""The messages of gRPC by themselves, for whoever carries them otherwise."""
