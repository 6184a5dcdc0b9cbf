"""Asking REST: the same paths and bodies from every HTTP client."""

from __future__ import annotations

import json
from operator import itemgetter

from services.python.codecs.base import message_of, path_of
from services.python.codecs.json import CODEC, JSON, json_bytes, json_object
from services.python.contract.offers import Client
from services.python.load.client import AsyncDialer, CallSpec, Dialer, Request
from services.python.transports.http.clients import dial_with
from services.python.transports.http.route import OCTETS, Route

_data = itemgetter("data")


def dialer(call: CallSpec, client: Client) -> Dialer | AsyncDialer:
    """Opens connections of that HTTP client."""
    return dial_with(client, route(call.operation, call.example), call)


def route(operation: str, example: Request) -> Route:
    """The operation's path and bodies, for requests shaped as the example."""
    message = message_of(operation, example)
    if message == "image":
        decode = "true" if example["full_decode"] else "false"
        path = f"/{operation}?full_decode={decode}"
        return Route(path=path, content_type="image/png", encode=_data, decode=json_object)
    path = f"/{path_of(operation, example)}"
    if message == "transfer":
        path = f"{path}?reply_size={example['reply_size']}"
    if message in ("echo/data", "transfer"):
        return Route(path=path, content_type=OCTETS, encode=_data, decode=bytes, value=lambda body: {"data": body})
    if message in ("echo/records", "echo/document"):
        return _bare_json(path, example)
    return Route(path=path, content_type=JSON, encode=CODEC.request(message).write, decode=CODEC.reply(message).read)


def _bare_json(path: str, example: Request) -> Route:
    (form,) = example
    return Route(
        path=path,
        content_type=JSON,
        encode=lambda request: json_bytes(request[form]),
        decode=json.loads,
        value=lambda decoded: {form: decoded},
    )
