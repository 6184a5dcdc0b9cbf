"""The GraphQL schema, as Strawberry makes it from types and resolvers.

`protos/schema.graphql` is generated from here: `python -m services.python.protocols.graphql.schema protos/schema.graphql`.
"""

# mypy: disallow-untyped-decorators=False
# Strawberry types its `field(...)` as Any.

from __future__ import annotations

import sys
from pathlib import Path
from typing import TypedDict, cast

import strawberry
from strawberry.scalars import JSON, Base64

from services.python.serve.dispatcher import Dispatcher, Peer


class Context(TypedDict):
    """What a resolver is given: who answers, and who asked."""

    dispatcher: Dispatcher
    peer: Peer


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


@strawberry.type(description="The operations.")
class Query:
    """The operations; each is handed to the dispatcher."""

    @strawberry.field(description="The nonce that the responder was started with.")
    def identity(self, info: Info) -> str:
        """See `serve.dispatcher`."""
        return str(info.context["dispatcher"].answer("identity", {}, info.context["peer"])["identity"])

    @strawberry.field(description="The request's stamp, and the responder's own.")
    def timestamp(self, info: Info, request_timestamp: str) -> Timestamps:
        """See `operations.timestamp`."""
        request = {"request_timestamp": request_timestamp}
        return Timestamps(**info.context["dispatcher"].answer("timestamp", request, info.context["peer"]))

    @strawberry.field(description="The sum of two 32-bit integers.")
    def add(self, info: Info, a: int, b: int) -> int:
        """See `operations.add`."""
        return int(info.context["dispatcher"].answer("add", {"a": a, "b": b}, info.context["peer"])["sum"])

    @strawberry.field(description="Bytes, sent back as they came.")
    def echo_data(self, info: Info, data: Base64) -> Base64:
        """See `operations.echo`."""
        return Base64(info.context["dispatcher"].answer("echo", {"data": data}, info.context["peer"])["data"])

    @strawberry.field(description="Records, sent back as they came.")
    def echo_records(self, info: Info, records: list[RecordInput]) -> list[Record]:
        """See `operations.echo`."""
        reply = info.context["dispatcher"].answer("echo", {"records": records}, info.context["peer"])
        return cast(list[Record], reply["records"])

    @strawberry.field(description="Any JSON value, sent back as it came.")
    def echo_document(self, info: Info, document: JSON | None = None) -> JSON | None:
        """See `operations.echo`."""
        reply = info.context["dispatcher"].answer("echo", {"document": document}, info.context["peer"])
        return cast("JSON | None", reply["document"])

    @strawberry.field(description="The size of a picture; full_decode decodes every pixel, not only the header.")
    async def image(self, info: Info, data: Base64, full_decode: bool) -> Size:
        """See `operations.image`."""
        request = {"data": data, "full_decode": full_decode}
        reply = info.context["dispatcher"].answer_async("image", request, info.context["peer"])
        return Size(**(reply if isinstance(reply, dict) else await reply))


schema = strawberry.Schema(query=Query)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(schema.as_str() + "\n", encoding="utf-8")
