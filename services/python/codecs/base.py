"""What a codec of single messages gives: how each message is written, and read, whatever carries it.

A message is named as its form is (`contract.messages`): `add`, or `echo/data`, `echo/records`, `echo/document`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

from services.python.contract.strict import Part, part
from services.python.operations import OPERATIONS, message_named


@part
class Coder(Part):
    """How one message is written, and read.

    Where a message can be parsed before its fields are read: `parse` does that, and `value` reads them.
    """

    write: Callable[[Mapping[str, Any]], bytes]
    read: Callable[[bytes], dict[str, Any]]
    parse: Callable[[bytes], Any] | None = None
    value: Callable[[Any], dict[str, Any]] | None = None


def _anything(_operation: str, _example: Mapping[str, Any]) -> None:
    """What a codec requires that has no reason to look at a request beforehand."""


@part
class Codec(Part):
    """How single messages are coded, by their names; `errors` is what `read` raises for a body that is no such message.

    `schemas` are the messages that it has a schema for; None of a codec that needs none. `require` raises CallFailed for a
    request of an operation, if such requests would not arrive as they are.
    """

    media_type: str
    request: Callable[[str], Coder]
    reply: Callable[[str], Coder]
    errors: tuple[type[Exception], ...]
    schemas: frozenset[str] | None = None
    require: Callable[[str, Mapping[str, Any]], object] = _anything

    def carried(self) -> Mapping[str, tuple[str, str]]:
        """What can be asked in it: for the last words of a path (`echo/data`) the operation, and the message there."""
        messages: dict[str, tuple[str, str]] = {}
        for operation in ("identity", *OPERATIONS):
            message = message_named(operation)
            for form in message.forms():
                if not message.is_bare if self.schemas is None else form in self.schemas:
                    messages[operation + form.removeprefix(message.name)] = (operation, form)
        return messages


def codec_named(name: str, schema: bytes | None = None) -> Codec:
    """The `CODEC` of that module beside this one; with the schema of a JSON document what `typed` makes of it."""
    module = importlib.import_module(f"services.python.codecs.{name if schema is None else 'typed'}")
    codec: Codec = module.CODEC if schema is None else module.with_schema(schema)
    return codec


def self_describing(media_type: str, coder: Coder, errors: tuple[type[Exception], ...]) -> Codec:
    """A codec that needs no schema: every message is written and read in the same way."""

    def same(_message: str) -> Coder:
        return coder

    return Codec(media_type=media_type, request=same, reply=same, errors=errors)


def message_of(operation: str, example: Mapping[str, Any]) -> str:
    """The message that carries requests such as this one."""
    message = message_named(operation)
    return f"{message.name}/{next(iter(example))}" if message.one_of else message.name


def path_of(operation: str, example: Mapping[str, Any]) -> str:
    """Under what name requests such as this one are asked, where a path says it: `add`, `echo/data`."""
    return operation + message_of(operation, example).removeprefix(message_named(operation).name)


def expect_mapping(decoded: Any) -> dict[str, Any]:
    """What was decoded, if it has named fields; ValueError otherwise."""
    if type(decoded) is not dict:
        raise ValueError(f"expected named fields, not {type(decoded).__name__},")
    return decoded
