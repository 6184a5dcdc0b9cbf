"""JSON as the standard library writes and reads it, compact and in UTF-8."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from typing import Any

from services.python.codecs.base import Codec, Coder, expect_mapping
from services.python.contract.messages import Field
from services.python.operations import forms

JSON = "application/json"

json_text = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
"""Compact JSON; ValueError for what JSON has no word for (NaN)."""


def json_bytes(value: Any) -> bytes:
    """Compact JSON in UTF-8, as the responders write it too."""
    return json_text(value).encode()


def json_object(body: bytes) -> dict[str, Any]:
    """A JSON object; ValueError for anything else."""
    return expect_mapping(json.loads(body))


def bytes_of(fields: Mapping[str, Field]) -> tuple[str, ...]:
    """The names of the fields that are bytes."""
    return tuple(name for name, kind in fields.items() if kind == "bytes")


def as_text(fields: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """The fields with the bytes of these names as base64 text; JSON has no binary type."""
    converted = {**fields}
    for name in names:
        converted[name] = b64encode(converted[name]).decode()
    return converted


def as_bytes(fields: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """The reverse; ValueError where there is no such text."""
    converted = {**fields}
    for name in names:
        text = converted.get(name)
        if not isinstance(text, str):
            raise ValueError(f"expected `{name}` in base64")
        converted[name] = b64decode(text, validate=True)
    return converted


def json_codec(plain: Coder) -> Codec:
    """Every message as one JSON object, as `plain` writes and reads it; bytes are base64 in a string."""

    def coder(fields: Mapping[str, Field]) -> Coder:
        names = bytes_of(fields)
        if not names:
            return plain
        write, read = plain.write, plain.read
        return Coder(
            write=lambda values: write(as_text(values, names)),
            read=lambda body: as_bytes(expect_mapping(read(body)), names),
        )

    return Codec(
        media_type=JSON,
        request=lambda message: coder(forms()[message].request),
        reply=lambda message: coder(forms()[message].reply),
        errors=(ValueError,),
    )


CODEC = json_codec(Coder(write=json_bytes, read=json_object))  # JSON with the standard library; it has no binary type
