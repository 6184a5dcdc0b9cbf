"""What is particular to GraphQL; that it answers rightly is shown in tests/services/http."""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import pytest
import strawberry
from graphql import build_schema, parse, validate

from services.python.load.client import CallFailed
from services.python.protocols.graphql import PROTOCOL, responder
from services.python.protocols.graphql.cached_responder import cached_schema
from services.python.protocols.graphql.requester import route
from services.python.protocols.graphql.schema import contract, schema
from services.python.serve.dispatcher import Dispatcher

CONTRACT = Path(__file__).parents[4] / "protos/schema.graphql"
EXAMPLES = [
    ("identity", {}),
    ("timestamp", {"request_timestamp": "now"}),
    ("add", {"a": 1, "b": 2}),
    ("echo", {"data": b"\x00\xff"}),
    ("echo", {"records": []}),
    ("echo", {"document": {"a": [1]}}),
    ("image", {"data": b"\x89PNG", "full_decode": True}),
]


def test_the_contract_under_protos_is_current() -> None:
    wanted = contract().as_str() + "\n"
    hint = "generate it anew: python -m services.python.protocols.graphql.schema protos/schema.graphql"
    assert CONTRACT.read_text(encoding="utf-8") == wanted, hint


@pytest.mark.parametrize(("operation", "example"), EXAMPLES)
def test_every_query_is_valid_for_the_contract(operation: str, example: dict[str, object]) -> None:
    sent = json.loads(route(operation, example).encode(example))
    assert validate(build_schema(CONTRACT.read_text(encoding="utf-8")), parse(sent["query"])) == []


def test_errors_in_a_reply_are_errors_of_the_protocol_whatever_the_http_status() -> None:
    reply = b'{"data": null, "errors": [{"message": "no such picture"}]}'
    with pytest.raises(CallFailed, match="no such picture") as failure:
        route("add", {"a": 1, "b": 2}).read(200, reply)
    assert failure.value.status == "protocol"


@strawberry.type
class Person:
    """A user without posts."""

    name: str


@strawberry.type
class Elsewhere:
    """The query type of a service with a schema of its own."""

    @strawberry.field
    def feed(self, user: int) -> Person:
        raise ValueError(f"user {user} is on holiday")


@pytest.mark.parametrize("status", [200, 400])
@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("", "the service refuses the query: Cannot query field 'user' on type 'Person'; Cannot query field 'about'"),
        ("query($user: Int!) { feed(user: $user) { name } }", "GraphQL errors: user 7 is on holiday"),
    ],
)
def test_a_query_that_a_schema_refuses_fails_with_the_cause(status: int, query: str, told: str) -> None:
    page = {"user": 7, "count": 10, "each": 5}
    asked = route("feed", page)
    sent = json.loads(asked.encode(page))
    result = strawberry.Schema(query=Elsewhere).execute_sync(query or sent["query"], {"user": 7})
    body = {"data": result.data, "errors": [error.formatted for error in result.errors or ()]}
    with pytest.raises(CallFailed) as failure:
        asked.read(status, json.dumps(body).encode())
    assert failure.value.status == "protocol"
    assert told in failure.value.detail
    assert failure.value.detail.startswith("HTTP 400: " if status == 400 else told)


@pytest.mark.parametrize(
    "reply",
    [b"[]", b"{}", b'{"data": null}', b'{"data": {}}', b'{"data": {"echoData": "?"}}', b'{"data": {"echoData": 1}}'],
)
def test_a_reply_without_the_field_is_undecodable(reply: bytes) -> None:
    with pytest.raises(CallFailed) as failure:
        route("echo", {"data": b""}).read(200, reply)
    assert failure.value.status == "undecodable"


@pytest.mark.parametrize(
    ("served", "name", "parsed"), [(schema, "strawberry", 3), (cached_schema(), "strawberry-cached", 1)]
)
def test_what_the_catalogue_says_of_parsing_and_validating_is_so(
    served: strawberry.Schema, name: str, parsed: int
) -> None:
    """Three equal queries, the calls of graphql-core's parser and validator counted."""
    calls: Counter[str] = Counter()

    def count(frame: Any, event: str, _argument: object) -> None:
        if event == "call" and frame.f_code in (parse.__code__, validate.__code__):
            calls[frame.f_code.co_name] += 1

    async def ask_three_times() -> list[int]:
        transport = httpx.ASGITransport(app=responder.application(Dispatcher(identity="me"), served))
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
            add = route("add", {"a": 1, "b": 2})
            asked = [add.encode({"a": a, "b": 0}) for a in range(3)]
            replies = [await client.post("/graphql", content=body, headers=add.fields()) for body in asked]
        return [add.decode(reply.content) for reply in replies]

    sys.setprofile(count)
    try:
        assert asyncio.run(ask_three_times()) == [0, 1, 2]
    finally:
        sys.setprofile(None)
    assert calls == {"parse": parsed, "validate": parsed}
    assert bool(PROTOCOL.responder(name).adds) == (parsed == 3)
