"""Messages of graphql-transport-ws: what is no event of the subscription is an error in clear words, and never an event."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from graphql import GraphQLSchema, parse, validate

from services.python.load.client import CallFailed
from services.python.operations import OPERATIONS
from services.python.protocols.graphqlws import messages
from services.python.protocols.graphqlws.schema import contract

CONTRACT = Path(__file__).parents[4] / "protos/subscriptions.graphql"


def test_the_contract_is_the_schema_of_the_code() -> None:
    hint = "generate it anew: python -m services.python.protocols.graphqlws.schema protos/subscriptions.graphql"
    assert CONTRACT.read_text(encoding="utf-8") == contract().as_str() + "\n", hint


@pytest.mark.parametrize("operation", ["identity", *(n for n, o in OPERATIONS.items() if o.kind == "stream")])
def test_what_is_asked_is_valid_by_the_schema(operation: str) -> None:
    schema: GraphQLSchema = contract()._schema
    assert validate(schema, parse(messages.text_of(operation))) == []


def test_a_subscription_has_the_request_as_its_variables() -> None:
    asked = {"interval_ns": 2**40, "count": 5, "size": 1, "seed": 9}
    frame = json.loads(messages.subscribe("subscription X", asked))
    assert frame == {"id": "1", "type": "subscribe", "payload": {"query": "subscription X", "variables": asked}}


NEXT = {"id": "1", "type": "next"}


@pytest.mark.parametrize(
    ("message", "status", "words"),
    [
        ({"id": "1", "type": "error", "payload": [{"message": "not today"}]}, "protocol", "not today"),
        ({**NEXT, "payload": {"data": None, "errors": [{"message": "no"}]}}, "protocol", "GraphQL errors"),
        ({**NEXT, "payload": {"data": {"other": 1}}}, "undecodable", "without events"),
        ({**NEXT, "payload": []}, "undecodable", "no message of an operation"),
        ({"type": "connection_ack"}, "undecodable", "no message of an operation"),
        ({**NEXT, "id": "2", "payload": {"data": {"events": {}}}}, "undecodable", "was not asked for"),
    ],
)
def test_what_is_no_event_is_an_error(message: dict[str, Any], status: str, words: str) -> None:
    with pytest.raises(CallFailed, match=words) as failed:
        messages.result(messages.read(json.dumps(message)), "events")
    assert failed.value.status == status


@pytest.mark.parametrize("frame", ["", "[1]", "{", "[" * 100_000])
def test_what_is_no_message_is_undecodable(frame: str) -> None:
    with pytest.raises(CallFailed) as failed:
        messages.read(frame)
    assert failed.value.status == "undecodable"


def test_complete_is_the_end_and_an_event_is_its_fields() -> None:
    assert messages.result({"id": "1", "type": "complete"}, "events") is None
    event = {"sequence": 1, "sent_ns": 2, "data": "x"}
    assert messages.result({**NEXT, "payload": {"data": {"events": event}}}, "events") == event
