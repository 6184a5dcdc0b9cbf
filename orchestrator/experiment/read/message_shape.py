"""The message that fits somebody's JSON: its shape, and the .proto of it (protos/documents.md)."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from typing import Any

MOST_FIELDS = 2_000  # of all messages together: more take the compiler, and every start of an end, too long
OR_NULL = "_or_null"
_LONGEST_NAME = 40

_HEAD = """\
// The shape of {name}, written by orch; protos/documents.md says how it is read.
syntax = "proto3";

package orch.document.v1;
{imports}
service Documents {{
  rpc Echo({root}) returns ({root});
}}
"""


def typed_message(documents: Sequence[Any], name: str) -> str:
    """The .proto of a message for any of these documents, of a file called `name`; empty where all of it stays a `Value`."""
    root, messages = Place(), _Messages()
    for document in documents:
        root.see(document)
    kind = messages.named(root)
    if root.kind not in (OBJECT, LIST) or messages.fields > MOST_FIELDS:
        return ""
    body = "".join(f"\nmessage {name} {{\n{body}}}\n" for (_, body), name in messages.names.items())
    imports = '\nimport "google/protobuf/struct.proto";\n' if "google.protobuf." in body else ""
    return _HEAD.format(root=kind, name=name, imports=imports) + body


class _Messages:
    """The messages that a document needs, each body once, in the order in which they are complete."""

    def __init__(self) -> None:
        self.names: dict[tuple[str, str], str] = {}  # by what begins the name, and body
        self.fields = 0

    def named(self, place: Place) -> str:
        """The type of one value of a place that is not null."""
        kind = place.kind
        if kind == OBJECT:
            return self._message("Object", *self._object(place))
        if kind == LIST:
            return self._message("List", f"repeated {self._items(place)} items = 1;")
        return {VALUE: "google.protobuf.Value", NULL: "google.protobuf.NullValue"}.get(kind, kind)

    def _element(self, place: Place) -> str:
        """The type of a value that may be null, where no field can be left out to say so."""
        kind = self.named(place)
        return self._message("Nullable", f"optional {kind} value = 1;") if place.may_be_null else kind

    def _items(self, place: Place) -> str:
        return self._element(place.items or Place())

    def _object(self, place: Place) -> list[str]:
        taken: set[str] = set()
        lines = []
        for number, (key, held) in enumerate(place.fields.items(), start=1):
            is_always_there = held.count == place.count - place.nulls
            is_or_null = is_always_there and held.may_be_null
            name = _field_name(key, OR_NULL if is_or_null else "", taken, place.fields)
            if is_or_null:
                kind = f"optional {self.named(held)}"
            elif is_always_there and held.kind == LIST:
                kind = f"repeated {self._items(held)}"
            else:
                kind = ("" if is_always_there else "optional ") + self._element(held)
            lines.append(f"{kind} {name} = {number} [json_name = {_literal(key)}];")
        return lines

    def _message(self, prefix: str, *fields: str) -> str:
        body = "".join(f"  {field}\n" for field in fields)
        if (prefix, body) not in self.names:
            self.fields += len(fields)
            self.names[prefix, body] = f"{prefix}{len(self.names) + 1}"
        return self.names[prefix, body]


def _field_name(key: str, ending: str, taken: set[str], keys: Container[str]) -> str:
    """A name that every language can have, unlike all `taken` ones and the other `keys`, also behind a `_` (of a oneof)."""
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
    """A string of the .proto language; what is no visible ASCII is written as the octal digits of its UTF-8."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}" for byte in escaped.encode()) + '"'


MOST_KEYS = 250  # different keys of the objects at one place: beyond, they are data
LONGEST_KEY = 500  # characters of a key that is a name
_SIGNED_64 = 1 << 63
NULL = "null"
VALUE = "value"
OBJECT = "object"
LIST = "list"
_KINDS = {bool: "bool", int: "int", float: "float", str: "string", list: LIST, dict: OBJECT}


@dataclass(slots=True)
class Place:
    """What was seen at one place of a document: the kinds of values, and the places within them, of objects by key."""

    count: int = 0
    nulls: int = 0
    kinds: set[str] = field(default_factory=set)  # of all that is not null: bool, int, float, string, list, object
    least: int = 0
    most: int = 0
    items: Place | None = None
    fields: dict[str, Place] = field(default_factory=dict)
    has_data_as_keys: bool = False  # more keys than names, or ones that no `json_name` can be

    def see(self, value: Any) -> None:
        """Take in one more value at this place."""
        self.count += 1
        if value is None:
            self.nulls += 1
            return
        kind = _KINDS[type(value)]
        self.kinds.add(kind)
        if kind == OBJECT:
            for key, item in value.items():
                if key in self.fields or (len(self.fields) < MOST_KEYS and _can_be_a_name(key)):
                    self.fields.setdefault(key, Place()).see(item)
                else:
                    self.has_data_as_keys = True
        elif kind == LIST:
            self.items = self.items or Place()
            for item in value:
                self.items.see(item)
        elif kind == "int":
            self.least, self.most = min(self.least, value), max(self.most, value)

    @property
    def kind(self) -> str:
        """What all values here are but for nulls: a scalar type of Protocol Buffers, `object`, `list`, `null`.

        `value` where there are several kinds, none was seen, no type holds them, or keys are data.
        """
        if not self.kinds:
            return NULL if self.nulls else VALUE
        if self.kinds == {"int"} and self.most < _SIGNED_64:
            return "sint64" if self.least < 0 else "int64"
        if self.kinds == {"int"} and self.least >= 0:
            return "uint64"
        if self.kinds <= {"int", "float"}:
            return "double"
        return VALUE if len(self.kinds) > 1 or self.has_data_as_keys else next(iter(self.kinds))

    @property
    def may_be_null(self) -> bool:
        """Whether some values here are null, and others have a type that has none."""
        return bool(self.nulls) and self.kind not in (NULL, VALUE)


def _can_be_a_name(key: str) -> bool:
    """Whether it is a short `json_name` that protoc takes: without a NUL, not in brackets as extensions are."""
    return len(key) <= LONGEST_KEY and "\0" not in key and not (key.startswith("[") and key.endswith("]"))
