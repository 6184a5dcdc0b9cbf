"""From plain values to Protocol Buffers messages and back, one `Method` for each message.

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
from services.python.contract.messages import ECHO, capitals
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
    """Makes an EchoRequest or an EchoReply: both have the same fields."""

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


def _echoed_unread(request: Message) -> dict[str, Any]:
    content = request.WhichOneof("content")
    return {content: getattr(request, content)} if content else {}


def _unpack_account(row: Message) -> dict[str, Any]:
    return {"account": row.account, "owner": row.owner, "balance": row.balance}


def _unpack_user(message: Message) -> dict[str, Any]:
    return {"user": message.user, "name": message.name, "about": message.about, "joined": message.joined}


def _unpack_posts(rows: Message) -> list[dict[str, Any]]:
    return [
        {"post": row.post, "author": row.author, "title": row.title, "text": row.text, "likes": row.likes}
        for row in rows
    ]


def _unpack_comments(rows: Message) -> list[dict[str, Any]]:
    return [{"comment": row.comment, "post": row.post, "author": row.author, "text": row.text} for row in rows]


def _unpack_page(message: Message) -> dict[str, Any]:
    return {"user": message.user, "count": message.count, "each": message.each}


def _method(
    name: str,
    *,
    unpack_request: Callable[[Message], dict[str, Any]],
    unpack_reply: Callable[[Message], dict[str, Any]],
    pack_request: Callable[[Request], Message] | None = None,
    pack_reply: Callable[[Mapping[str, Any]], Message] | None = None,
) -> Method:
    """The method of that name; a message that is not packed otherwise has the fields of the plain values."""
    request, reply = getattr(pb, f"{name}Request"), getattr(pb, f"{name}Reply")
    return Method(
        name=name,
        request=request,
        reply=reply,
        pack_request=pack_request or (lambda fields: request(**fields)),
        unpack_request=unpack_request,
        pack_reply=pack_reply or (lambda fields: reply(**fields)),
        unpack_reply=unpack_reply,
    )


METHODS: Mapping[str, Method] = {
    "timestamp": _method(
        "Timestamp",
        pack_request=lambda request: pb.TimestampRequest(request_timestamp=request["request_timestamp"]),
        unpack_request=lambda message: {"request_timestamp": message.request_timestamp},
        unpack_reply=lambda message: {
            "request_timestamp": message.request_timestamp,
            "response_timestamp": message.response_timestamp,
        },
    ),
    "add": _method(
        "Add",
        pack_request=lambda request: pb.AddRequest(a=request["a"], b=request["b"]),
        unpack_request=lambda message: {"a": message.a, "b": message.b},
        unpack_reply=lambda message: {"sum": message.sum},
    ),
    "echo": _method(
        "Echo",
        pack_request=_pack_echo(pb.EchoRequest),
        unpack_request=_unpack_echo,
        pack_reply=_pack_echo(pb.EchoReply),
        unpack_reply=_unpack_echo,
    ),
    "image": _method(
        "Image",
        pack_request=lambda request: pb.ImageRequest(data=request["data"], full_decode=request["full_decode"]),
        unpack_request=lambda message: {"data": message.data, "full_decode": message.full_decode},
        unpack_reply=lambda message: {"width": message.width, "height": message.height},
    ),
    "transfer": _method(
        "Transfer",
        pack_request=lambda request: pb.TransferRequest(data=request["data"], reply_size=request["reply_size"]),
        unpack_request=lambda message: {"data": message.data, "reply_size": message.reply_size},
        pack_reply=lambda reply: pb.TransferReply(data=reply["data"]),
        unpack_reply=lambda message: {"data": message.data},
    ),
    "balance": _method(
        "Balance",
        pack_request=lambda request: pb.BalanceRequest(account=request["account"]),
        unpack_request=lambda message: {"account": message.account},
        unpack_reply=_unpack_account,
    ),
    "payment": _method(
        "Payment",
        unpack_request=lambda message: {"payer": message.payer, "payee": message.payee, "amount": message.amount},
        unpack_reply=lambda message: {
            "accepted": message.accepted,
            "payment": message.payment,
            "balance": message.balance,
        },
    ),
    "transactions": _method(
        "Transactions",
        unpack_request=lambda message: {"account": message.account, "count": message.count},
        unpack_reply=lambda message: {
            "transactions": [
                {"number": row.number, "payer": row.payer, "payee": row.payee, "amount": row.amount}
                for row in message.transactions
            ]
        },
    ),
    "accounts": _method(
        "Accounts",
        unpack_request=lambda message: {"after": message.after, "count": message.count},
        unpack_reply=lambda message: {"accounts": [_unpack_account(row) for row in message.accounts]},
    ),
    "user": _method(
        "User",
        pack_request=lambda request: pb.UserRequest(user=request["user"]),
        unpack_request=lambda message: {"user": message.user},
        unpack_reply=_unpack_user,
    ),
    "posts": _method(
        "Posts",
        unpack_request=lambda message: {"user": message.user, "count": message.count},
        unpack_reply=lambda message: {"posts": _unpack_posts(message.posts)},
    ),
    "comments": _method(
        "Comments",
        unpack_request=_unpack_page,
        unpack_reply=lambda message: {"comments": _unpack_comments(message.comments)},
    ),
    "feed": _method(
        "Feed",
        unpack_request=_unpack_page,
        unpack_reply=lambda message: {
            **_unpack_user(message),
            "posts": _unpack_posts(message.posts),
            "comments": _unpack_comments(message.comments),
        },
    ),
    "identity": _method(
        "Identity",
        pack_request=lambda _request: pb.IdentityRequest(),
        unpack_request=lambda _message: {},
        unpack_reply=lambda message: {"identity": message.identity},
    ),
}


STREAMS: Mapping[str, Method] = {
    "events": Method(
        name="Events",
        request=pb.EventsRequest,
        reply=pb.Event,
        is_stream=True,
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
    "activity": Method(
        name="Activity",
        request=pb.ActivityRequest,
        reply=pb.ActivityEvent,
        is_stream=True,
        pack_request=lambda request: pb.ActivityRequest(**request),
        unpack_request=lambda message: {
            "interval_ns": message.interval_ns,
            "count": message.count,
            "after": message.after,
        },
        pack_reply=lambda event: pb.ActivityEvent(**event),
        unpack_reply=lambda message: {
            "sequence": message.sequence,
            "sent_ns": message.sent_ns,
            "transaction": message.transaction,
            "payer": message.payer,
            "payee": message.payee,
            "amount": message.amount,
        },
    ),
}
"""The messages of streams."""


FORWARDING: Mapping[str, Method] = {
    **METHODS,
    "echo": replace(METHODS["echo"], unpack_request=_echoed_unread, pack_reply=lambda content: pb.EchoReply(**content)),
}
"""METHODS for a responder that puts the message it got into its reply, its fields unread."""


def methods(every: Mapping[str, Method] = METHODS) -> Mapping[str, Method]:
    """How each operation whose message there is travels, by the operation's name."""
    found = {operation: message_named(operation).name for operation in ("identity", *OPERATIONS)}
    return {operation: named(every[message], operation) for operation, message in found.items() if message in every}


def named(method: Method, operation: str) -> Method:
    """The method under the name that an operation has there."""
    name = capitals(operation)
    return method if method.name == name else replace(method, name=name)


def method_for(operation: str, example: Request, method: Method | None = None) -> Method:
    """The operation's method, once it is sure that the example survives the wire.

    CallFailed when it does not: a document may hold what no double can carry, and an ordinary integer field has 32 bits.
    """
    every = {**METHODS, **STREAMS}
    method = method or named(every[message_named(operation).name], operation)
    try:
        if "document" in example:
            json_text(example["document"])  # a double can be NaN, a JSON value cannot
        message = method.pack_request(example)
        arrived = type(message).FromString(message.SerializeToString())
        changed = "document" in example and method.unpack_request(arrived)["document"] != example["document"]
    except (TypeError, ValueError, RecursionError, DecodeError) as error:
        raise CallFailed("protocol", f"Protocol Buffers cannot carry this {operation} request: {error}") from error
    if changed:
        raise CallFailed(
            "protocol",
            "Protocol Buffers carry a document's numbers as doubles, which change one of these (an integer beyond 2^53?); "
            "put such numbers into strings, or leave this stack out",
        )
    return method


def coder(kind: Any, pack: Callable[..., Message], unpack: Callable[[Message], dict[str, Any]]) -> Coder:
    """How messages of this class are written from plain values, and read."""
    parse = kind.FromString
    return Coder(
        write=lambda fields: bytes(pack(fields).SerializeToString()),
        read=lambda body: unpack(parse(body)),
        parse=parse,
        value=unpack,
    )


def _request(message: str) -> Coder:
    method = METHODS[message.partition("/")[0]]
    return coder(method.request, method.pack_request, method.unpack_request)


def _reply(message: str) -> Coder:
    method = METHODS[message.partition("/")[0]]
    return coder(method.reply, method.pack_reply, method.unpack_reply)


CODEC = Codec(
    media_type="application/protobuf",
    request=_request,
    reply=_reply,
    errors=(DecodeError, ValueError),
    schemas=frozenset(METHODS.keys() - {ECHO.name} | ECHO.forms().keys()),
    require=method_for,
)
"""The messages of gRPC by themselves, for whoever carries them otherwise."""
