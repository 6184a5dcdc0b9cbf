"""Lines of the process contract as JSON and back, strictly: a reader gets what the contract says, or one clear sentence.

Both ends and the orchestrator read with `decode`; the JSON Schemas in `protos/schemas/` say the same for other languages.
Nothing but the standard library is imported: a program pays for it before it is ready.
"""

from __future__ import annotations

import json
import math
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields, is_dataclass
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, NoReturn, TypeVar, Union, dataclass_transform

T = TypeVar("T")

_LONGEST_SHOWN = 60


class Between:
    """The least and the greatest value of a number, both allowed; None for no limit. Metadata of `Annotated`."""

    def __init__(self, least: int | None = None, most: int | None = None) -> None:
        self.least = least
        self.most = most


class Part:
    """An object within a line: what `part` makes a dataclass of. It does not change once it is made."""

    _defaults: ClassVar[Mapping[str, tuple[Any, Any]]] = {}  # of each field: its default, and what makes one

    def __init__(self, **values: Any) -> None:
        own = vars(self)
        for name, (default, factory) in self._defaults.items():
            if name in values:
                own[name] = values.pop(name)
            elif factory is not MISSING:
                own[name] = factory()
            elif default is not MISSING:
                own[name] = default
            else:
                raise TypeError(f"{type(self).__name__} needs {name}")
        if values:
            raise TypeError(f"{type(self).__name__} has no {', '.join(values)}")

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise FrozenInstanceError(f"cannot assign to {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise FrozenInstanceError(f"cannot delete {name!r}")

    def __eq__(self, other: object) -> bool:
        return vars(self) == vars(other) if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
def part(cls: type[T]) -> type[T]:
    """A frozen dataclass of keywords, from a subclass of `Part`.

    `dataclass` compiles every method that it writes, a quarter of a millisecond a class and more. Here all stand in
    `Part`, once, so that a program is ready earlier.
    """
    made = dataclass(init=False, eq=False, repr=False)(cls)
    made._defaults = {f.name: (f.default, f.default_factory) for f in fields(made)}  # type: ignore[attr-defined, arg-type]
    return made


class Line(Part):
    """What crosses a process boundary as one line of JSON; key order is field order."""

    def to_json(self) -> str:
        """One line, without the line end. ValueError for a number that is not finite."""
        return json.dumps(self, default=vars, separators=(",", ":"), allow_nan=False)


class WrongShape(ValueError):
    """Data that the contract does not allow; the message is a sentence with the key in it."""

    def __init__(self, message: str, *path: str) -> None:
        self.path = path
        self.what = message
        super().__init__(f"{'.'.join(path) or 'it'} {message}")

    def under(self, key: str) -> WrongShape:
        """The same fault, seen from one level up."""
        return WrongShape(self.what, key, *self.path)


def parse(text: str | bytes) -> dict[str, Any]:
    """A JSON object; ValueError when it is none, or holds NaN, an infinity or a key twice."""
    try:
        document = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_without_duplicates)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(document, dict):
        raise ValueError(f"a line is one JSON object, not {_shown(document)}")
    return document


def read_line(kinds: tuple[type[Any], ...], raw: Mapping[str, Any], *, reader: str, writer: str) -> Any:
    """The line as that one of `kinds` whose `type` it has.

    `reader` and `writer` name both sides ("orchestrator", "responder") in the message of the ValueError that refuses a
    line of an unknown type, of another version of the contract, or of another shape.
    """
    by_type = {cls.__dataclass_fields__["type"].default: cls for cls in kinds}
    kind, theirs = raw.get("type"), raw.get("contract")
    cls = by_type.get(kind) if isinstance(kind, str) else None
    # A type that is not known may be one of another version, which is then what is wrong.
    if theirs is not None if cls is None else "contract" in cls.__dataclass_fields__:
        versioned = (each.__dataclass_fields__.get("contract") for each in (kinds if cls is None else (cls,)))
        mine = next((field.default for field in versioned if field is not None), theirs)
        if type(theirs) is not int or theirs != mine:
            said = "does not say which" if theirs is None else f"speaks {_shown(theirs)}"
            raise ValueError(f"this {reader} speaks contract {mine}; the {writer} {said}")
    if cls is None:
        known = ", ".join(by_type)
        raise ValueError(f"the {writer}'s line has type {_shown(kind)}; known here: {known}")
    try:
        return decode(cls, raw)
    except WrongShape as error:
        raise ValueError(f"the {writer}'s line `{kind}` is not of the contract: {error}") from error


def decode(kind: Callable[..., T], raw: object) -> T:
    """Plain data as `kind`, a dataclass.

    WrongShape (a ValueError) for an unknown or a missing key, a value of another type (a bool is no number, "1" neither,
    1.0 is no whole number), a number that is not finite or out of its range.
    """
    decoded: T = _reader(kind)(raw)
    return decoded


_Reader = Callable[[object], Any]


@cache
def _reader(hint: Any) -> _Reader:
    if hint in _PLAIN:
        return _PLAIN[hint]
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is Annotated:
        return _bounded(_reader(arguments[0]), [m for m in arguments[1:] if isinstance(m, Between)])
    if origin is Literal:
        return _one_of(arguments)
    if origin in (Union, types.UnionType):
        return _or_null(arguments)
    if origin is list:
        return _list_of(_reader(arguments[0]))
    if origin is dict and arguments[0] is str:
        return _map_of(_reader(arguments[1]))
    if is_dataclass(hint) and isinstance(hint, type):
        return _object_of(hint)
    raise TypeError(f"{hint!r} has no place in a line")


def is_required(field: Any, hint: Any) -> bool:
    """Whether a line must have this key: without a default, or with one possible value only (`type`, `contract`)."""
    is_constant = typing.get_origin(hint) is Literal and len(typing.get_args(hint)) == 1
    return is_constant or (field.default is MISSING and field.default_factory is MISSING)


def hints_of(cls: type[Any]) -> dict[str, Any]:
    """The resolved types of a dataclass's fields, by name, with their metadata."""
    return typing.get_type_hints(cls, include_extras=True)


def _object_of(cls: type[Any]) -> _Reader:
    hints = hints_of(cls)
    readers = {f.name: _reader(hints[f.name]) for f in fields(cls)}
    required = [f.name for f in fields(cls) if is_required(f, hints[f.name])]

    def read(raw: object) -> Any:
        if not isinstance(raw, Mapping):
            raise WrongShape(f"must be an object, not {_shown(raw)}")
        values = {}
        for key, value in raw.items():
            reader = readers.get(key)
            if reader is None:
                raise WrongShape(f"is not a key of {cls.__name__}", str(key)[:_LONGEST_SHOWN])
            try:
                values[key] = reader(value)
            except WrongShape as error:
                raise error.under(key) from None
        for key in required:
            if key not in values:
                raise WrongShape("is missing", key)
        return cls(**values)

    return read


def _exactly(kind: type[Any], words: str) -> _Reader:
    def read(value: object) -> Any:
        if type(value) is not kind:
            raise WrongShape(f"must be {words}, not {_shown(value)}")
        return value

    return read


def _number(value: object) -> float:
    if type(value) is int or type(value) is float:
        try:
            if math.isfinite(value):
                return float(value)
        except OverflowError:
            pass
    raise WrongShape(f"must be a finite number, not {_shown(value)}")


_PLAIN: Mapping[Any, _Reader] = {
    int: _exactly(int, "a whole number"),
    float: _number,
    str: _exactly(str, "text"),
    bool: _exactly(bool, "true or false"),
    type(None): _exactly(type(None), "null"),
}


def _bounded(reader: _Reader, limits: list[Between]) -> _Reader:
    def read(raw: object) -> Any:
        value = reader(raw)
        for limit in limits:
            if limit.least is not None and value < limit.least:
                raise WrongShape(f"must be {limit.least} or more, not {_shown(value)}")
            if limit.most is not None and value > limit.most:
                raise WrongShape(f"must be {limit.most} or less, not {_shown(value)}")
        return value

    return read


def _one_of(values: tuple[Any, ...]) -> _Reader:
    words = " or ".join(json.dumps(value) for value in values)

    def read(raw: object) -> Any:
        if not any(raw == value and type(raw) is type(value) for value in values):
            raise WrongShape(f"must be {words}, not {_shown(raw)}")
        return raw

    return read


def _or_null(hints: tuple[Any, ...]) -> _Reader:
    """One type or null; its own words refuse any other value."""
    (reader,) = (_reader(hint) for hint in hints if hint is not type(None))
    return lambda raw: None if raw is None else reader(raw)


def _list_of(reader: _Reader) -> _Reader:
    def read(raw: object) -> list[Any]:
        if not isinstance(raw, list):
            raise WrongShape(f"must be a list, not {_shown(raw)}")
        items = []
        for place, value in enumerate(raw):
            try:
                items.append(reader(value))
            except WrongShape as error:
                raise error.under(str(place)) from None
        return items

    return read


def _map_of(reader: _Reader) -> _Reader:
    def read(raw: object) -> dict[str, Any]:
        if not isinstance(raw, Mapping):
            raise WrongShape(f"must be an object, not {_shown(raw)}")
        entries = {}
        for key, value in raw.items():
            try:
                entries[key] = reader(value)
            except WrongShape as error:
                raise error.under(key) from None
        return entries

    return read


def _shown(value: object) -> str:
    text = repr(value) if not isinstance(value, str | bool | None) else json.dumps(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON")


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries: dict[str, Any] = {}
    for key, value in pairs:
        if key in entries:
            raise ValueError(f"the key {key!r:.60} occurs twice")
        entries[key] = value
    return entries


MOST_QUOTED = 900  # characters


def quotable(text: str) -> str:
    """Words of somebody else as a line may have them: cut to 900 characters, unprintable ones as their escapes.

    >>> quotable(f"gone{chr(7)}") == "gone" + chr(92) + "x07"
    True
    """
    if len(text) > MOST_QUOTED:
        text = f"{text[: MOST_QUOTED - 3]}..."
    if text.isprintable():
        return text
    shown = "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
    return shown if len(shown) <= MOST_QUOTED else f"{shown[: MOST_QUOTED - 3]}..."
