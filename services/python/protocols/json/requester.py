"""Asking JSON."""

from __future__ import annotations

from services.python.codecs.json import CODEC
from services.python.contract.offers import Client
from services.python.load.client import AsyncDialer, CallSpec, Dialer
from services.python.transports.http.bodies import route
from services.python.transports.http.clients import dial_with


def dialer(call: CallSpec, client: Client) -> Dialer | AsyncDialer:
    """Opens connections of that HTTP client."""
    return dial_with(client, route(CODEC, call), call)
