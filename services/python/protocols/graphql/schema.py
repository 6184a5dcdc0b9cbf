"""The GraphQL schema, as Strawberry makes it from types and resolvers.

`protos/schema.graphql` is generated from here: `python -m services.python.protocols.graphql.schema protos/schema.graphql`.
"""

# mypy: disallow-untyped-decorators=False
# Strawberry types its `field(...)` as Any.

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from inspect import Parameter, Signature
from operator import itemgetter
from pathlib import Path
from typing import Any, TypedDict, TypeVar, cast, get_args

import strawberry
from strawberry.dataloader import DataLoader
from strawberry.scalars import JSON, Base64

from services.python.contract.messages import BALANCE, FEED, IMAGE, PAYMENT, ROWS, TIMESTAMP, Field
from services.python.operations import OPERATIONS, forms, message_named
from services.python.operations.posts import STEPS
from services.python.serve.dispatcher import Dispatcher, Peer


class Context(TypedDict):
    """What a resolver is given: who answers, who asked, and by what it asks for the comments under several posts at once."""

    dispatcher: Dispatcher
    peer: Peer
    comments: DataLoader[tuple[int, int], list[dict[str, Any]]] | None


Info = strawberry.Info[Context, None]


_SCALARS: Mapping[Field, Any] = {
    "text": str,
    "integer": int,
    "number": float,
    "flag": bool,
    "bytes": Base64,
    "document": JSON | None,
}
_listed: Any = list.__class_getitem__
_RECORD = {"id": int, "name": str, "value": float, "active": bool, "tags": list[str]}


def _object(name: str, fields: Mapping[str, Field], description: str) -> Any:
    return _typed(name, {field: _SCALARS[kind] for field, kind in fields.items()}, strawberry.type, description)


def _typed(name: str, fields: Mapping[str, Any], make: Any, description: str) -> Any:
    return make(type(name, (), {"__annotations__": fields}), description=description)


Timestamps = _object("Timestamps", TIMESTAMP.reply, "Both ends' stamps, ISO 8601 in UTC with microseconds.")
Record = _typed("Record", _RECORD, strawberry.type, "One record, as it came.")
RecordInput = _typed("RecordInput", _RECORD, strawberry.input, "One record of an echo.")
Size = _object("Size", IMAGE.reply, "A picture's size in pixels.")
Account = _object("Account", BALANCE.reply, "An account; its balance is in cents.")
Paid = _object(
    "Paid", PAYMENT.reply, "What came of a payment: its number, 0 where it was declined, and the payer's balance."
)
Transaction = _object("Transaction", ROWS["transactions"], "A transaction; its amount is in cents.")


@strawberry.type(description="A comment under a post.")
class Comment:
    """A comment under a post."""

    comment: int
    post: int
    author: int
    text: str


@strawberry.type(description="A user's post.")
class Post:
    """A user's post."""

    post: int
    author: int
    title: str
    text: str
    likes: int

    @strawberry.field(description="The last comments under it, newest first, at most so many.")
    def comments(self, info: Info, each: int) -> list[Comment]:
        if (loader := info.context["comments"]) is not None:
            return cast(list[Comment], _later(loader.load((self.post, each)), _comments_of))
        request = {"posts": [self.post], "each": each}
        reply = info.context["dispatcher"].step_async(FEED.name, STEPS["under"], request)
        read = partial(_rows, Comment, "comments")
        return cast(list[Comment], read(reply) if isinstance(reply, dict) else _later(reply, read))


@strawberry.type(description="A user; joined is in days since 1970.")
class User:
    """A user; joined is in days since 1970."""

    user: int
    name: str
    about: str
    joined: int

    @strawberry.field(description="The user's last posts, newest first, at most so many.")
    def posts(self, info: Info, count: int) -> list[Post]:
        request = {"user": self.user, "count": count}
        reply = info.context["dispatcher"].step_async(FEED.name, STEPS["posts"], request)
        read = partial(_rows, Post, "posts")
        return cast(list[Post], read(reply) if isinstance(reply, dict) else _later(reply, read))


Answered = TypeVar("Answered")
Reply = TypeVar("Reply")


def _answered(
    info: Info, operation: str, request: Mapping[str, Any], read: Callable[[dict[str, Any]], Answered]
) -> Answered | Awaitable[Answered]:
    """What `read` makes of the dispatcher's reply: at once, or to be awaited, which GraphQL's executor does."""
    reply = info.context["dispatcher"].answer_async(operation, request, info.context["peer"])
    return read(reply) if isinstance(reply, dict) else _later(reply, read)


async def _later(reply: Awaitable[Reply], read: Callable[[Reply], Answered]) -> Answered:
    return read(await reply)


def _rows(kind: Callable[..., Answered], name: str, reply: Mapping[str, Any]) -> list[Answered]:
    return [kind(**row) for row in reply[name]]


def _comments_of(rows: list[dict[str, Any]]) -> list[Comment]:
    return [Comment(**row) for row in rows]


@dataclass(frozen=True)
class _Form:
    """A field of the query: its operation and form, its description, its type, how it is read, its arguments' types."""

    name: str
    description: str
    type: Any
    read: Callable[[dict[str, Any]], Any]
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def resolver(self, operation: str) -> Callable[..., Any]:
        read = self.read

        def resolve(info: Info, **request: Any) -> Any:
            return _answered(info, operation, request, read)

        return _signed(resolve, self.type, self.arguments)


def _signed(resolve: Callable[..., Any], returned: Any, arguments: Mapping[str, Any]) -> Callable[..., Any]:
    """Give a resolver these types; an argument that may be null may be left out."""
    every = [
        Parameter(
            name,
            Parameter.KEYWORD_ONLY,
            annotation=kind,
            default=None if type(None) in get_args(kind) else Parameter.empty,
        )
        for name, kind in {"info": Info, **arguments}.items()
    ]
    resolve.__annotations__ = {"info": Info, **arguments, "return": returned}
    resolve.__signature__ = Signature(every, return_annotation=returned)  # type: ignore[attr-defined]
    return resolve


class _Feed(_Form):
    """The user of a page, whose posts and comments are asked for as far as a query selects them."""

    def resolver(self, operation: str) -> Callable[..., Any]:
        """See `_Form`; the store is asked for the user alone."""

        def resolve(info: Info, user: int) -> Any:
            context = info.context
            reply = context["dispatcher"].step_async(operation, STEPS["user"], {"user": user}, context["peer"])
            return self.read(reply) if isinstance(reply, dict) else _later(reply, self.read)

        return _signed(resolve, self.type, self.arguments)


_OBJECTS = {"timestamp": Timestamps, "image": Size, "balance": Account, "payment": Paid, "user": User}
_ROWS: Mapping[Field, Any] = {
    "records": Record,
    "accounts": Account,
    "transactions": Transaction,
    "posts": Post,
    "comments": Comment,
}
_DESCRIBED = {
    "identity": "The nonce that the responder was started with.",
    "timestamp": "The request's stamp, and the responder's own.",
    "add": "The sum of two 32-bit integers.",
    "echo_data": "Bytes, sent back as they came.",
    "echo_records": "Records, sent back as they came.",
    "echo_document": "Any JSON value, sent back as it came.",
    "image": "The size of a picture; full_decode decodes every pixel, not only the header.",
    "transfer": "Known bytes in, so many known bytes out.",
    "balance": "An account.",
    "payment": "Moves so many cents from one account to another.",
    "transactions": "The last transactions that an account paid, newest first.",
    "accounts": "The accounts that follow a number.",
    "user": "A user.",
    "posts": "The last posts of a user, newest first.",
    "comments": "At most so many comments under each of a user's last posts.",
}


def _form(name: str) -> _Form:
    """The field of that name: one type for a reply of several fields, else that of the only one."""
    message = forms()[name.replace("_", "/")]
    arguments = {
        field: _listed(RecordInput) if kind == "records" else _SCALARS[kind] for field, kind in message.request.items()
    }
    (field, kind), *_ = message.reply.items()
    returned: Any = _SCALARS.get(kind) or _listed(_ROWS[kind])
    read: Callable[[dict[str, Any]], Any] = itemgetter(field)
    if name in _OBJECTS:
        returned, read = _OBJECTS[name], partial(_made, _OBJECTS[name])
    elif kind in ROWS:
        read = partial(_rows, _ROWS[kind], field)
    return _Form(name, _DESCRIBED[name], returned, read, arguments)


def _made(kind: Callable[..., Answered], reply: dict[str, Any]) -> Answered:
    return kind(**reply)


_FORMS = (
    *map(_form, _DESCRIBED),
    _Feed(
        "feed",
        "A user, with whatever a query selects of the posts, and of the comments under them.",
        User,
        partial(_made, User),
        {"user": int},
    ),
)
"""Every field, in the order of the schema."""


def query(operations: Iterable[str] = ("identity", *OPERATIONS)) -> type:
    """The type with a field for each form of these operations' messages, where it is a message of this schema."""
    fields: dict[str, Any] = {}
    for operation in operations:
        message = message_named(operation).name
        for form in _FORMS:
            if form.name.partition("_")[0] == message:
                described = f"The operation {operation}, asked as {message} is."
                name = operation + form.name.removeprefix(message)
                description = form.description if operation == message else described
                fields[name] = strawberry.field(form.resolver(operation), description=description)
    return strawberry.type(type("Query", (), fields), description="The operations.")


def contract() -> strawberry.Schema:
    """The schema of the messages: each with the operation of its own name."""
    return strawberry.Schema(query=query(form.name.partition("_")[0] for form in _FORMS))


schema = strawberry.Schema(query=query())


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(contract().as_str() + "\n", encoding="utf-8")
