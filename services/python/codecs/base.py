"""What a codec of single messages gives: how each message is written, and read, whatever carries it.

A message is named as its path is: an operation, or `echo/data`, `echo/records`, `echo/document`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

MESSAGES = ("identity", "timestamp", "add", "echo/data", "echo/records", "echo/document", "image")


@dataclass(frozen=True, kw_only=True)
class Coder:
    """How one message is written, and read."""

    write: Callable[[Mapping[str, Any]], bytes]
    read: Callable[[bytes], dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Codec:
    """How single messages are coded, by their names; `errors` is what `read` raises for a body that is no such message."""

    media_type: str
    request: Callable[[str], Coder]
    reply: Callable[[str], Coder]
    errors: tuple[type[Exception], ...]


def self_describing(media_type: str, coder: Coder, errors: tuple[type[Exception], ...]) -> Codec:
    """A codec that needs no schema: every message is written and read in the same way."""

    def same(_message: str) -> Coder:
        return coder

    return Codec(media_type=media_type, request=same, reply=same, errors=errors)


def message_of(operation: str, example: Mapping[str, Any]) -> str:
    """The message that carries requests such as this one."""
    return f"echo/{next(iter(example))}" if operation == "echo" else operation


def expect_mapping(decoded: Any) -> dict[str, Any]:
    """What was decoded, if it has named fields; ValueError otherwise."""
    if type(decoded) is not dict:
        raise ValueError(f"expected named fields, not {type(decoded).__name__},")
    return decoded
