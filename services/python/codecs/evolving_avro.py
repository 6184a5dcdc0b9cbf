"""Avro across schemas: fastavro resolves the reader's against the writer's, by names, aliases, defaults and promotions."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from typing import Any

from fastavro import parse_schema, schemaless_reader, schemaless_writer
from fastavro.read import SchemaResolutionError

from services.python.codecs.avro import CODEC
from services.python.codecs.base import Coder, expect_mapping
from services.python.codecs.evolution import Evolved, Field, schemas
from services.python.contract.limits import SchemaChange

DEFAULT = "unknown"
_TYPES: Mapping[str, Any] = {
    "int": "int",
    "long": "long",
    "text": "string",
    "number": "double",
    "flag": "boolean",
    "texts": {"type": "array", "items": "string"},
}
_COUNT = parse_schema({"type": "record", "name": "orch.EvolutionRequest", "fields": [{"name": "count", "type": "int"}]})


def evolve(change: SchemaChange) -> Evolved:
    """Written by the writer's schema, read by both, as Avro asks of a reader."""
    writer, reader = map(_schema, schemas(change))

    def write(records: list[dict[str, Any]]) -> bytes:
        buffer = io.BytesIO()
        schemaless_writer(buffer, writer, {"records": records})
        return buffer.getvalue()

    def read(body: bytes) -> list[dict[str, Any]]:
        records: list[dict[str, Any]] = expect_mapping(schemaless_reader(io.BytesIO(body), writer, reader))["records"]
        return records

    return Evolved(write=write, read=read, errors=(*CODEC.errors, SchemaResolutionError), default=DEFAULT)


def _schema(fields: Iterable[Field]) -> Any:
    record = {"type": "record", "name": "orch.EvolvedRecord", "fields": [_field(field) for field in fields]}
    records = {"name": "records", "type": {"type": "array", "items": record}}
    return parse_schema({"type": "record", "name": "orch.EvolutionReply", "fields": [records]})


def _field(field: Field) -> dict[str, Any]:
    more: dict[str, Any] = {"default": DEFAULT} if field.is_added else {}
    return {
        "name": field.name,
        "type": _TYPES[field.kind],
        **more,
        **({"aliases": [field.formerly]} if field.formerly else {}),
    }


def request() -> Coder:
    """How the request is written and read, which does not change."""

    def write(fields: Mapping[str, Any]) -> bytes:
        buffer = io.BytesIO()
        schemaless_writer(buffer, _COUNT, fields)
        return buffer.getvalue()

    return Coder(write=write, read=lambda body: expect_mapping(schemaless_reader(io.BytesIO(body), _COUNT, None)))
