"""A JSON document's shape as a .proto: the same document gives the same text. `protos/documents.md` says how to read it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Container
from dataclasses import dataclass
from typing import Any

from orchestrator.experiment.plan.shape import LIST, MAP, NULL, OBJECT, VALUE, Place, shape_of

MOST_FIELDS = 2_000  # of all messages together: more take the compiler, and every start of an end, too long
OR_NULL = "_or_null"

_LONGEST_NAME = 40
_ANY = "google.protobuf.Value"
_HEAD = """\
// The shape of {name}, written by orch; protos/documents.md says how it is read.
syntax = "proto3";

package orch.document.v1;
{imports}
service Documents {{
  rpc Echo({root}) returns ({root});
}}
"""


@dataclass(frozen=True, kw_only=True)
class TypedMessage:
    """What became of a document. `proto` is empty where it travels as one `google.protobuf.Value`; `note` says why.

    `typed` of its `values` have a type of their own, the others are in a `google.protobuf.Value` of that message.
    """

    proto: str
    values: int
    typed: int
    note: str = ""

    @property
    def sha256(self) -> str:
        """Of the .proto's text; empty where there is none."""
        return hashlib.sha256(self.proto.encode()).hexdigest() if self.proto else ""


def typed_message(document: Any, name: str) -> TypedMessage:
    """The message of a document that a file called `name` holds."""
    root = shape_of(document)
    if root.kind not in (OBJECT, MAP, LIST):
        return TypedMessage(proto="", values=root.values, typed=0, note="it is a single value, which has no shape")
    messages = _Messages()
    try:
        kind = messages.named(root)
    except _TooManyFields:
        note = f"its messages would have more than {MOST_FIELDS:,} fields"
        return TypedMessage(proto="", values=root.values, typed=0, note=note)
    body = "".join(f"\nmessage {n} {{\n{b}}}\n" for (_, b), n in messages.names.items())
    imports = '\nimport "google/protobuf/struct.proto";\n' if "google.protobuf." in body else ""
    text = _HEAD.format(root=kind, name=name, imports=imports) + body
    return TypedMessage(proto=text, values=root.values, typed=root.values - messages.untyped)


class _TooManyFields(Exception):
    """The shape is larger than a person would write down."""


class _Messages:
    """The messages that a document needs, each body once, in the order in which they are complete."""

    def __init__(self) -> None:
        self.names: dict[tuple[str, str], str] = {}  # by what begins the name, and body
        self.untyped = 0
        self._fields = 0

    def named(self, place: Place) -> str:
        """The type of one value of a place that is not null."""
        match place.kind:
            case kind if kind == OBJECT:
                return self._message("Object", *self._object(place))
            case kind if kind == MAP:
                return self._message("Map", f"{self._members(place)} entries = 1;")
            case kind if kind == LIST:
                return self._message("List", f"repeated {self._items(place)} items = 1;")
            case kind if kind == NULL:
                return "google.protobuf.NullValue"
            case kind if kind == VALUE:
                self.untyped += place.values
                return _ANY
            case kind:
                return kind

    def _element(self, place: Place) -> str:
        """The type of a value that may be null, where no field can be left out to say so."""
        kind = self.named(place)
        if place.nulls and place.kind not in (NULL, VALUE):
            return self._message("Nullable", f"optional {kind} value = 1;")
        return kind

    def _items(self, place: Place) -> str:
        return self._element(place.items or Place())

    def _members(self, place: Place) -> str:
        return f"map<string, {self._element(place.members or Place())}>"

    def _object(self, place: Place) -> list[str]:
        taken: set[str] = set()
        lines = []
        for number, (key, held) in enumerate(place.fields.items(), start=1):
            is_always_there = held.count == place.count - place.nulls
            may_be_null = bool(held.nulls) and held.kind not in (NULL, VALUE)
            name = _field_name(key, OR_NULL if is_always_there and may_be_null else "", taken, place.fields)
            if is_always_there and not may_be_null and held.kind in (LIST, MAP):
                kind = f"repeated {self._items(held)}" if held.kind == LIST else self._members(held)
            elif is_always_there and may_be_null:
                kind = f"optional {self.named(held)}"
            else:
                kind = ("" if is_always_there else "optional ") + self._element(held)
            lines.append(f"{kind} {name} = {number} [json_name = {_literal(key)}];")
        return lines

    def _message(self, prefix: str, *fields: str) -> str:
        """The name of the message with these fields."""
        body = "".join(f"  {field}\n" for field in fields)
        if (prefix, body) not in self.names:
            self._fields += len(fields)
            if self._fields > MOST_FIELDS:
                raise _TooManyFields
            self.names[prefix, body] = f"{prefix}{len(self.names) + 1}"
        return self.names[prefix, body]


def _field_name(key: str, ending: str, taken: set[str], keys: Container[str]) -> str:
    """A name that every language can have, unlike all `taken` ones.

    It is no `json_name` of another of `keys`; nor is it one behind a `_`, as protoc calls the oneof of an optional field.
    """
    base = re.sub(r"[^a-z0-9]+", "_", key.lower())[:_LONGEST_NAME].strip("_")
    if not base or base[0].isdigit():
        base = f"field_{base}".strip("_")
    if f"_{base}".endswith(OR_NULL):
        base += "_key"
    name, number = base + ending, 1
    while name.replace("_", "") in taken or (name in keys and name != key) or f"_{name}" in keys:
        number += 1
        name = f"{base}_{number}{ending}"
    taken.add(name.replace("_", ""))
    return name


def _literal(text: str) -> str:
    """A string of the .proto language; what is no visible ASCII stands as the octal digits of its UTF-8."""
    return '"' + "".join(_escaped(byte) for byte in text.encode()) + '"'


def _escaped(byte: int) -> str:
    character = chr(byte)
    if character in '"\\':
        return "\\" + character
    return character if 32 <= byte < 127 else f"\\{byte:03o}"
