"""JSON as the standard library writes and reads it, compact and in UTF-8."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any

from services.python.codecs.base import Codec, Coder, expect_mapping

JSON = "application/json"

json_text = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
"""Compact JSON; ValueError for what JSON has no word for (NaN)."""


def json_bytes(value: Any) -> bytes:
    """Compact JSON in UTF-8, as the responders write it too."""
    return json_text(value).encode()


def json_object(body: bytes) -> dict[str, Any]:
    """A JSON object; ValueError for anything else."""
    return expect_mapping(json.loads(body))


def _write_with_data(fields: Mapping[str, Any]) -> bytes:
    return json_bytes({**fields, "data": b64encode(fields["data"]).decode()})


def _read_with_data(body: bytes) -> dict[str, Any]:
    fields = json_object(body)
    data = fields.get("data")
    if not isinstance(data, str):
        raise ValueError("expected `data` in base64")
    return {**fields, "data": b64decode(data, validate=True)}


_PLAIN = Coder(write=json_bytes, read=json_object)
_WITH_DATA = Coder(write=_write_with_data, read=_read_with_data)


def _request(message: str) -> Coder:
    return _WITH_DATA if message in ("echo/data", "image") else _PLAIN


def _reply(message: str) -> Coder:
    return _WITH_DATA if message == "echo/data" else _PLAIN


CODEC = Codec(media_type=JSON, request=_request, reply=_reply, errors=(ValueError,))
"""Every message as one JSON object; bytes are base64 in a string, as JSON has no binary type."""
