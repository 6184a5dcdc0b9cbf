"""Protocol Buffers with or without the schema of a JSON document; what reads a schema is loaded where there is one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from services.python.codecs import protobuf
from services.python.codecs.base import Codec, Coder
from services.python.codecs.protobuf import Method, coder, method_for
from services.python.load.client import CallFailed, Request


def echo_of(schema: bytes | None, *, is_forwarded: bool = False) -> Method | None:
    """How a responder echoes the document of its schema, None without one; `is_forwarded`: its fields unread. ValueError."""
    if schema is None:
        return None
    from services.python.codecs.typed import forwarding, typed_echo

    echo = typed_echo(schema)
    return forwarding(echo) if is_forwarded else echo


def method_of(operation: str, example: Request, schema: bytes | None) -> Method:
    """As `method_for`; a document travels as the message of the schema where there is one."""
    if schema is None or "document" not in example:
        return method_for(operation, example)
    from services.python.codecs.typed import typed_echo

    try:
        typed = typed_echo(schema)
    except ValueError as error:
        raise CallFailed("protocol", str(error)) from error
    return method_for(operation, example, typed)


def codec(schema: bytes | None) -> Codec:
    """Protocol Buffers in bodies, documents as the message of the schema where there is one; ValueError as `typed_echo`."""
    if schema is None:
        return protobuf.CODEC
    from services.python.codecs.typed import typed_echo

    typed = typed_echo(schema)
    document = coder(typed.request, typed.pack_request, typed.unpack_request)

    def or_document(of: Callable[[str], Coder]) -> Callable[[str], Coder]:
        return lambda message: document if message == "echo/document" else of(message)

    whole = protobuf.CODEC
    return replace(whole, request=or_document(whole.request), reply=or_document(whole.reply))
