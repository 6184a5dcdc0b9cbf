"""The paths of a codec's messages, one for each."""

from __future__ import annotations

from services.python.codecs.base import Codec, Coder
from services.python.transports.http.paths import Path, Paths


def paths(codec: Codec) -> Paths:
    """The paths of all that can be sent in a codec."""
    return {
        f"/{name}": _path(codec, operation, codec.request(message), codec.reply(message))
        for name, (operation, message) in codec.carried().items()
    }


def _path(codec: Codec, operation: str, request: Coder, reply: Coder) -> Path:
    return Path(
        operation=operation,
        read=lambda body, _query: request.read(body),
        write=reply.write,
        media_type=codec.media_type,
        errors=(KeyError, ValueError, *codec.errors),
    )
