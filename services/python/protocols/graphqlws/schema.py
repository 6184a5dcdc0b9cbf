"""The GraphQL schema of subscriptions, as Strawberry makes it from types and resolvers.

`protos/subscriptions.graphql` is generated from here:
`python -m services.python.protocols.graphqlws.schema protos/subscriptions.graphql`.
"""

# mypy: disallow-untyped-decorators=False
# Strawberry types its `field(...)` as Any.

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Any, NewType, TypedDict

import strawberry
from strawberry.schema.config import StrawberryConfig

from services.python.contract.messages import ACTIVITY, EVENTS
from services.python.operations import OPERATIONS, message_named
from services.python.serve.dispatcher import Dispatcher, Peer


class Context(TypedDict):
    """What a resolver is given: who answers, and who asked."""

    dispatcher: Dispatcher
    peer: Peer


Info = strawberry.Info[Context, None]
Long = NewType("Long", int)


def _whole(value: Any) -> int:
    if type(value) is not int:
        raise ValueError(f"a Long is a whole number, not {value!r:.60}")
    return value


_CONFIG = StrawberryConfig(
    scalar_map={
        Long: strawberry.scalar(name="Long", description="An integer of 64 bits.", serialize=_whole, parse_value=_whole)
    }
)


@strawberry.type(description="One event of a stream.")
class Event:
    """One event of a stream."""

    sequence: Long
    sent_ns: Long
    data: str


@strawberry.type(description="One transaction of the table, as an event of a stream.")
class ActivityEvent:
    """One transaction of the table, as an event of a stream."""

    sequence: Long
    sent_ns: Long
    transaction: int
    payer: int
    payee: int
    amount: int


@strawberry.type(description="Who answers.")
class Query:
    """Who answers."""

    @strawberry.field(description="The nonce that the responder was started with.")
    def identity(self, info: Info) -> str:
        """The nonce that the responder was started with."""
        return str(info.context["dispatcher"].answer("identity", {}, info.context["peer"])["identity"])


def _events(operation: str) -> Callable[..., AsyncGenerator[Event, None]]:
    async def resolve(info: Info, interval_ns: Long, count: Long, size: int, seed: Long) -> AsyncGenerator[Event, None]:
        request = {"interval_ns": interval_ns, "count": count, "size": size, "seed": seed}
        outgoing = info.context["dispatcher"].subscribe(operation, request, info.context["peer"])
        async with aclosing(outgoing.awaited()) as events:
            async for event in events:
                yield Event(**event)

    return resolve


def _activity(operation: str) -> Callable[..., AsyncGenerator[ActivityEvent, None]]:
    async def resolve(info: Info, interval_ns: Long, count: Long, after: int) -> AsyncGenerator[ActivityEvent, None]:
        request = {"interval_ns": interval_ns, "count": count, "after": after}
        outgoing = info.context["dispatcher"].subscribe(operation, request, info.context["peer"])
        async with aclosing(outgoing.awaited()) as events:
            async for event in events:
                yield ActivityEvent(**event)

    return resolve


_STREAMS: Mapping[str, tuple[Callable[[str], Callable[..., AsyncGenerator[Any, None]]], str]] = {
    EVENTS.name: (_events, "The events."),
    ACTIVITY.name: (_activity, "The transactions that follow a number, and behind the last one the first again."),
}
"""Of each message, what makes a resolver of an operation with it, and what is told of the one of its own name."""


def subscription(operations: Iterable[str] = tuple(OPERATIONS)) -> type:
    """The type with a field for each of these operations whose message is one of a stream."""
    fields: dict[str, Any] = {}
    for operation in operations:
        message = message_named(operation).name
        if message in _STREAMS:
            resolver, description = _STREAMS[message]
            described = description if operation == message else f"The events of {operation}."
            fields[operation] = strawberry.subscription(resolver(operation), description=described)
    return strawberry.type(type("Subscription", (), fields), description="The streams.")


def make_schema(operations: Iterable[str] = tuple(OPERATIONS)) -> strawberry.Schema:
    """The schema of these operations."""
    return strawberry.Schema(query=Query, subscription=subscription(operations), config=_CONFIG)


def contract() -> strawberry.Schema:
    """The schema of the messages: each with the operation of its own name."""
    return make_schema(tuple(_STREAMS))


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(contract().as_str() + "\n", encoding="utf-8")
