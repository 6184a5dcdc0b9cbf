"""Protocols whose bodies are one encoded message each way: a codec is all that differs between them.

A message is named by its path: an operation, or `echo/data`, `echo/records`, `echo/document`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from services.harness.client_api import CallSpec, Request
from services.http.codec import Route

MESSAGES = ("identity", "timestamp", "add", "echo/data", "echo/records", "echo/document", "image")


@dataclass(frozen=True, kw_only=True)
class Coder:
    """How one message is written, and read."""

    write: Callable[[Mapping[str, Any]], bytes]
    read: Callable[[bytes], dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class BinaryCodec:
    """The coders of each message's request and reply; `errors` is what `read` raises for a body that is none."""

    media_type: str
    request: Callable[[str], Coder]
    reply: Callable[[str], Coder]
    errors: tuple[type[Exception], ...]


def self_describing(media_type: str, coder: Coder, errors: tuple[type[Exception], ...]) -> BinaryCodec:
    """A codec that needs no schema: every message is written and read in the same way."""

    def same(_message: str) -> Coder:
        return coder

    return BinaryCodec(media_type=media_type, request=same, reply=same, errors=errors)


def message_of(operation: str, example: Request) -> str:
    """The message that carries requests such as this one."""
    return f"echo/{next(iter(example))}" if operation == "echo" else operation


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
