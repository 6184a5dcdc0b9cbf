"""Asking REST: the same paths and bodies from every HTTP client."""

from __future__ import annotations

import json
from typing import Any

from services.python.codecs.json import JSON, json_bytes, json_object
from services.python.contract.offers import Client
from services.python.load.client import AsyncDialer, CallSpec, Dialer, Request
from services.python.transports.http.clients import dial_with
from services.python.transports.http.route import OCTETS, Route


def dialer(call: CallSpec, client: Client) -> Dialer | AsyncDialer:
    """Opens connections of that HTTP client."""
    return dial_with(client, route(call.operation, call.example), call)


def route(operation: str, example: Request) -> Route:
    """The operation's path and bodies, for requests shaped as the example."""
    if operation == "image":
        decode = "true" if example["full_decode"] else "false"
        return Route(path=f"/image?full_decode={decode}", content_type="image/png", encode=_data, decode=json_object)
    if operation == "echo":
        return _echo(example)
    return Route(path=f"/{operation}", content_type=JSON, encode=json_bytes, decode=json_object)


def _echo(example: Request) -> Route:
    if "data" in example:
        return Route(
            path="/echo/data", content_type=OCTETS, encode=_data, decode=bytes, value=lambda body: {"data": body}
        )
    (form,) = example

    def encode(request: Request) -> bytes:
        return json_bytes(request[form])

    def value(decoded: Any) -> Request:
        return {form: decoded}

    return Route(path=f"/echo/{form}", content_type=JSON, encode=encode, decode=json.loads, value=value)


def _data(request: Request) -> bytes:
    data: bytes = request["data"]
    return data
