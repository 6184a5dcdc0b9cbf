"""One factor: something in which cells differ, with its levels or numbers and what each is called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from orchestrator.experiment.read.units import exact_duration, format_duration, format_rate, format_size

Value: TypeAlias = str | int | float | None
Values: TypeAlias = Mapping[str, Value]
BelongsTo = Literal["stack", "operation", "placement", "call", "load"]
Kind = Literal["name", "level", "count", "bytes", "rate", "time", "text"]
Reach = Literal["program", "payload", "hosts", "connection", "load", "knob", "resource"]


@dataclass(frozen=True, kw_only=True)
class Level:
    """One value of a factor that has few, and what it is called."""

    value: str
    words: str  # follow "with" in a sentence: "connections kept open"
    compared: str  # likewise, of one request, where two levels are compared: "a kept connection"
    said: str = ""  # in ids and names; unless given, the value


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """Whole numbers that a factor takes beside its levels."""

    least: int
    most: int
    words: str  # as in `Level`, with `{}` for the number
    compared: str = ""
    measure: Literal["count", "size", "time", "rate"] = "count"  # in pieces, bytes, milliseconds, a second
    one: str = ""  # the words for 1
    why: str = ""  # what the bounds are

    def text(self, value: int) -> str:
        """A number as a file writes it: `64 KiB`, `10s`, `4`."""
        if self.measure in ("count", "rate"):
            return f"{value:,}" if self.measure == "count" else format_rate(float(value))
        return format_size(value) if self.measure == "size" else format_duration(value / 1000)

    def level(self, value: int) -> Level:
        """The number as a level."""
        shown = self.text(value)
        words, compared = (self.one,) * 2 if value == 1 and self.one else (self.words, self.compared or self.words)
        return Level(value=str(value), words=words.format(shown), compared=compared.format(shown))


@dataclass(frozen=True, kw_only=True)
class Factor:
    """One thing in which cells may differ. A `rate` is per second, a `time` in seconds.

    A factor of the stack, the operation, the placement or the load has the value of that part's `attribute`
    (`payload.size`: a key of a mapping). One of the call is chosen for the experiment or a stack, from `levels` (the first
    is the default) or `numbers` (without levels the least is). Both ends receive a `knob` that is not the default; the
    protocol's manifest says who can have it. The responder alone receives a `resource`.
    """

    name: str
    title: str
    kind: Kind
    belongs_to: BelongsTo  # what fixes it
    reaches: Reach  # how the end programs learn of it
    unit: str = ""
    attribute: str = ""
    needs: str = ""  # an attribute of the part, without which there is no value
    lacks: str = ""  # one with which there is none
    levels: tuple[Level, ...] = ()
    numbers: Numbers | None = None
    compared_as: str = "with {}"  # how sentences compare values of it
    varies_with: tuple[str, ...] = ()  # what differs wherever it does: such cells "differ in this one alone"
    description: str = ""  # of its key
    column: str = ""  # in samples files, if it has one
    is_excludable: bool = True
    is_always_said: bool = False  # ids, titles and sentences name its default, too
    has_streams: bool = False  # a stream can have another value than the default
    is_of_streams: bool = False  # nothing else can

    @property
    def default(self) -> Value:
        """The value where an experiment says nothing; None for what the parts of a cell fix."""
        if self.levels:
            return self.levels[0].value
        return None if self.numbers is None else self.numbers.least

    def level(self, value: Value) -> Level:
        """The level of that value; one that is called by the value itself where a run of a later version has another."""
        if self.numbers is not None and isinstance(value, int):
            return self.numbers.level(value)
        words = f"{self.title} {value}"
        unknown = Level(value=str(value), words=words, compared=words)
        return next((level for level in self.levels if level.value == value), unknown)

    def is_usual(self, value: Value) -> bool:
        """Whether a load is not described by this value: it has none, or what it has unless somebody says otherwise."""
        return value is None or (bool(self.levels) and value == self.default) or (self.kind == "time" and not value)

    def short(self, value: Value) -> str:
        """A value in ids and names: `reuse`, `connections-4`."""
        if self.numbers is not None and isinstance(value, int):
            return f"{self.name}-{value}"
        return self.level(value).said if self.levels and self.level(value).said else str(value)

    def tag(self, value: Value) -> str:
        """A value in a list of values: `reuse`, or with the factor's title where the value alone tells nobody anything."""
        return self.written(value) if self.is_always_said else f"{self.title} {self.written(value)}"

    def written(self, value: Value) -> str:
        """A value as a file writes it: `reuse`, `64 KiB`."""
        return self.numbers.text(value) if self.numbers is not None and isinstance(value, int) else str(value)

    def compared(self, value: Value) -> str:
        """A value where it is compared with another: `with a kept connection`, `at 10 kB`, `with 8 in flight`."""
        return self.compared_as.format(self.briefly(value))

    def briefly(self, value: Value) -> str:
        """A value without the words around it: `a kept connection`, `10 kB`, `think time 10 ms`."""
        if self.levels or self.numbers:
            return self.level(value).compared
        if self.kind == "bytes" and isinstance(value, int):
            return format_size(value)
        # A payload's label has the name of its operation, which is said elsewhere.
        return str(value).partition(" ")[2] or str(value) if self.kind == "text" else self.text(value)

    def names(self, value: Value) -> tuple[str, ...]:
        """What a person may call the value in an experiment file, the first as it is written there by most."""
        brief = str(value) if self.levels or self.numbers else self.briefly(value)
        if self.kind == "time" and isinstance(value, int | float):
            brief = exact_duration(value).replace(" ", "")
        return tuple(dict.fromkeys((brief, brief.replace(",", ""), str(value), self.text(value))))

    def read(self, parts: Mapping[str, Any]) -> Value:
        """Its value in a cell made of these parts, by what factors belong to."""
        part: Any = parts[self.belongs_to]
        if (self.needs and not getattr(part, self.needs)) or (self.lacks and getattr(part, self.lacks)):
            return None
        for step in self.attribute.split("."):
            part = part.get(step) if isinstance(part, Mapping) else getattr(part, step)
        value: Value = part
        return value

    def text(self, value: Value) -> str:
        """A value in words: `8 in flight`, `100/s`, `closed loop`."""
        if value is None:
            return "closed loop" if self.belongs_to == "load" and self.kind == "rate" else "none"
        if self.kind == "time" and isinstance(value, int | float):
            return f"{self.title} {exact_duration(value)}" if value else f"no {self.title}"
        number = f"{value:g}" if self.kind == "rate" else str(value)
        is_one = self.kind == "count" and value == 1
        return f"{number}{self.unit.removesuffix('s') if is_one else self.unit}"


_REACHED_BY: Mapping[BelongsTo, Reach] = {
    "stack": "program",
    "operation": "payload",
    "placement": "hosts",
    "load": "load",
}


def level(value: str, words: str, compared: str = "", said: str = "") -> Level:
    """Return a level; unless given, it is compared by its words."""
    return Level(value=value, words=words, compared=compared or words, said=said)


def fixed_by(part: BelongsTo, name: str, kind: Kind, attribute: str = "", **others: Any) -> Factor:
    """Return a factor that a part of the cell fixes; unless given, `attribute` and `title` are its name."""
    usual = {"belongs_to": part, "reaches": _REACHED_BY[part], "title": name.replace("_", " ")}
    return Factor(name=name, kind=kind, attribute=attribute or name, **{**usual, **others})


def of_payload(name: str, kind: Kind, key: str, **others: Any) -> Factor:
    """Return a factor that is a key of the operation's payload."""
    return fixed_by("operation", name, kind, f"payload.{key}", varies_with=("payload",), **others)


def chosen(name: str, **others: Any) -> Factor:
    """Return a factor of the call: unless given, a knob, of levels where it has some, else of whole numbers."""
    kind = "level" if "levels" in others else "count"
    usual = {"kind": kind, "belongs_to": "call", "reaches": "knob", "title": name.replace("_", " ")}
    return Factor(name=name, **{**usual, **others})
