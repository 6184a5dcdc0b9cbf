"""Asks in any codec that codes single messages, with every HTTP client."""

from __future__ import annotations

from services.python.codecs.base import Codec, codec_named, message_of, path_of
from services.python.contract.offers import Client
from services.python.load.client import AsyncDialer, CallSpec, Dialer
from services.python.transports.http.clients import dial_with
from services.python.transports.http.route import Route


def dialer(call: CallSpec, client: Client) -> Dialer | AsyncDialer:
    """Opens connections of that HTTP client; CallFailed when the codec cannot carry the example request."""
    codec = codec_named(client.codec, call.schema)
    codec.require(call.operation, call.example)
    return dial_with(client, route(codec, call), call)


def route(codec: Codec, call: CallSpec) -> Route:
    """The route of the call's operation, for every HTTP client."""
    message = message_of(call.operation, call.example)
    return Route(
        path=f"/{path_of(call.operation, call.example)}",
        content_type=codec.media_type,
        encode=codec.request(message).write,
        decode=codec.reply(message).read,
        decode_errors=codec.errors,
    )
