"""Asking GraphQL: one query for each operation, its text sent every time with the request's variables."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from services.python.codecs.base import expect_mapping, message_of, path_of
from services.python.codecs.json import JSON, json_bytes
from services.python.contract.knobs import FIELDS, SHOWN
from services.python.contract.messages import capitals
from services.python.contract.offers import Client
from services.python.load.client import AsyncDialer, CallFailed, CallSpec, Dialer, Reply, Request
from services.python.transports.http.clients import dial_with
from services.python.transports.http.route import Route, shown

_SHOWN_CHARACTERS = 300


def _as_it_is(value: Any) -> Any:
    return value


def _with_text(request: Request) -> dict[str, Any]:
    return {**request, "data": base64.b64encode(request["data"]).decode("ascii")}


@dataclass(frozen=True, kw_only=True)
class _Query:
    """A query's text, how its variables are made, how its field is read (timed), and named as the operation has it.

    In the text `@` stands for the query's name and `$$` for its field, which are the operation's.
    """

    text: str
    narrow: str = ""  # the text that selects only what is shown in brief, where there is less of that
    variables: Callable[[Request], Mapping[str, Any]] = _as_it_is
    read: Callable[[Any], Any] = _as_it_is
    value: Callable[[Any], Reply] = _as_it_is


_QUERIES: Mapping[str, _Query] = {
    "identity": _Query(
        text="query @ { $$ }",
        value=lambda identity: {"identity": identity},
    ),
    "timestamp": _Query(
        text="query @($request_timestamp: String!) { $$(requestTimestamp: $request_timestamp) "
        "{ requestTimestamp responseTimestamp } }",
        read=expect_mapping,
        value=lambda stamps: {
            "request_timestamp": stamps.get("requestTimestamp"),
            "response_timestamp": stamps.get("responseTimestamp"),
        },
    ),
    "add": _Query(
        text="query @($a: Int!, $b: Int!) { $$(a: $a, b: $b) }",
        value=lambda total: {"sum": total},
    ),
    "echo/data": _Query(
        text="query @($data: Base64!) { $$(data: $data) }",
        variables=_with_text,
        read=lambda text: base64.b64decode(text, validate=True),
        value=lambda data: {"data": data},
    ),
    "echo/records": _Query(
        text="query @($records: [RecordInput!]!) { $$(records: $records) { id name value active tags } }",
        value=lambda records: {"records": records},
    ),
    "echo/document": _Query(
        text="query @($document: JSON) { $$(document: $document) }",
        value=lambda document: {"document": document},
    ),
    "image": _Query(
        text="query @($data: Base64!, $full_decode: Boolean!) "
        "{ $$(data: $data, fullDecode: $full_decode) { width height } }",
        variables=_with_text,
        read=expect_mapping,
    ),
    "transfer": _Query(
        text="query @($data: Base64!, $reply_size: Int!) { $$(data: $data, replySize: $reply_size) }",
        variables=_with_text,
        read=lambda text: base64.b64decode(text, validate=True),
        value=lambda data: {"data": data},
    ),
    "balance": _Query(
        text="query @($account: Int!) { $$(account: $account) { account owner balance } }",
        read=expect_mapping,
    ),
    "payment": _Query(
        text="query @($payer: Int!, $payee: Int!, $amount: Int!) "
        "{ $$(payer: $payer, payee: $payee, amount: $amount) { accepted payment balance } }",
        read=expect_mapping,
    ),
    "transactions": _Query(
        text="query @($account: Int!, $count: Int!) "
        "{ $$(account: $account, count: $count) { number payer payee amount } }",
        value=lambda rows: {"transactions": rows},
    ),
    "accounts": _Query(
        text="query @($after: Int!, $count: Int!) { $$(after: $after, count: $count) { account owner balance } }",
        value=lambda rows: {"accounts": rows},
    ),
    "user": _Query(
        text="query @($user: Int!) { $$(user: $user) { user name about joined } }",
        narrow="query @($user: Int!) { $$(user: $user) { user name } }",
        read=expect_mapping,
    ),
    "posts": _Query(
        text="query @($user: Int!, $count: Int!) { $$(user: $user, count: $count) { post author title text likes } }",
        narrow="query @($user: Int!, $count: Int!) { $$(user: $user, count: $count) { post title likes } }",
        value=lambda rows: {"posts": rows},
    ),
    "comments": _Query(
        text="query @($user: Int!, $count: Int!, $each: Int!) "
        "{ $$(user: $user, count: $count, each: $each) { comment post author text } }",
        narrow="query @($user: Int!, $count: Int!, $each: Int!) "
        "{ $$(user: $user, count: $count, each: $each) { comment post author } }",
        value=lambda rows: {"comments": rows},
    ),
    "feed": _Query(
        text="query @($user: Int!, $count: Int!, $each: Int!) { $$(user: $user) { user name about joined "
        "posts(count: $count) { post author title text likes comments(each: $each) { comment post author text } } } }",
        narrow="query @($user: Int!, $count: Int!, $each: Int!) { $$(user: $user) { user name "
        "posts(count: $count) { post title likes comments(each: $each) { comment post author } } } }",
        read=expect_mapping,
        value=lambda user: _unnested(user),
    ),
}


def _unnested(user: Any) -> dict[str, Any]:
    """A page whose posts hold their comments, with its lists beside each other."""
    posts = [{name: value for name, value in post.items() if name != "comments"} for post in user["posts"]]
    comments = [comment for post in user["posts"] for comment in post["comments"]]
    return {**user, "posts": posts, "comments": comments}


def dialer(call: CallSpec, client: Client) -> Dialer | AsyncDialer:
    """Opens connections of that HTTP client."""
    is_narrow = call.knobs.get(FIELDS) == SHOWN
    return dial_with(client, route(call.operation, call.example, is_narrow=is_narrow), call)


def field_of(operation: str, example: Request) -> str:
    """The field of the query that is the operation, for requests shaped as the example."""
    name = capitals(path_of(operation, example).replace("/", "_"))
    return name[0].lower() + name[1:]


def route(operation: str, example: Request, *, is_narrow: bool = False) -> Route:
    """The operation's query, for requests shaped as the example; a narrow one selects what is shown in brief."""
    query, field = _QUERIES[message_of(operation, example)], field_of(operation, example)
    text = (query.narrow or query.text) if is_narrow else query.text
    text = text.replace("@", field[0].upper() + field[1:]).replace("$$", field)

    def encode(request: Request) -> bytes:
        return json_bytes({"query": text, "variables": query.variables(request)})

    def decode(body: bytes) -> Any:
        reply = expect_mapping(json.loads(body))
        if reply.get("errors"):
            raise CallFailed("protocol", told(reply["errors"]))
        return query.read(reply["data"][field])

    return Route(
        path="/graphql",
        content_type=JSON,
        encode=encode,
        decode=decode,
        value=query.value,
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
