"""Asking Protocol Buffers in raw bodies."""

from __future__ import annotations

from services.python.codecs.protobuf import CODEC, method_for
from services.python.contract.offers import Client
from services.python.load.client import AsyncDialer, CallSpec, Dialer
from services.python.transports.http.bodies import route
from services.python.transports.http.clients import dial_with


def dialer(call: CallSpec, client: Client) -> Dialer | AsyncDialer:
    """Opens connections of that HTTP client; CallFailed when Protocol Buffers cannot carry the example request."""
    made = dial_with(client, route(CODEC, call), call)
    method_for(call.operation, call.example)
    return made
