"""Records written with one schema and read with another: what comes of it is found out by coding them, each time.

`Evolved` is how a codec does it: `write` by the writer's schema, `read` by the reader's. Both have the five fields of a
record of an echo; a `SchemaChange` says in which one they differ, and `protos/evolution.md` how in each format. A reader
that fails does so within what is timed, and what it says is the outcome.
"""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from services.python.codecs import alone
from services.python.codecs.alone import REPLY, REQUEST, Dialer, Message
from services.python.codecs.base import Codec, Coder, codec_named, expect_mapping
from services.python.contract.limits import SchemaChange
from services.python.contract.messages import EVOLUTION
from services.python.contract.offers import Client
from services.python.load.client import CallSpec, Reply, Request
from services.python.operations import message_named
from services.python.operations.base import shorten
from services.python.operations.evolution import Asked

Record = Mapping[str, Any]

ADDED, REMOVED, RENAMED, MOVED, RETYPED = "note", "active", "value", "name", "id"
NEW_NAME = "amount"  # of the field that is renamed

RIGHT, ABSENT, LOST = "right value", "absent", "lost silently"
WRONG_TYPE, WRONG_VALUE, ELSEWHERE = "wrong type", "wrong value", "another field is wrong"
DEFAULT, FAILS = "default: ", "fails: "

_MISSING = object()
_LONGEST = 200  # characters of what a reader said


@dataclass(frozen=True, kw_only=True)
class Field:
    """One field of a schema: its type, its number where a format has numbers, and how it was called before."""

    name: str
    kind: Literal["int", "long", "text", "number", "flag", "texts"]
    number: int
    formerly: str = ""
    is_added: bool = False


FIELDS = (
    Field(name="id", kind="long", number=1),
    Field(name="name", kind="text", number=2),
    Field(name="value", kind="number", number=3),
    Field(name="active", kind="flag", number=4),
    Field(name="tags", kind="texts", number=5),
)
_NEXT_NUMBER = 6


def schemas(change: SchemaChange) -> tuple[tuple[Field, ...], tuple[Field, ...]]:
    """The writer's fields and the reader's, each in its order."""
    by_name = {field.name: field for field in FIELDS}
    if change == "added":
        return FIELDS, (*FIELDS, Field(name=ADDED, kind="text", number=_NEXT_NUMBER, is_added=True))
    if change == "removed":
        return FIELDS, tuple(field for field in FIELDS if field.name != REMOVED)
    if change == "renamed":
        return FIELDS, _with(RENAMED, replace(by_name[RENAMED], name=NEW_NAME, formerly=RENAMED))
    if change == "renamed-without-alias":
        return FIELDS, _with(RENAMED, replace(by_name[RENAMED], name=NEW_NAME))
    if change == "renumbered":
        rest = tuple(field for field in FIELDS if field.name != MOVED)
        return FIELDS, (*rest, replace(by_name[MOVED], number=_NEXT_NUMBER))
    if change == "widened":
        return _with(RETYPED, replace(by_name[RETYPED], kind="int")), FIELDS
    if change == "retyped":
        return FIELDS, _with(RETYPED, replace(by_name[RETYPED], kind="text"))
    return FIELDS, FIELDS


def _with(name: str, field: Field) -> tuple[Field, ...]:
    return tuple(field if each.name == name else each for each in FIELDS)


@dataclass(frozen=True, kw_only=True)
class Evolved:
    """How records are written by one schema and read by another; `errors` is what `read` raises for what it cannot read.

    `default` is what the reader's schema says stands for the added field.
    """

    write: Callable[[list[dict[str, Any]]], bytes]
    read: Callable[[bytes], list[dict[str, Any]]]
    errors: tuple[type[Exception], ...]
    default: Any = _MISSING


@dataclass(frozen=True)
class Failed:
    """What a reader said that could not read a message."""

    words: str


def is_evolution(call: CallSpec) -> bool:
    """Whether records are to be written by one schema and read by another."""
    return message_named(call.operation).name == EVOLUTION.name


def change_of(call: CallSpec) -> SchemaChange:
    """How the reader's schema differs from the writer's."""
    request = call.example[REQUEST]
    return request.schema_change if isinstance(request, Asked) else "none"


def of_codec(codec: Codec, call: CallSpec) -> Dialer:
    """Codes the records of a codec without schemas: a reader gets what was written, as it is."""
    reply = codec.reply(EVOLUTION.name)

    def read(body: bytes) -> list[dict[str, Any]]:
        records: list[dict[str, Any]] = expect_mapping(reply.read(body))["records"]
        return records

    evolved = Evolved(write=lambda records: reply.write({"records": records}), read=read, errors=codec.errors)
    return dialer_of(lambda _change: evolved, codec.request(EVOLUTION.name), call)


def dialer_of(evolve: Callable[[SchemaChange], Evolved], request: Coder, call: CallSpec) -> Dialer:
    """Codes the request as usual, and the reply's records by both schemas of its change."""
    evolved = evolve(change_of(call))
    write, read, errors = evolved.write, evolved.read, evolved.errors

    def read_reply(body: bytes) -> Any:
        try:
            return read(body)
        except errors as error:
            return Failed(f"{type(error).__name__}: {error}")

    def value(came: Any) -> Reply:
        return {"records": came, "default": evolved.default}

    reply = Message(write=lambda fields: write(fields["records"]), read=read_reply, value=value)
    return Dialer(Message(write=request.write, read=request.read), reply, errors=(), call=call)


class Outcomes:
    """What `verify` is for this operation: finds each outcome, counts it, and refuses one that is not as the first was."""

    def __init__(self) -> None:
        self.outcomes: Counter[str] = Counter()

    def __call__(self, exchange: Request, decoded: Reply) -> str | None:
        """None for an outcome like all before it."""
        if decoded[REQUEST] != exchange[REQUEST]:
            return f"the request {shorten(exchange[REQUEST])} was decoded as {shorten(decoded[REQUEST])}"
        reply = decoded[REPLY]
        result = outcome(
            exchange[REQUEST].schema_change, exchange[REPLY]["records"], reply["records"], reply["default"]
        )
        first = next(iter(self.outcomes), result)
        self.outcomes[result] += 1
        return None if result == first else f"came out as {shorten(result)}, and before as {shorten(first)}"


def outcome(change: SchemaChange, wrote: list[dict[str, Any]], came: Any, default: Any = _MISSING) -> str:
    """What came of the field that changed, by the words of `protos/evolution.md`.

    `right value` where no field changed, or the reader has none, and all others are right. Of several records the first
    that is not right says it.
    """
    # Every record is looked at whatever comes of it, and those written where there is none: the requester's pauses are held
    # against those of other codecs, so that finding an outcome must take as long for all.
    read = wrote if isinstance(came, Failed) else came
    if not isinstance(read, list) or len(read) != len(wrote):
        return ELSEWHERE
    results = [_of_record(change, record, other, default) for record, other in zip(wrote, read, strict=True)]
    if isinstance(came, Failed):
        return FAILS + " ".join(came.words.split())[:_LONGEST]
    return next((each for each in results if each != RIGHT), RIGHT)


def _of_record(change: SchemaChange, wrote: Record, came: Record, default: Any) -> str:
    wanted = {**wrote}
    changed = None
    if change == "added":
        changed, wanted[ADDED] = ADDED, default
    elif change == "removed":
        del wanted[REMOVED]
    elif change in ("renamed", "renamed-without-alias"):
        changed, wanted[NEW_NAME] = NEW_NAME, wanted.pop(RENAMED)
    elif change == "renumbered":
        changed = MOVED
    elif change == "widened":
        changed = RETYPED
    elif change == "retyped":
        changed, wanted[RETYPED] = RETYPED, str(wrote[RETYPED])
    for name, value in wanted.items():
        if name != changed and not _is_same(value, came.get(name, _MISSING)):
            return ELSEWHERE
    return RIGHT if changed is None else _of_field(change, wanted[changed], came.get(changed, _MISSING))


def _of_field(change: SchemaChange, wanted: Any, came: Any) -> str:
    if came is _MISSING:
        return ABSENT if change == "added" else LOST
    if change == "added":
        return f"{DEFAULT}{came!r}" if _is_same(wanted, came) else WRONG_VALUE
    if _is_same(wanted, came):
        return RIGHT
    if not came:  # what a type has where nothing was written; no record has such a value
        return LOST
    return WRONG_VALUE if type(came) is type(wanted) else f"{WRONG_TYPE}: {type(came).__name__}"


def _is_same(wanted: Any, came: Any) -> bool:
    return type(came) is type(wanted) and bool(came == wanted)


def dialer(call: CallSpec, client: Client) -> Dialer:
    """Codes the operation's messages; every field is read, unless the client `omits` that. CallFailed as `require`."""
    codec = codec_named(client.codec)
    if not is_evolution(call):
        codec.require(call.operation, call.example[REQUEST])
        return alone.of_codec(codec, call, is_parsed_only=bool(client.omits))
    if not client.loads:
        return of_codec(codec, call)
    (evolving,) = map(importlib.import_module, client.loads)
    return dialer_of(evolving.evolve, evolving.request(), call)
