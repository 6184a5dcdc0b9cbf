"""A JSON document as the typed message that its `schema` describes (`protos/documents.md`), read and made field by field."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError

from services.python.codecs import protobuf
from services.python.codecs.base import Codec, Coder
from services.python.codecs.protobuf import Message, Method, as_value, from_value
from services.python.contract.messages import ECHO
from services.python.load.client import CallFailed, Request
from services.python.operations import OPERATIONS

SERVICE = "orch.document.v1.Documents"

_OR_NULL = "_or_null"
_FIELD = descriptor_pb2.FieldDescriptorProto

Convert = Callable[[Any], Any] | None  # None: as it is


def typed_echo(schema: bytes) -> Method:
    """How the document of this descriptor set travels. ValueError when the set is not as `protos/documents.md` says."""
    try:
        kinds = _Kinds(descriptor_pb2.FileDescriptorSet.FromString(schema))
    except (DecodeError, KeyError, TypeError, IndexError) as error:
        raise ValueError(f"schema: not the descriptor set of a document (protos/documents.md): {error}") from error
    make, write, read = kinds.root, kinds.writers[kinds.name] or dict, kinds.readers[kinds.name]

    def pack(content: Mapping[str, Any]) -> Message:
        return make(**write(content["document"]))

    def unpack(message: Message) -> dict[str, Any]:
        return {"document": read(message)}

    return Method(
        name="Echo",
        service=SERVICE,
        request=make,
        reply=make,
        pack_request=pack,
        unpack_request=unpack,
        pack_reply=pack,
        unpack_reply=unpack,
    )


@dataclass(frozen=True, kw_only=True)
class _Field:
    """One field of an object's message; `key` is that of the document."""

    key: str
    name: str
    write: Convert
    read: Convert
    is_optional: bool

    @property
    def is_null_if_unset(self) -> bool:
        return self.is_optional and self.name.endswith(_OR_NULL)


class _Kinds:
    """How values of every message are written (as keywords of its class) and read; a message stands behind its parts."""

    def __init__(self, files: Any) -> None:
        pool = descriptor_pool.DescriptorPool()
        for file in files.file:
            pool.Add(file)
        own = files.file[-1]
        self.name = pool.FindServiceByName(SERVICE).methods[0].input_type.name
        self.root = message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{own.package}.{self.name}"))
        self.writers: dict[str, Convert] = {"Value": as_value, "NullValue": lambda _null: 0}
        self.readers: dict[str, Any] = {"Value": from_value, "NullValue": lambda _number: None}
        for message in own.message_type:
            self._add(message)

    def _add(self, message: Any) -> None:
        fields = [self._field(field) for field in message.field]
        write: Convert
        read: Convert
        if message.name.startswith("Object"):
            write, read = _object_writer(fields), _object_reader(fields)
        elif message.name.startswith("Nullable"):
            write, read = _nullable(fields[0])
        else:
            write, read = _wrapped(fields[0])
        self.writers[message.name], self.readers[message.name] = write, read

    def _field(self, field: Any) -> _Field:
        write = self._of(self.writers, field)
        read = self._of(self.readers, field)
        if field.label == _FIELD.LABEL_REPEATED:
            write, read = _list_writer(write), _list_reader(read)
        return _Field(key=field.json_name, name=field.name, write=write, read=read, is_optional=field.proto3_optional)

    @staticmethod
    def _of(known: Mapping[str, Convert], field: Any) -> Convert:
        return known[field.type_name.rpartition(".")[2]] if field.type_name else None


def _list_writer(item: Convert) -> Convert:
    return None if item is None else lambda values: [item(value) for value in values]


def _list_reader(item: Convert) -> Convert:
    # A slice of a repeated field is a list, made in C.
    return (lambda values: values[:]) if item is None else lambda values: [item(value) for value in values]


def _wrapped(field: _Field) -> tuple[Convert, Convert]:
    """A list that no field alone can hold."""
    name, write, read, get = field.name, field.write, field.read, attrgetter(field.name)
    return (
        lambda value: {name: value if write is None else write(value)},
        get if read is None else lambda message: read(get(message)),
    )


def _nullable(field: _Field) -> tuple[Convert, Convert]:
    name, write, read, get = field.name, field.write, field.read, attrgetter(field.name)

    def written(value: Any) -> dict[str, Any]:
        return {} if value is None else {name: value if write is None else write(value)}

    def value_of(message: Message) -> Any:
        if not message.HasField(name):
            return None
        return get(message) if read is None else read(get(message))

    return written, value_of


def _object_writer(fields: list[_Field]) -> Convert:
    """None where the object's own keys are the names of the fields, and its values as the message takes them."""
    if all(field.write is None and field.key == field.name for field in fields):
        return None  # a None among them leaves its field unset
    writers = [(field.key, field.name, field.write) for field in fields]

    def written(value: Mapping[str, Any]) -> dict[str, Any]:
        return {
            name: value[key] if write is None or (value[key] is None and name.endswith(_OR_NULL)) else write(value[key])
            for key, name, write in writers
            if key in value
        }

    return written


def _object_reader(fields: list[_Field]) -> Callable[[Message], dict[str, Any]]:
    """Reads every field once: those that are always there in one go, in C, and what is nested in them after that."""
    always = [field for field in fields if not field.is_optional]
    keys, get = [field.key for field in always], _getter([field.name for field in always])
    nested = [(field.key, field.read) for field in always if field.read is not None]
    optional = [
        (field.key, field.name, field.read, attrgetter(field.name), field.is_null_if_unset)
        for field in fields
        if field.is_optional
    ]

    def fields_of(message: Message) -> dict[str, Any]:
        values = dict(zip(keys, get(message), strict=True))
        for key, read in nested:
            values[key] = read(values[key])
        for key, name, read_one, get_one, is_null_if_unset in optional:
            if message.HasField(name):
                values[key] = get_one(message) if read_one is None else read_one(get_one(message))
            elif is_null_if_unset:
                values[key] = None
        return values

    return fields_of


def _getter(names: list[str]) -> Callable[[Message], tuple[Any, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda message: tuple(getattr(message, name) for name in names)


def typed_methods(schema: bytes | None) -> dict[str, Method]:
    """How documents of a schema travel, by operation. ValueError."""
    if schema is None:
        return {}
    echo = typed_echo(schema)
    return {name: protobuf.named(echo, name) for name, operation in OPERATIONS.items() if operation.message is ECHO}


def method_of(operation: str, example: Request, schema: bytes | None) -> Method:
    """As `method_for`; a document travels as the message of the schema where there is one."""
    if schema is None or "document" not in example:
        return protobuf.method_for(operation, example)
    try:
        typed = typed_echo(schema)
    except ValueError as error:
        raise CallFailed("protocol", str(error)) from error
    return protobuf.method_for(operation, example, protobuf.named(typed, operation))


def with_schema(schema: bytes) -> Codec:
    """Protocol Buffers in bodies, documents as the message of the schema; ValueError as `typed_echo`."""
    typed = typed_echo(schema)
    document = protobuf.request_coder(typed)

    def or_document(of: Callable[[str], Coder]) -> Callable[[str], Coder]:
        return lambda message: document if message == "echo/document" else of(message)

    return replace(
        protobuf.CODEC,
        request=or_document(protobuf.CODEC.request),
        reply=or_document(protobuf.CODEC.reply),
        require=lambda operation, example: method_of(operation, example, schema),
    )
