"""JSON as orjson writes and reads it: the same messages as with the standard library."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any

import orjson

from services.python.codecs.base import Codec, Coder, expect_mapping
from services.python.codecs.json import JSON


def _read(body: bytes) -> dict[str, Any]:
    return expect_mapping(orjson.loads(body))


def _write_with_data(fields: Mapping[str, Any]) -> bytes:
    return orjson.dumps({**fields, "data": b64encode(fields["data"]).decode()})


def _read_with_data(body: bytes) -> dict[str, Any]:
    fields = _read(body)
    data = fields.get("data")
    if not isinstance(data, str):
        raise ValueError("expected `data` in base64")
    return {**fields, "data": b64decode(data, validate=True)}


_PLAIN = Coder(write=orjson.dumps, read=_read)
_WITH_DATA = Coder(write=_write_with_data, read=_read_with_data)


def _request(message: str) -> Coder:
    return _WITH_DATA if message in ("echo/data", "image") else _PLAIN


def _reply(message: str) -> Coder:
    return _WITH_DATA if message == "echo/data" else _PLAIN


CODEC = Codec(media_type=JSON, request=_request, reply=_reply, errors=(ValueError,))
"""What it has no word for (NaN) it writes as null, which is found out when the message is read again."""
