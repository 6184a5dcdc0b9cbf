"""The messages of graphql-transport-ws: a subscription's text and variables, and what comes of it, frame by frame."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from services.python.codecs.base import expect_mapping
from services.python.codecs.json import json_text
from services.python.contract.messages import Field, camel
from services.python.load.client import CallFailed, Request
from services.python.operations import message_named

SUBPROTOCOL = "graphql-transport-ws"
INIT = '{"type":"connection_init"}'
PONG = '{"type":"pong"}'
PING = "ping"
ID = "1"  # of every operation: there is one at a time on a connection

_TYPES: Mapping[Field, str] = {"long": "Long", "integer": "Int"}

_SHOWN = 300


def text_of(operation: str) -> str:
    """The text of the operation: a query for who answers, else a subscription, its fields named as in `operations.avsc`."""
    if operation == "identity":
        return "query Identity { identity }"
    message, field = message_named(operation), camel(operation)
    variables = ", ".join(f"${name}: {_TYPES[kind]}!" for name, kind in message.request.items())
    arguments = ", ".join(f"{camel(name)}: ${name}" for name in message.request)
    fields = " ".join(name if camel(name) == name else f"{name}: {camel(name)}" for name in message.reply)
    return f"subscription {field[0].upper()}{field[1:]}({variables}) {{ {field}({arguments}) {{ {fields} }} }}"


def subscribe(text: str, request: Request) -> str:
    """The frame that asks; ValueError, TypeError or RecursionError where JSON cannot carry the request."""
    payload: dict[str, Any] = {"query": text}
    if request:
        payload["variables"] = dict(request)
    return json_text({"id": ID, "type": "subscribe", "payload": payload})


def read(frame: str) -> Mapping[str, Any]:
    """A message; CallFailed `undecodable` for what is none, or is of another operation."""
    try:
        message = expect_mapping(json.loads(frame))
    except (ValueError, RecursionError) as error:
        raise CallFailed("undecodable", f"{error} in {frame[:_SHOWN]!r}") from error
    if "id" in message and message["id"] != ID:
        raise CallFailed("undecodable", f"a message of an operation that was not asked for: {frame[:_SHOWN]!r}")
    return message


def result(message: Mapping[str, Any], field: str) -> Any:
    """What a message of an operation carries; None for the one that ends it. CallFailed for an error."""
    kind = message.get("type")
    if kind == "complete":
        return None
    payload = message.get("payload")
    if kind == "error":
        raise CallFailed("protocol", f"GraphQL errors: {json.dumps(payload)[:_SHOWN]}")
    if kind != "next" or not isinstance(payload, dict):
        raise CallFailed("undecodable", f"no message of an operation: {json.dumps(message)[:_SHOWN]}")
    if payload.get("errors"):
        raise CallFailed("protocol", f"GraphQL errors: {json.dumps(payload['errors'])[:_SHOWN]}")
    data = payload.get("data")
    if not isinstance(data, dict) or data.get(field) is None:
        raise CallFailed("undecodable", f"a result without {field}: {json.dumps(message)[:_SHOWN]}")
    return data[field]
