"""Asking Protocol Buffers in raw bodies."""

from __future__ import annotations

from services.python.codecs.by_schema import codec, method_of
from services.python.contract.offers import Client
from services.python.load.client import AsyncDialer, CallSpec, Dialer
from services.python.transports.http.bodies import route
from services.python.transports.http.clients import dial_with


def dialer(call: CallSpec, client: Client) -> Dialer | AsyncDialer:
    """Opens connections of that HTTP client; CallFailed when Protocol Buffers cannot carry the example request."""
    method_of(call.operation, call.example, call.schema)
    return dial_with(client, route(codec(call.schema), call), call)
