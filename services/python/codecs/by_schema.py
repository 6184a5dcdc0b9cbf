"""Protocol Buffers with or without the schema of a JSON document; what reads a schema is loaded where there is one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from services.python.codecs.base import Codec, Coder
from services.python.codecs.protobuf import CODEC, Method, method_for, named, request_coder
from services.python.contract.messages import ECHO
from services.python.load.client import CallFailed, Request
from services.python.operations import OPERATIONS


def typed_methods(schema: bytes | None) -> dict[str, Method]:
    """How documents of a schema travel, by operation. ValueError."""
    if schema is None:
        return {}
    from services.python.codecs.typed import typed_echo

    echo = typed_echo(schema)
    return {name: named(echo, name) for name, operation in OPERATIONS.items() if operation.message is ECHO}


def method_of(operation: str, example: Request, schema: bytes | None) -> Method:
    """As `method_for`; a document travels as the message of the schema where there is one."""
    if schema is None or "document" not in example:
        return method_for(operation, example)
    from services.python.codecs.typed import typed_echo

    try:
        typed = typed_echo(schema)
    except ValueError as error:
        raise CallFailed("protocol", str(error)) from error
    return method_for(operation, example, named(typed, operation))


def with_schema(schema: bytes) -> Codec:
    """Protocol Buffers in bodies, documents as the message of the schema; ValueError as `typed_echo`."""
    from services.python.codecs.typed import typed_echo

    typed = typed_echo(schema)
    document = request_coder(typed)

    def or_document(of: Callable[[str], Coder]) -> Callable[[str], Coder]:
        return lambda message: document if message == "echo/document" else of(message)

    return replace(
        CODEC,
        request=or_document(CODEC.request),
        reply=or_document(CODEC.reply),
        require=lambda operation, example: method_of(operation, example, schema),
    )
