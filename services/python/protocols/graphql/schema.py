"""The GraphQL schema, as Strawberry makes it from types and resolvers.

`protos/schema.graphql` is generated from here: `python -m services.python.protocols.graphql.schema protos/schema.graphql`.
"""

# mypy: disallow-untyped-decorators=False
# Strawberry types its `field(...)` as Any.

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypedDict, TypeVar, cast

import strawberry
from strawberry.scalars import JSON, Base64

from services.python.contract.messages import FEED
from services.python.operations import OPERATIONS, message_named
from services.python.operations.posts import STEPS
from services.python.serve.dispatcher import Dispatcher, Peer


class CommentLoader(Protocol):
    """Gathers what the posts of a page ask for, and asks the store once (strawberry's DataLoader)."""

    def load(self, key: tuple[int, int]) -> Awaitable[list[dict[str, Any]]]:
        """The comments under a post, at most so many: `(post, each)`."""


class Context(TypedDict):
    """What a resolver is given: who answers, who asked, and by what it asks for the comments under several posts at once."""

    dispatcher: Dispatcher
    peer: Peer
    comments: CommentLoader | None


Info = strawberry.Info[Context, None]


@strawberry.type(description="Both ends' stamps, ISO 8601 in UTC with microseconds.")
class Timestamps:
    """Both ends' stamps."""

    request_timestamp: str
    response_timestamp: str


@strawberry.type(description="One record, as it came.")
class Record:
    """One record, as it came."""

    id: int
    name: str
    value: float
    active: bool
    tags: list[str]


@strawberry.input(description="One record of an echo.")
class RecordInput:
    """One record of an echo."""

    id: int
    name: str
    value: float
    active: bool
    tags: list[str]


@strawberry.type(description="A picture's size in pixels.")
class Size:
    """A picture's size in pixels."""

    width: int
    height: int


@strawberry.type(description="An account; its balance is in cents.")
class Account:
    """An account; its balance is in cents."""

    account: int
    owner: str
    balance: int


@strawberry.type(description="What came of a payment: its number, 0 where it was declined, and the payer's balance.")
class Paid:
    """What came of a payment."""

    accepted: bool
    payment: int
    balance: int


@strawberry.type(description="A transaction; its amount is in cents.")
class Transaction:
    """A transaction; its amount is in cents."""

    number: int
    payer: int
    payee: int
    amount: int


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
        """A query for this post alone, or with those for others of the same page."""
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
        """One query."""
        request = {"user": self.user, "count": count}
        reply = info.context["dispatcher"].step_async(FEED.name, STEPS["posts"], request)
        read = partial(_rows, Post, "posts")
        return cast(list[Post], read(reply) if isinstance(reply, dict) else _later(reply, read))


Resolver = Callable[..., Any]
Field = tuple[str, str, Resolver]  # what follows the operation in its name, its description, what answers it

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


def _identity(operation: str) -> Iterator[Field]:
    def resolve(info: Info) -> str:
        return cast(str, _answered(info, operation, {}, lambda reply: str(reply["identity"])))

    yield "", "The nonce that the responder was started with.", resolve


def _timestamp(operation: str) -> Iterator[Field]:
    def resolve(info: Info, request_timestamp: str) -> Timestamps:
        request = {"request_timestamp": request_timestamp}
        return cast(Timestamps, _answered(info, operation, request, lambda reply: Timestamps(**reply)))

    yield "", "The request's stamp, and the responder's own.", resolve


def _add(operation: str) -> Iterator[Field]:
    def resolve(info: Info, a: int, b: int) -> int:
        return cast(int, _answered(info, operation, {"a": a, "b": b}, lambda reply: int(reply["sum"])))

    yield "", "The sum of two 32-bit integers.", resolve


def _echo(operation: str) -> Iterator[Field]:
    def data(info: Info, data: Base64) -> Base64:
        return cast(Base64, _answered(info, operation, {"data": data}, lambda reply: Base64(reply["data"])))

    def records(info: Info, records: list[RecordInput]) -> list[Record]:
        return cast(list[Record], _answered(info, operation, {"records": records}, lambda reply: reply["records"]))

    def document(info: Info, document: JSON | None = None) -> JSON | None:
        answered = _answered(info, operation, {"document": document}, lambda reply: reply["document"])
        return cast("JSON | None", answered)

    yield "_data", "Bytes, sent back as they came.", data
    yield "_records", "Records, sent back as they came.", records
    yield "_document", "Any JSON value, sent back as it came.", document


def _image(operation: str) -> Iterator[Field]:
    def resolve(info: Info, data: Base64, full_decode: bool) -> Size:
        request = {"data": data, "full_decode": full_decode}
        return cast(Size, _answered(info, operation, request, lambda reply: Size(**reply)))

    yield "", "The size of a picture; full_decode decodes every pixel, not only the header.", resolve


def _transfer(operation: str) -> Iterator[Field]:
    def resolve(info: Info, data: Base64, reply_size: int) -> Base64:
        request = {"data": data, "reply_size": reply_size}
        return cast(Base64, _answered(info, operation, request, lambda reply: Base64(reply["data"])))

    yield "", "Known bytes in, so many known bytes out.", resolve


def _balance(operation: str) -> Iterator[Field]:
    def resolve(info: Info, account: int) -> Account:
        return cast(Account, _answered(info, operation, {"account": account}, lambda reply: Account(**reply)))

    yield "", "An account.", resolve


def _payment(operation: str) -> Iterator[Field]:
    def resolve(info: Info, payer: int, payee: int, amount: int) -> Paid:
        request = {"payer": payer, "payee": payee, "amount": amount}
        return cast(Paid, _answered(info, operation, request, lambda reply: Paid(**reply)))

    yield "", "Moves so many cents from one account to another.", resolve


def _transactions(operation: str) -> Iterator[Field]:
    def resolve(info: Info, account: int, count: int) -> list[Transaction]:
        def read(reply: dict[str, Any]) -> list[Transaction]:
            return [Transaction(**row) for row in reply["transactions"]]

        return cast(list[Transaction], _answered(info, operation, {"account": account, "count": count}, read))

    yield "", "The last transactions that an account paid, newest first.", resolve


def _accounts(operation: str) -> Iterator[Field]:
    def resolve(info: Info, after: int, count: int) -> list[Account]:
        def read(reply: dict[str, Any]) -> list[Account]:
            return [Account(**row) for row in reply["accounts"]]

        return cast(list[Account], _answered(info, operation, {"after": after, "count": count}, read))

    yield "", "The accounts that follow a number.", resolve


def _rows(kind: Callable[..., Answered], name: str, reply: Mapping[str, Any]) -> list[Answered]:
    return [kind(**row) for row in reply[name]]


def _comments_of(rows: list[dict[str, Any]]) -> list[Comment]:
    return [Comment(**row) for row in rows]


def _user(operation: str) -> Iterator[Field]:
    def resolve(info: Info, user: int) -> User:
        return cast(User, _answered(info, operation, {"user": user}, lambda reply: User(**reply)))

    yield "", "A user.", resolve


def _posts(operation: str) -> Iterator[Field]:
    def resolve(info: Info, user: int, count: int) -> list[Post]:
        request = {"user": user, "count": count}
        return cast(list[Post], _answered(info, operation, request, partial(_rows, Post, "posts")))

    yield "", "The last posts of a user, newest first.", resolve


def _comments(operation: str) -> Iterator[Field]:
    def resolve(info: Info, user: int, count: int, each: int) -> list[Comment]:
        request = {"user": user, "count": count, "each": each}
        return cast(list[Comment], _answered(info, operation, request, partial(_rows, Comment, "comments")))

    yield "", "At most so many comments under each of a user's last posts.", resolve


def _feed(operation: str) -> Iterator[Field]:
    def resolve(info: Info, user: int) -> User:
        context = info.context
        reply = context["dispatcher"].step_async(operation, STEPS["user"], {"user": user}, context["peer"])
        return cast(User, _to_user(reply) if isinstance(reply, dict) else _later(reply, _to_user))

    yield "", "A user, with whatever a query selects of the posts, and of the comments under them.", resolve


def _to_user(reply: dict[str, Any]) -> User:
    return User(**reply)


_FIELDS: Mapping[str, Callable[[str], Iterator[Field]]] = {
    "identity": _identity,
    "timestamp": _timestamp,
    "add": _add,
    "echo": _echo,
    "image": _image,
    "transfer": _transfer,
    "balance": _balance,
    "payment": _payment,
    "transactions": _transactions,
    "accounts": _accounts,
    "user": _user,
    "posts": _posts,
    "comments": _comments,
    "feed": _feed,
}


def query(operations: Iterable[str] = ("identity", *OPERATIONS)) -> type:
    """The type with a field for each form of these operations' messages, where it is a message of this schema."""
    found: dict[str, Any] = {}
    for operation in operations:
        message = message_named(operation).name
        for suffix, description, resolver in _FIELDS[message](operation) if message in _FIELDS else ():
            told = description if operation == message else f"The operation {operation}, asked as {message} is."
            found[f"{operation}{suffix}"] = strawberry.field(resolver, description=told)
    return strawberry.type(type("Query", (), found), description="The operations.")


def contract() -> strawberry.Schema:
    """The schema of the messages: each with the operation of its own name."""
    return strawberry.Schema(query=query(_FIELDS))


schema = strawberry.Schema(query=query())


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(contract().as_str() + "\n", encoding="utf-8")
