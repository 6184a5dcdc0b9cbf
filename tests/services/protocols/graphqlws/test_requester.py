"""Messages of graphql-transport-ws: what is no event of the subscription is an error in clear words, and never an event."""

from __future__ import annotations

import json
from typing import Any

import pytest
from graphql import GraphQLSchema, parse, validate

from services.python.load.client import CallFailed
from services.python.operations import OPERATIONS
from services.python.protocols.graphqlws import requester
from services.python.protocols.graphqlws.schema import contract


@pytest.mark.parametrize("operation", ["identity", *(n for n, o in OPERATIONS.items() if o.kind == "stream")])
def test_what_is_asked_is_valid_by_the_schema(operation: str) -> None:
    schema: GraphQLSchema = contract()._schema
    assert validate(schema, parse(requester.text_of(operation))) == []


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
        requester.result(requester.read(json.dumps(message)), "events")
    assert failed.value.status == status


@pytest.mark.parametrize("frame", ["", "[1]", "{", "[" * 100_000])
def test_what_is_no_message_is_undecodable(frame: str) -> None:
    with pytest.raises(CallFailed) as failed:
        requester.read(frame)
    assert failed.value.status == "undecodable"


def test_complete_is_the_end_and_an_event_is_its_fields() -> None:
    assert requester.result({"id": "1", "type": "complete"}, "events") is None
    event = {"sequence": 1, "sent_ns": 2, "data": "x"}
    assert requester.result({**NEXT, "payload": {"data": {"events": event}}}, "events") == event
