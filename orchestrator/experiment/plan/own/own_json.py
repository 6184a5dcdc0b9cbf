"""How the user's own JSON travels over Protocol Buffers: as a message made from its shape, or as `google.protobuf.Value`.

The shape is taken when the plan is made, and its .proto compiled then and at set-up, here: the ends need no compiler. What
Protocol Buffers cannot carry of a document is refused by its limits (`json_payload`).
"""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from orchestrator.catalogue.offers import End, Responder
from orchestrator.disk import whole_file, writing
from orchestrator.errors import MissingError, OrchError, UsageError
from orchestrator.experiment.model.loader import Located
from orchestrator.experiment.plan.payloads import PlannedOperation
from orchestrator.experiment.plan.plan import Plan, Shape
from orchestrator.experiment.read.json_payload import DEEP, LONG_INTEGER, MOST_JSON_BYTES
from orchestrator.files import read_file

How = Literal["typed", "value"]
DOCUMENT = "document"
TYPED: How = "typed"
AS_VALUE: How = "value"
WORDS: Mapping[str, str] = {TYPED: "as a typed message", AS_VALUE: "as google.protobuf.Value"}
INSTALL = "make setup, or: pip install grpcio-tools"
_CODEC = "Protocol Buffers"
_OWN = ("json", "documents")  # kinds of payloads


def carried_by(responder: Responder, client: End) -> How | None:
    """The best that both ends can do with a document; None where it travels as it is, without Protocol Buffers."""
    if all(end.lacks(DOCUMENT, TYPED) is None for end in (responder, client)):
        return TYPED
    return AS_VALUE if responder.parts.codec == _CODEC else None


def carried_alone(parts: Mapping[str, str]) -> How | None:
    """What a codec alone does with a document: no schema is made for it."""
    return AS_VALUE if parts["codec"] == _CODEC else None


def way(carried: object, payload: Mapping[str, Any], chosen: object, shape: Shape | None) -> How | None:
    """How a cell's document travels, by what its stack can do (`carried_by`) and what is chosen; None if it has none."""
    if carried is None or payload.get("kind") not in _OWN:
        return None
    return TYPED if carried == TYPED and chosen == TYPED and shape is not None and shape.proto_sha256 else AS_VALUE


def is_compiler_there() -> bool:
    """Whether this machine can make a descriptor set of a .proto."""
    return find_spec("grpc_tools") is not None


def with_shape(located: Located, planned: PlannedOperation) -> PlannedOperation:
    """The same with the shape of its document, of no message where it cannot have one; a missing compiler is noted."""
    if planned.file is None or planned.operation.payload["kind"] not in _OWN:
        return planned
    path = ("operations", planned.item)
    if not is_compiler_there():
        located.add(
            path,
            f"a typed message of {planned.file.source} is compiled with protoc, which is not here: {INSTALL}; or write"
            f" `{DOCUMENT}: {AS_VALUE}`.",
        )
        return planned
    sources = filter(None, (planned.file.source, planned.file.reply))
    documents = [json.loads(read_file(located.folder / source, MOST_JSON_BYTES)) for source in sources]
    message = typed_message(documents[0], planned.file.name, *documents[1:])
    shape = Shape(proto_sha256=message.sha256, values=message.values, typed=message.typed, note=message.note)
    if message.proto:
        try:
            descriptor_set(message.proto)
        except OrchError as error:
            shape = Shape(proto_sha256="", values=message.values, typed=0, note=str(error))
    return replace(planned, operation=replace(planned.operation, shape=shape))


def refusal(limits: Mapping[str, str], carried: How | None, ends: Iterable[End]) -> str | None:
    """Return why a stack cannot carry a document of these limits, as a clause; None where it can."""
    if LONG_INTEGER in limits:
        if carried == AS_VALUE:
            return f"{limits[LONG_INTEGER]}, and the numbers of google.protobuf.Value are doubles"
        if reason := next((end.refuses[LONG_INTEGER] for end in ends if LONG_INTEGER in end.refuses), None):
            return f"{limits[LONG_INTEGER]}, and {reason}"
    if DEEP in limits and carried is not None:
        return f"{limits[DEEP]}, the most that parsers of Protocol Buffers take"
    return None


def write_schemas(plan: Plan, files: Sequence[Path]) -> dict[str, tuple[Path, str]]:
    """Beside each document that travels typed, its .proto and descriptor set: path and SHA-256, by operation.

    `files` are those of `payloads.materialise`. MissingError without a compiler; UsageError where the message has changed.
    """
    operations = {operation.id: operation for operation in plan.operations}
    typed = {
        cell.operation
        for cell in plan.cells
        if plan_way(plan, cell.stack, cell.operation, cell.factors.get(DOCUMENT)) == TYPED
    }
    schemas = {}
    for file, path in zip(plan.payload_files, files, strict=True):
        if file.operation not in typed:
            continue
        content = json.loads(path.read_bytes())
        documents = [content["request"], content["reply"]] if file.reply else [content]
        message = typed_message(documents[0], file.name, *documents[1:])
        shape = operations[file.operation].shape
        if shape is None or message.sha256 != shape.proto_sha256:
            raise UsageError(
                f"the typed message of {file.source} is not what it was when the plan was made",
                hint=f"plan again: orch plan {plan.experiment_path}",
            )
        compiled = descriptor_set(message.proto)
        target = path.with_name(f"{path.name}.pb")
        for place, content in ((path.with_name(f"{path.name}.proto"), message.proto.encode()), (target, compiled)):
            with writing(place, "`orch run --resume`"), whole_file(place) as partial:
                partial.write_bytes(content)
        schemas[file.operation] = (target, hashlib.sha256(compiled).hexdigest())
    return schemas


def plan_way(plan: Plan, stack: str, operation: str, chosen: object) -> How | None:
    """How the document of an operation travels over a stack of the plan; None where there is none."""
    planned = next(o for o in plan.operations if o.id == operation)
    return way(plan.resolved.get(stack, {}).get("documents"), planned.payload, chosen, planned.shape)


def descriptor_set(proto: str) -> bytes:
    """What protoc makes of a .proto: a serialised FileDescriptorSet, its imports before it. MissingError without protoc."""
    from orchestrator.experiment.plan.own.own_protos import Unusable, protoc

    if not is_compiler_there():
        raise MissingError("a typed message is compiled with protoc, which is not here", hint=INSTALL)
    with tempfile.TemporaryDirectory(prefix="orch-") as folder:
        file = Path(folder, "document.proto")
        file.write_text(proto, encoding="utf-8")
        try:
            return protoc(file, [file.parent])
        except Unusable as error:
            hint = f"write `{DOCUMENT}: {AS_VALUE}`"
            raise OrchError(f"protoc refused its message: {error}", hint=hint) from error


def sentence(plan: Mapping[str, Any]) -> str:
    """Which it was, for headline, plan and report, of what `Plan.to_dict` gives; empty where no JSON travels so."""
    labels = {s["id"]: s["label"] for s in plan.get("stacks", ()) if not s.get("control_of")}
    clauses = []
    for operation in plan.get("operations", ()):
        shape = None if operation.get("shape") is None else Shape(**operation["shape"])
        by_way: dict[str, list[str]] = {}
        for cell in plan.get("cells", ()):
            carried = plan.get("resolved", {}).get(cell["stack"], {}).get("documents")
            how = way(carried, operation["payload"], cell["factors"].get(DOCUMENT), shape)
            if cell["operation"] == operation["id"] and cell["stack"] in labels and how:
                by_way.setdefault(how, []).append(labels[cell["stack"]])
        words = [
            f"{WORDS[w]} over {', '.join(dict.fromkeys(by_way[w]))}{_share(w, shape)}" for w in WORDS if w in by_way
        ]
        clauses += [f"{operation['label'].partition(' ')[2]} travels {' and '.join(words)}"] if words else []
    return f"Its own JSON: {'; '.join(clauses)}." if clauses else ""


def carried_cells(plan: Mapping[str, Any]) -> frozenset[str]:
    """The ids of the cells whose document travels over Protocol Buffers, of what `Plan.to_dict` gives."""
    operations = {operation["id"]: operation for operation in plan.get("operations", ())}
    return frozenset(
        cell["id"]
        for cell in plan.get("cells", ())
        if way(
            plan.get("resolved", {}).get(cell["stack"], {}).get("documents"),
            operations[cell["operation"]]["payload"],
            cell["factors"].get(DOCUMENT),
            None,
        )
    )


def _share(how: str, shape: Shape | None) -> str:
    """How much of a typed document is, and why one is not that was to be."""
    if shape is None:
        return ""
    if how != TYPED:
        return f" ({shape.note})" if shape.note else ""
    if shape.typed == shape.values:
        return f" (all of its {shape.values:,} values)"
    return f" ({shape.typed:,} of its {shape.values:,} values, the others as google.protobuf.Value within it)"


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
    """What became of a document: `typed` of its `values` have a type of their own, others are a `google.protobuf.Value`.

    `proto` is empty where all of it is one, and `note` says why.
    """

    proto: str
    values: int
    typed: int
    note: str = ""

    @property
    def sha256(self) -> str:
        """Of the .proto's text; empty where there is none."""
        return hashlib.sha256(self.proto.encode()).hexdigest() if self.proto else ""


def typed_message(document: Any, name: str, *others: Any) -> TypedMessage:
    """The message of a document that a file called `name` holds; with `others` one that holds any of them."""
    root = shape_of(document, *others)
    if root.kind not in (OBJECT, LIST):
        return TypedMessage(proto="", values=root.values, typed=0, note="it is no list, and no object of few keys")
    messages = _Messages()
    try:
        kind = messages.named(root)
    except _TooManyFields:
        note = f"its messages would have more than {MOST_FIELDS:,} fields"
        return TypedMessage(proto="", values=root.values, typed=0, note=note)
    if messages.holds_long_integers:
        note = "a whole number that no double holds is beside values of another kind"
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
        self.holds_long_integers = False  # in a `google.protobuf.Value`
        self._fields = 0

    def named(self, place: Place) -> str:
        """The type of one value of a place that is not null."""
        match place.kind:
            case kind if kind == OBJECT:
                return self._message("Object", *self._object(place))
            case kind if kind == LIST:
                return self._message("List", f"repeated {self._items(place)} items = 1;")
            case kind if kind == NULL:
                return "google.protobuf.NullValue"
            case kind if kind == VALUE:
                self.untyped += place.values
                self.holds_long_integers |= place.holds_long_integers
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

    def _object(self, place: Place) -> list[str]:
        taken: set[str] = set()
        lines = []
        for number, (key, held) in enumerate(place.fields.items(), start=1):
            is_always_there = held.count == place.count - place.nulls
            may_be_null = bool(held.nulls) and held.kind not in (NULL, VALUE)
            name = _field_name(key, OR_NULL if is_always_there and may_be_null else "", taken, place.fields)
            if is_always_there and not may_be_null and held.kind == LIST:
                kind = f"repeated {self._items(held)}"
            elif is_always_there and may_be_null:
                kind = f"optional {self.named(held)}"
            else:
                kind = ("" if is_always_there else "optional ") + self._element(held)
            lines.append(f"{kind} {name} = {number} [json_name = {_literal(key)}];")
        return lines

    def _message(self, prefix: str, *fields: str) -> str:
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
    """A string of the .proto language; what is no visible ASCII is written as the octal digits of its UTF-8."""
    return '"' + "".join(_escaped(byte) for byte in text.encode()) + '"'


def _escaped(byte: int) -> str:
    character = chr(byte)
    if character in '"\\':
        return "\\" + character
    return character if 32 <= byte < 127 else f"\\{byte:03o}"


MOST_KEYS = 250  # different keys of the objects at one place: beyond, they are data
LONGEST_KEY = 500  # characters of a key that is a name
_SIGNED_64 = 1 << 63
NULL = "null"
VALUE = "value"
OBJECT = "object"
LIST = "list"


class Place:
    """What was seen at one place of a document: how many values of each kind, and the places within them.

    `fields` are those of its objects by key; `members` has what further keys hold, and keys that no `json_name` can be.
    """

    __slots__ = ("count", "fields", "items", "kinds", "least", "members", "most", "nulls", "unfit")

    def __init__(self) -> None:
        self.count = 0
        self.nulls = 0
        self.kinds: dict[str, int] = {}  # of all that is not null: bool, int, float, string, list, object
        self.least = 0
        self.most = 0
        self.unfit = False  # holds an integer that no double can
        self.items: Place | None = None
        self.fields: dict[str, Place] = {}
        self.members: Place | None = None

    @property
    def values(self) -> int:
        """How many JSON values are here and below, each list and each object counted as one besides what it holds."""
        return self.count + sum(place.values for place in self._within())

    def _within(self) -> Iterator[Place]:
        yield from self.fields.values()
        yield from (place for place in (self.items, self.members) if place is not None)

    @property
    def holds_long_integers(self) -> bool:
        """Whether an integer that no double holds is here or below."""
        return self.unfit or any(place.holds_long_integers for place in self._within())

    def see(self, value: Any) -> None:
        """Take in one more value at this place."""
        self.count += 1
        if value is None:
            self.nulls += 1
            return
        if isinstance(value, dict):
            self._add(OBJECT)
            for key, item in value.items():
                self._member(key).see(item)
        elif isinstance(value, list):
            self._add(LIST)
            self.items = self.items or Place()
            for item in value:
                self.items.see(item)
        else:
            self._see_scalar(value)

    def _see_scalar(self, value: Any) -> None:
        if isinstance(value, bool):
            self._add("bool")
        elif isinstance(value, int):
            self._add("int")
            self.least, self.most = min(self.least, value), max(self.most, value)
            self.unfit = self.unfit or int(float(value)) != value
        else:
            self._add("float" if isinstance(value, float) else "string")

    def _add(self, kind: str) -> None:
        self.kinds[kind] = self.kinds.get(kind, 0) + 1

    def _member(self, key: str) -> Place:
        if key in self.fields:
            return self.fields[key]
        if len(self.fields) == MOST_KEYS or not _can_be_a_name(key):
            self.members = self.members or Place()
            return self.members
        return self.fields.setdefault(key, Place())

    @property
    def kind(self) -> str:
        """What all values here are but for nulls: a scalar type of Protocol Buffers, `object`, `list`, `null`.

        `value` where there are several kinds, none was seen, no type holds them, or keys are data.
        """
        kinds = set(self.kinds)
        if not kinds:
            return NULL if self.nulls else VALUE
        if kinds == {"int"}:
            if self.least < 0 and self.most < _SIGNED_64:
                return "sint64"
            if self.least >= 0:
                return "int64" if self.most < _SIGNED_64 else "uint64"
        if kinds <= {"int", "float"}:
            return VALUE if self.unfit else "double"
        if kinds == {OBJECT}:
            return OBJECT if self.members is None else VALUE
        return kinds.pop() if len(kinds) == 1 else VALUE


def shape_of(*documents: Any) -> Place:
    """The place of the documents themselves."""
    root = Place()
    for document in documents:
        root.see(document)
    return root


def _can_be_a_name(key: str) -> bool:
    """Whether it is a short `json_name` that protoc takes: without a NUL, not in brackets as extensions are."""
    return len(key) <= LONGEST_KEY and "\0" not in key and not (key.startswith("[") and key.endswith("]"))
