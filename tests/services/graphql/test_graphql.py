"""What is particular to GraphQL; that it answers rightly is shown in tests/services/http."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from graphql import build_schema, parse, validate

from services.graphql.requester import route
from services.graphql.schema import schema
from services.harness.client_api import CallFailed

CONTRACT = Path(__file__).parents[3] / "protos/schema.graphql"
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
    wanted = schema.as_str() + "\n"
    hint = "generate it anew: python -m services.graphql.schema protos/schema.graphql"
    assert CONTRACT.read_text(encoding="utf-8") == wanted, hint


@pytest.mark.parametrize(("operation", "example"), EXAMPLES)
def test_every_query_is_valid_for_the_contract(operation: str, example: dict[str, object]) -> None:
    sent = json.loads(route(operation, example).encode(example))
    assert validate(build_schema(CONTRACT.read_text(encoding="utf-8")), parse(sent["query"])) == []


def test_the_query_text_goes_out_with_every_request_and_values_only_as_variables() -> None:
    add = route("add", {"a": 1, "b": 2})
    first, second = (json.loads(add.encode({"a": a, "b": 0})) for a in (17, 18))
    assert first["query"] == second["query"]
    assert [sent["variables"]["a"] for sent in (first, second)] == [17, 18]


def test_bytes_travel_as_base64() -> None:
    echo = route("echo", {"data": b""})
    assert json.loads(echo.encode({"data": b"\x00\xff"}))["variables"] == {"data": "AP8="}
    assert echo.value(echo.read(200, b'{"data": {"echoData": "AP8="}}')) == {"data": b"\x00\xff"}


def test_errors_in_a_reply_are_errors_of_the_protocol_whatever_the_http_status() -> None:
    reply = b'{"data": null, "errors": [{"message": "no such picture"}]}'
    with pytest.raises(CallFailed, match="no such picture") as failure:
        route("add", {"a": 1, "b": 2}).read(200, reply)
    assert failure.value.status == "protocol"


@pytest.mark.parametrize(
    "reply",
    [b"[]", b"{}", b'{"data": null}', b'{"data": {}}', b'{"data": {"echoData": "?"}}', b'{"data": {"echoData": 1}}'],
)
def test_a_reply_without_the_field_is_undecodable(reply: bytes) -> None:
    with pytest.raises(CallFailed) as failure:
        route("echo", {"data": b""}).read(200, reply)
    assert failure.value.status == "undecodable"
