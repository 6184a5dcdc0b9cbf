"""GraphQL's messages alone: a query with its variables, and the response, each as JSON; nobody is asked.

What a server does between them is no part of a codec, and left out: the query is neither parsed nor validated nor executed.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from services.python.codecs.alone import REQUEST, Dialer, Message
from services.python.codecs.base import expect_mapping, message_of
from services.python.codecs.evolution import change_of, is_evolution
from services.python.codecs.evolution import dialer as across_schemas
from services.python.contract.offers import Client
from services.python.load.client import CallSpec, Reply, Request
from services.python.protocols.graphql.requester import field_of, route

_ERRORS = (ValueError, KeyError, TypeError)


def _as_it_is(value: Any) -> Any:
    return value


def _with_bytes(variables: dict[str, Any]) -> dict[str, Any]:
    return {**variables, "data": base64.b64decode(variables["data"], validate=True)}


def _nested(reply: Reply) -> dict[str, Any]:
    """A page with its comments in the posts that they belong to."""
    under: dict[int, list[Any]] = {post["post"]: [] for post in reply["posts"]}
    for comment in reply["comments"]:
        under[comment["post"]].append(comment)
    of_user = {name: value for name, value in reply.items() if name != "comments"}
    return {**of_user, "posts": [{**post, "comments": under[post["post"]]} for post in reply["posts"]]}


@dataclass(frozen=True, kw_only=True)
class _Response:
    """What a server reads of the variables, and what it writes into the field of the response."""

    write: Callable[[Reply], Any]
    read: Callable[[dict[str, Any]], Request] = _as_it_is


_RESPONSES: Mapping[str, _Response] = {
    "timestamp": _Response(
        write=lambda reply: {
            "requestTimestamp": reply["request_timestamp"],
            "responseTimestamp": reply["response_timestamp"],
        },
    ),
    "add": _Response(write=lambda reply: reply["sum"]),
    "echo/data": _Response(write=lambda reply: base64.b64encode(reply["data"]).decode("ascii"), read=_with_bytes),
    "echo/records": _Response(write=lambda reply: reply["records"]),
    "echo/document": _Response(write=lambda reply: reply["document"]),
    "image": _Response(write=lambda reply: {"width": reply["width"], "height": reply["height"]}, read=_with_bytes),
    "balance": _Response(write=_as_it_is),
    "payment": _Response(write=_as_it_is),
    "transactions": _Response(write=lambda reply: reply["transactions"]),
    "accounts": _Response(write=lambda reply: reply["accounts"]),
    "user": _Response(write=_as_it_is),
    "posts": _Response(write=lambda reply: reply["posts"]),
    "comments": _Response(write=lambda reply: reply["comments"]),
    "feed": _Response(write=_nested),
    "transfer": _Response(write=lambda reply: base64.b64encode(reply["data"]).decode("ascii"), read=_with_bytes),
}


def dialer(call: CallSpec, client: Client) -> Dialer:  # noqa: ARG001 - a dialer's signature
    """Codes the operation's query with its variables, and its response."""
    example = call.example[REQUEST]
    if is_evolution(call):
        from services.python.protocols.graphql.evolving import evolve, request

        return across_schemas(evolve, request(change_of(call)), call)
    response = _RESPONSES[message_of(call.operation, example)]
    asked, field = route(call.operation, example), field_of(call.operation, example)

    def read_request(body: bytes) -> Request:
        return response.read(expect_mapping(expect_mapping(json.loads(body))["variables"]))

    def write_response(reply: Reply) -> bytes:
        # As Strawberry writes it.
        return json.dumps({"data": {field: response.write(reply)}}, separators=(",", ":")).encode()

    return Dialer(
        Message(write=asked.encode, read=read_request),
        Message(write=write_response, read=asked.decode, value=asked.value),
        errors=_ERRORS,
        call=call,
    )
