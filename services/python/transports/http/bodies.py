"""Protocols whose bodies are one encoded message each way: a codec is all that differs between them."""

from __future__ import annotations

from services.python.codecs.base import BinaryCodec, message_of
from services.python.load.client import CallSpec
from services.python.transports.http.route import Route


def route(codec: BinaryCodec, call: CallSpec) -> Route:
    """The route of the call's operation, for every HTTP client."""
    message = message_of(call.operation, call.example)
    return Route(
        path=f"/{message}",
        content_type=codec.media_type,
        encode=codec.request(message).write,
        decode=codec.reply(message).read,
        decode_errors=codec.errors,
    )
