"""Asking MessagePack."""

from __future__ import annotations

from services.harness.client_api import AsyncDialer, CallSpec, Dialer
from services.harness.spec import Client
from services.http.binary import route
from services.http.clients import dial_with
from services.msgpack.codec import CODEC


def dialer(call: CallSpec, client: Client) -> Dialer | AsyncDialer:
    """Opens connections of that HTTP client."""
    return dial_with(client, route(CODEC, call), call)
