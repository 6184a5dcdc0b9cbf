"""GraphQL across schemas: the query is the reader's schema, and a server validates it against its own, the writer's.

It does so once, when the query first comes, and before anything is timed here: an invalid one is answered with its errors
each time, a valid one with the fields that it asks for, and no others.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from graphql import build_schema, parse, validate

from services.python.codecs.base import Coder, expect_mapping
from services.python.codecs.evolution import Evolved, Field, schemas
from services.python.codecs.json import json_bytes
from services.python.contract.limits import SchemaChange

# GraphQL's one type of whole numbers has 32 bits.
_TYPES: Mapping[str, str] = {
    "int": "Int!",
    "long": "Int!",
    "text": "String!",
    "number": "Float!",
    "flag": "Boolean!",
    "texts": "[String!]!",
}


class QueryRefused(ValueError):
    """What a client makes of a response with errors and no data."""


def evolve(change: SchemaChange) -> Evolved:
    """The response to the reader's query as a server with the writer's schema gives it."""
    writer, reader = schemas(change)
    text = query(reader)
    errors = [error.formatted for error in validate(build_schema(_schema(writer)), parse(text))]
    refused = json_bytes({"data": None, "errors": errors}) if errors else None
    selected = [(field.name, field.formerly or field.name) for field in reader]

    def write(records: list[dict[str, Any]]) -> bytes:
        if refused is not None:
            return refused
        return json_bytes(
            {"data": {"evolution": [{key: record[name] for key, name in selected} for record in records]}}
        )

    def read(body: bytes) -> list[dict[str, Any]]:
        reply = expect_mapping(json.loads(body))
        if reply.get("errors"):
            raise QueryRefused("; ".join(str(error["message"]) for error in reply["errors"]))
        records: list[dict[str, Any]] = reply["data"]["evolution"]
        return records

    return Evolved(write=write, read=read, errors=(ValueError, KeyError, TypeError))


def request(change: SchemaChange) -> Coder:
    """The query with its variables."""
    text = query(schemas(change)[1])
    return Coder(
        write=lambda fields: json_bytes({"query": text, "variables": {"count": fields["count"]}}),
        read=lambda body: expect_mapping(expect_mapping(json.loads(body))["variables"]),
    )


def query(fields: Iterable[Field]) -> str:
    """The reader's query; a field that it calls otherwise than the writer is asked for by an alias."""
    selected = " ".join(f"{field.name}: {field.formerly}" if field.formerly else field.name for field in fields)
    return f"query Evolution($count: Int!) {{ evolution(count: $count) {{ {selected} }} }}"


def _schema(fields: Iterable[Field]) -> str:
    record = " ".join(f"{field.name}: {_TYPES[field.kind]}" for field in fields)
    return f"type Query {{ evolution(count: Int!): [EvolvedRecord!]! }} type EvolvedRecord {{ {record} }}"
