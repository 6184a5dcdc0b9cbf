"""Protocol Buffers across schemas: a field is its number and wire type; what a reader does not know stays unread."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError

from services.python.codecs.base import Coder
from services.python.codecs.evolution import Evolved, Field, schemas
from services.python.contract.limits import SchemaChange

_FIELD = descriptor_pb2.FieldDescriptorProto
_TYPES = {
    "int": _FIELD.TYPE_INT32,
    "long": _FIELD.TYPE_INT64,
    "text": _FIELD.TYPE_STRING,
    "number": _FIELD.TYPE_DOUBLE,
    "flag": _FIELD.TYPE_BOOL,
    "texts": _FIELD.TYPE_STRING,
}
_PACKAGE = "orch.evolution.v1"


def evolve(change: SchemaChange) -> Evolved:
    """Written as the writer's message, parsed as the reader's, of which every field is read once."""
    of_writer, of_reader = schemas(change)
    make, parse = _messages(of_writer), _messages(of_reader).FromString
    names = [field.name for field in of_reader]
    get = attrgetter(*names)
    lists = [field.name for field in of_reader if field.kind == "texts"]

    def write(records: list[dict[str, Any]]) -> bytes:
        return bytes(make(records=records).SerializeToString())

    def read(body: bytes) -> list[dict[str, Any]]:
        records = [dict(zip(names, get(item), strict=True)) for item in parse(body).records]
        for record in records:
            for name in lists:
                record[name] = record[name][:]  # a list, made in C
        return records

    return Evolved(write=write, read=read, errors=(DecodeError, ValueError), default="")


def _messages(fields: Iterable[Field]) -> Any:
    file = descriptor_pb2.FileDescriptorProto(name="evolution.proto", package=_PACKAGE, syntax="proto3")
    record = file.message_type.add(name="EvolvedRecord")
    for field in fields:
        label = _FIELD.LABEL_REPEATED if field.kind == "texts" else _FIELD.LABEL_OPTIONAL
        record.field.add(name=field.name, number=field.number, type=_TYPES[field.kind], label=label)
    file.message_type.add(name="EvolutionReply").field.add(
        name="records",
        number=1,
        type=_FIELD.TYPE_MESSAGE,
        type_name=f".{_PACKAGE}.EvolvedRecord",
        label=_FIELD.LABEL_REPEATED,
    )
    file.message_type.add(name="EvolutionRequest").field.add(
        name="count", number=1, type=_FIELD.TYPE_UINT32, label=_FIELD.LABEL_OPTIONAL
    )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.EvolutionReply"))


def request() -> Coder:
    """How the request is written and read, which does not change."""
    pool = _messages(()).DESCRIPTOR.file.pool
    kind: Any = message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.EvolutionRequest"))
    return Coder(
        write=lambda fields: bytes(kind(count=fields["count"]).SerializeToString()),
        read=lambda body: {"count": kind.FromString(body).count},
    )
