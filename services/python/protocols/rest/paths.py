"""REST's paths: one for each operation, and one for each form of an echo."""

from __future__ import annotations

import json
from collections.abc import Mapping
from operator import itemgetter
from typing import Any
from urllib.parse import parse_qsl

from services.python.codecs.json import CODEC, JSON, json_bytes
from services.python.contract.messages import ECHO, IDENTITY, IMAGE, TRANSFER, Message
from services.python.operations import OPERATIONS
from services.python.protocols.rest import PROTOCOL
from services.python.transports.http.paths import Path, Paths
from services.python.transports.http.route import OCTETS

_data = itemgetter("data")


def paths() -> Paths:
    """The paths of every operation that REST carries."""
    every = {"/identity": _fields(IDENTITY.name, IDENTITY)}
    for operation in OPERATIONS.values():
        if PROTOCOL.carries(operation.message):
            every |= _paths(operation.name, operation.message)
    return every


def _paths(operation: str, message: Message) -> dict[str, Path]:
    if message.name == IMAGE.name:
        return {f"/{operation}": Path(operation=operation, read=_picture, write=json_bytes, media_type=JSON)}
    if message.name == TRANSFER.name:
        return {f"/{operation}": Path(operation=operation, read=_sized, write=_data, media_type=OCTETS)}
    if message.name == ECHO.name:
        data = Path(operation=operation, read=lambda body, _: {"data": body}, write=_data, media_type=OCTETS)
        return {f"/{operation}/data": data} | {
            f"/{operation}/{form}": _bare_json(operation, form) for form in ("records", "document")
        }
    return {f"/{operation}": _fields(operation, message)}


def _fields(operation: str, message: Message) -> Path:
    read, write = CODEC.request(message.name).read, CODEC.reply(message.name).write
    return Path(operation=operation, read=lambda body, _: read(body), write=write, media_type=JSON)


def _bare_json(operation: str, form: str) -> Path:
    return Path(
        operation=operation,
        read=lambda body, _: {form: json.loads(body)},
        write=lambda reply: json_bytes(reply[form]),
        media_type=JSON,
    )


def _picture(body: bytes, query: bytes) -> Mapping[str, Any]:
    return {"data": body, "full_decode": _named(query).get("full_decode") == "true"}


def _sized(body: bytes, query: bytes) -> Mapping[str, Any]:
    return {"data": body, "reply_size": int(_named(query)["reply_size"])}


def _named(query: bytes) -> dict[str, str]:
    return dict(parse_qsl(query.decode()))
