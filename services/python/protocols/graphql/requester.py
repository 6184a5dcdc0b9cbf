"""Asking GraphQL: one query for each operation, its text sent every time with the request's variables."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from services.python.codecs.base import expect_mapping, message_of, path_of
from services.python.codecs.json import JSON, json_bytes
from services.python.contract.knobs import FIELDS, SHOWN
from services.python.contract.messages import FEED, ROWS, TIMESTAMP, USER, Field, Message, camel
from services.python.contract.offers import Client
from services.python.load.client import AsyncDialer, CallFailed, CallSpec, Dialer, Reply, Request
from services.python.operations import forms
from services.python.operations.posts import SHOWN_OF_ROWS, SHOWN_OF_USER
from services.python.transports.http.clients import dial_with
from services.python.transports.http.route import Route, shown

_SHOWN_CHARACTERS = 300


_TYPES: Mapping[Field, str] = {
    "text": "String!",
    "integer": "Int!",
    "flag": "Boolean!",
    "bytes": "Base64!",
    "records": "[RecordInput!]!",
    "document": "JSON",
}
_ROWS: Mapping[Field, Iterable[str]] = {**ROWS, "records": ("id", "name", "value", "active", "tags")}


def _text(field: str, message: Message, *, is_narrow: bool) -> str:
    variables = ", ".join(f"${name}: {_TYPES[kind]}" for name, kind in message.request.items())
    of_field = USER.request if message.name == FEED.name else message.request
    arguments = ", ".join(f"{camel(name)}: ${name}" for name in of_field)
    declared, given = (f"({names})" if names else "" for names in (variables, arguments))
    return f"query {field[0].upper()}{field[1:]}{declared} {{ {field}{given}{_selection(message, is_narrow)} }}"


def _selection(message: Message, is_narrow: bool) -> str:
    """What is selected of a field that has fields of its own; a narrow query selects only what is shown in brief."""

    def rows(kind: Field) -> str:
        return " ".join(SHOWN_OF_ROWS[kind] if is_narrow and kind in SHOWN_OF_ROWS else _ROWS[kind])

    user = " ".join(SHOWN_OF_USER if is_narrow else USER.reply)
    if message.name == FEED.name:
        nested = f"posts(count: $count) {{ {rows('posts')} comments(each: $each) {{ {rows('comments')} }} }}"
        return f" {{ {user} {nested} }}"
    if message.name == USER.name:
        return f" {{ {user} }}"
    (_, kind), *more = message.reply.items()
    if more:
        return f" {{ {' '.join(map(camel, message.reply))} }}"
    return f" {{ {rows(kind)} }}" if kind in _ROWS else ""


def _as_it_is(value: Any) -> Any:
    return value


def _with_text(request: Request) -> dict[str, Any]:
    return {**request, "data": base64.b64encode(request["data"]).decode("ascii")}


def _bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


def _reading(message: Message) -> tuple[Callable[[Any], Any], Callable[[Any], Reply]]:
    """How the query's field is read (timed), and how what was read is named as the operation has it."""
    if message.name == TIMESTAMP.name:
        return expect_mapping, lambda stamps: {name: stamps.get(camel(name)) for name in TIMESTAMP.reply}
    if message.name == FEED.name:
        return expect_mapping, _unnested
    (name, kind), *more = message.reply.items()
    if more:
        return expect_mapping, _as_it_is
    return _bytes if kind == "bytes" else _as_it_is, lambda value: {name: value}


def _unnested(user: Any) -> dict[str, Any]:
    posts = [{name: value for name, value in post.items() if name != "comments"} for post in user["posts"]]
    comments = [comment for post in user["posts"] for comment in post["comments"]]
    return {**user, "posts": posts, "comments": comments}


def dialer(call: CallSpec, client: Client) -> Dialer | AsyncDialer:
    """Opens connections of that HTTP client."""
    is_narrow = call.knobs.get(FIELDS) == SHOWN
    return dial_with(client, route(call.operation, call.example, is_narrow=is_narrow), call)


def field_of(operation: str, example: Request) -> str:
    """The field of the query that is the operation, for requests shaped as the example."""
    return camel(path_of(operation, example).replace("/", "_"))


def route(operation: str, example: Request, *, is_narrow: bool = False) -> Route:
    """The operation's query, for requests shaped as the example; a narrow one selects what is shown in brief."""
    message, field = forms()[message_of(operation, example)], field_of(operation, example)
    text = _text(field, message, is_narrow=is_narrow)
    variables = _with_text if "bytes" in message.request.values() else _as_it_is
    read, value = _reading(message)

    def encode(request: Request) -> bytes:
        return json_bytes({"query": text, "variables": variables(request)})

    def decode(body: bytes) -> Any:
        reply = expect_mapping(json.loads(body))
        if reply.get("errors"):
            raise CallFailed("protocol", told(reply["errors"]))
        return read(reply["data"][field])

    return Route(
        path="/graphql",
        content_type=JSON,
        encode=encode,
        decode=decode,
        value=value,
        decode_errors=(ValueError, KeyError, TypeError),
        failed=_failed,
    )


def told(errors: Any) -> str:
    """A response's errors in words; those of a query that was not run name no path in its data (GraphQL, 7.1)."""
    every = errors if isinstance(errors, list) else [errors]
    rows = [error if isinstance(error, dict) else {"message": error} for error in every]
    messages = "; ".join(dict.fromkeys(str(row.get("message")).rstrip(".") for row in rows))[:_SHOWN_CHARACTERS]
    was_run = any(row.get("path") for row in rows)
    return f"GraphQL errors: {messages}" if was_run else f"the service refuses the query: {messages}"


def _failed(status: int, body: bytes) -> CallFailed:
    """A reply with another HTTP status than 200, which is how some services refuse a query."""
    try:
        errors = expect_mapping(json.loads(body)).get("errors")
    except (ValueError, TypeError, RecursionError):
        errors = None
    return CallFailed("protocol", f"HTTP {status}: {told(errors) if errors else shown(body)}")
