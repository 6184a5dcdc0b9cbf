"""Protocols whose bodies are one encoded message each way: a codec is all that differs between them."""

from __future__ import annotations

from dataclasses import replace

from services.python.codecs.base import Codec, message_of, path_of
from services.python.contract.offers import Parts, Responder
from services.python.load.client import CallSpec
from services.python.transports.http import granian, version
from services.python.transports.http.asgi import PACKAGES, SETTINGS
from services.python.transports.http.route import Route

ON_GRANIAN = "asgi-granian"


def bare(codec: str) -> Parts:
    """A codec in raw HTTP bodies, with nothing between the server and the operation."""
    return Parts(codec=codec, transport="HTTP/1.1", server="uvicorn")


def responders(protocol: str, parts: Parts, *packages: str) -> tuple[Responder, ...]:
    """What every such protocol is answered by: FastAPI without models, Starlette, a bare ASGI application on two servers.

    `protocol` is the name of its folder, which has a module for each; `parts` are those without a framework, and
    `packages` are the codec's own.
    """
    folder = f"services.python.protocols.{protocol}"
    refuses = version.one_alone("uvicorn", ON_GRANIAN)
    return (
        Responder(
            name="fastapi",
            module=f"{folder}.responder",
            parts=replace(parts, framework="FastAPI"),
            adds="routes every request with FastAPI",
            without="asgi",
            packages=(*packages, "fastapi", "starlette", *PACKAGES),
            refuses=refuses,
            settings=SETTINGS,
        ),
        Responder(
            name="starlette",
            module=f"{folder}.starlette_responder",
            parts=replace(parts, framework="Starlette"),
            packages=(*packages, "starlette", *PACKAGES),
            refuses=refuses,
            settings=SETTINGS,
        ),
        Responder(
            name="asgi",
            module=f"{folder}.asgi_responder",
            parts=parts,
            packages=(*packages, *PACKAGES),
            refuses=refuses,
            settings=SETTINGS,
        ),
        Responder(
            name=ON_GRANIAN,
            module=f"{folder}.granian_responder",
            parts=replace(parts, server="granian"),
            packages=(*packages, *granian.PACKAGES),
            settings=granian.SETTINGS,
        ),
    )


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
