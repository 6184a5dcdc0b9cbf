"""Avro with fastavro: each message has a schema known to both ends, so that a body holds values only.

The schemas of `operations.avsc` are parsed once. Avro has no type for "any JSON value", so that a document travels as
JSON text in a string.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fastavro import parse_schema, schemaless_reader, schemaless_writer

from services.python.codecs.base import Codec, Coder, expect_mapping
from services.python.codecs.json import json_text
from services.python.contract.messages import capitals
from services.python.operations import forms

SCHEMAS = Path(__file__).with_name("operations.avsc")

# What fastavro raises for a body that does not fit the schema.
_ERRORS = (ValueError, EOFError, IndexError, OverflowError)


def _parsed() -> Mapping[str, Any]:
    known: dict[str, Any] = {}
    return {
        schema["name"]: parse_schema(schema, named_schemas=known, expand=True)
        for schema in json.loads(SCHEMAS.read_text(encoding="utf-8"))
    }


_SCHEMAS = _parsed()


def _coder(name: str) -> Coder:
    schema = _SCHEMAS[name]

    def write(fields: Mapping[str, Any]) -> bytes:
        buffer = io.BytesIO()
        schemaless_writer(buffer, schema, fields)
        return buffer.getvalue()

    def read(body: bytes) -> dict[str, Any]:
        return expect_mapping(schemaless_reader(io.BytesIO(body), schema, None))

    return Coder(write=write, read=read)


def _document_coder() -> Coder:
    inner = _coder("EchoDocument")

    def write(fields: Mapping[str, Any]) -> bytes:
        return inner.write({"document": json_text(fields["document"])})

    def read(body: bytes) -> dict[str, Any]:
        return {"document": json.loads(inner.read(body)["document"])}

    return Coder(write=write, read=read)


_ECHOES = {"echo/data": _coder("EchoData"), "echo/records": _coder("EchoRecords"), "echo/document": _document_coder()}
_NAMED = frozenset(name for name in forms() if f"{capitals(name)}Request" in _SCHEMAS)


def _request(message: str) -> Coder:
    return _ECHOES[message] if message in _ECHOES else _coder(f"{capitals(message)}Request")


def _reply(message: str) -> Coder:
    return _ECHOES[message] if message in _ECHOES else _coder(f"{capitals(message)}Reply")


CODEC = Codec(
    media_type="application/avro", request=_request, reply=_reply, errors=_ERRORS, schemas=_NAMED | frozenset(_ECHOES)
)
