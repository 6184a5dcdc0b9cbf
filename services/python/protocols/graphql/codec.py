"""GraphQL's messages alone: a query with its variables, and the response, each as JSON; nobody is asked.

What a server does between them is no part of a codec, and left out: the query is neither parsed nor validated nor executed.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from operator import itemgetter
from typing import Any

from services.python.codecs.alone import REQUEST, Dialer, Message
from services.python.codecs.base import expect_mapping, message_of
from services.python.codecs.evolution import change_of, dialer_of, is_evolution
from services.python.contract import messages as contract
from services.python.contract.offers import Client
from services.python.load.client import CallSpec, Reply, Request
from services.python.operations import forms
from services.python.protocols.graphql.requester import field_of, route

_ERRORS = (ValueError, KeyError, TypeError)


def _as_it_is(value: Any) -> Any:
    return value


def _with_bytes(variables: dict[str, Any]) -> dict[str, Any]:
    return {**variables, "data": base64.b64decode(variables["data"], validate=True)}


def _nested(reply: Reply) -> dict[str, Any]:
    under: dict[int, list[Any]] = {post["post"]: [] for post in reply["posts"]}
    for comment in reply["comments"]:
        under[comment["post"]].append(comment)
    of_user = {name: value for name, value in reply.items() if name != "comments"}
    return {**of_user, "posts": [{**post, "comments": under[post["post"]]} for post in reply["posts"]]}


def _writing(message: contract.Message) -> Callable[[Reply], Any]:
    """What a server writes into the field of the response."""
    if message.name == contract.TIMESTAMP.name:
        return lambda reply: {
            "requestTimestamp": reply["request_timestamp"],
            "responseTimestamp": reply["response_timestamp"],
        }
    if message.name == contract.FEED.name:
        return _nested
    (name, kind), *more = message.reply.items()
    if kind == "bytes":
        return lambda reply: base64.b64encode(reply["data"]).decode("ascii")
    return _as_it_is if more else itemgetter(name)


def dialer(call: CallSpec, client: Client) -> Dialer:  # noqa: ARG001 - a dialer's signature
    """Codes the operation's query with its variables, and its response."""
    example = call.example[REQUEST]
    if is_evolution(call):
        from services.python.protocols.graphql.evolving import evolve, request

        return dialer_of(evolve, request(change_of(call)), call)
    message = forms()[message_of(call.operation, example)]
    write = _writing(message)
    read = _with_bytes if "bytes" in message.request.values() else _as_it_is
    query, field = route(call.operation, example), field_of(call.operation, example)

    def read_request(body: bytes) -> Request:
        return read(expect_mapping(expect_mapping(json.loads(body))["variables"]))

    def write_response(reply: Reply) -> bytes:
        # As Strawberry writes it.
        return json.dumps({"data": {field: write(reply)}}, separators=(",", ":")).encode()

    return Dialer(
        Message(write=query.encode, read=read_request),
        Message(write=write_response, read=query.decode, value=query.value),
        errors=_ERRORS,
        call=call,
    )
