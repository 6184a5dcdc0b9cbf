"""Protocols whose bodies are one encoded message each way: a codec is all that differs between them."""

from __future__ import annotations

from services.python.codecs.base import Codec, message_of
from services.python.contract.offers import Parts, Responder
from services.python.load.client import CallSpec
from services.python.transports.http.asgi import PACKAGES, SETTINGS
from services.python.transports.http.route import Route


def responders(protocol: str, codec: str, *packages: str) -> tuple[Responder, ...]:
    """What every such protocol is answered by: FastAPI without models, Starlette, and a bare ASGI application.

    `protocol` is the name of its folder, which has a module for each; `codec` is its name, and `packages` are its own.
    """
    parts = {"codec": codec, "transport": "HTTP/1.1", "server": "uvicorn"}
    folder = f"services.python.protocols.{protocol}"
    return (
        Responder(
            name="fastapi",
            module=f"{folder}.responder",
            parts=Parts(**parts, framework="FastAPI"),
            adds="routes every request with FastAPI",
            without="asgi",
            packages=(*packages, "fastapi", "starlette", *PACKAGES),
            settings=SETTINGS,
        ),
        Responder(
            name="starlette",
            module=f"{folder}.starlette_responder",
            parts=Parts(**parts, framework="Starlette"),
            packages=(*packages, "starlette", *PACKAGES),
            settings=SETTINGS,
        ),
        Responder(
            name="asgi",
            module=f"{folder}.asgi_responder",
            parts=Parts(**parts),
            packages=(*packages, *PACKAGES),
            settings=SETTINGS,
        ),
    )


def route(codec: Codec, call: CallSpec) -> Route:
    """The route of the call's operation, for every HTTP client."""
    message = message_of(call.operation, call.example)
    return Route(
        path=f"/{message}",
        content_type=codec.media_type,
        encode=codec.request(message).write,
        decode=codec.reply(message).read,
        decode_errors=codec.errors,
    )
