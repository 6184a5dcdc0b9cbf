"""The shape of a JSON document: what stands at each place of it, over all items of a list and all objects alike.

Pure, and linear in the number of values. `typed_message` makes a .proto of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

MOST_KEYS = 250  # different keys of the objects at one place: beyond, they are data, and the object is a map
LONGEST_KEY = 500  # characters of a key that is a name
MOST_NESTED = 90  # objects and lists within each other: what lies deeper is not looked at

_UNSIGNED_64 = 1 << 64
_SIGNED_64 = 1 << 63

NULL = "null"
VALUE = "value"
OBJECT = "object"
MAP = "map"
LIST = "list"


class Place:
    """What was seen at one place of a document: how many values of each kind, and the places within them.

    `fields` are those of its objects by key, in the order of their first appearance, until there are more than MOST_KEYS
    of them, or one that no `json_name` can be: then `members` has what all keys hold.
    """

    __slots__ = ("below", "count", "fields", "items", "kinds", "least", "members", "most", "nulls", "unfit")

    def __init__(self) -> None:
        self.count = 0
        self.nulls = 0
        self.kinds: dict[str, int] = {}  # of all that is not null: bool, int, float, string, list, object
        self.least = 0
        self.most = 0
        self.unfit = False  # holds an integer that no double can
        self.below = 0  # values that lie too deep to be looked at
        self.items: Place | None = None
        self.fields: dict[str, Place] = {}
        self.members: Place | None = None

    @property
    def values(self) -> int:
        """How many JSON values stand here and below, each list and each object counted as one besides what it holds."""
        return self.count + self.below + sum(place.values for place in self._within())

    def _within(self) -> Iterator[Place]:
        yield from self.fields.values()
        yield from (place for place in (self.items, self.members) if place is not None)

    def see(self, value: Any, depth: int = 0) -> None:
        """Take in one more value that stands here."""
        self.count += 1
        if value is None:
            self.nulls += 1
            return
        if depth >= MOST_NESTED and isinstance(value, dict | list):
            self._add(VALUE)
            self.below += _values_within(value)
        elif isinstance(value, dict):
            self._add(OBJECT)
            for key, item in value.items():
                self._member(key).see(item, depth + 1)
        elif isinstance(value, list):
            self._add(LIST)
            self.items = self.items or Place()
            for item in value:
                self.items.see(item, depth + 1)
        else:
            self._see_scalar(value)

    def _see_scalar(self, value: Any) -> None:
        if isinstance(value, bool):
            self._add("bool")
        elif isinstance(value, int):
            self._add("int")
            self.least, self.most = min(self.least, value), max(self.most, value)
            self.unfit = self.unfit or not _is_double(value)
        else:
            self._add("float" if isinstance(value, float) else "string")

    def _add(self, kind: str) -> None:
        self.kinds[kind] = self.kinds.get(kind, 0) + 1

    def _member(self, key: str) -> Place:
        if self.members is not None:
            return self.members
        if key not in self.fields:
            if len(self.fields) == MOST_KEYS or not _can_be_a_name(key):
                return self._as_map()
            self.fields[key] = Place()
        return self.fields[key]

    def _as_map(self) -> Place:
        """From here on the keys are data; what they hold is one place."""
        self.members = Place()
        for place in self.fields.values():
            self.members.join(place)
        self.fields = {}
        return self.members

    def join(self, other: Place) -> None:
        """Take in all that was seen at another place."""
        self.count += other.count
        self.nulls += other.nulls
        for kind, count in other.kinds.items():
            self.kinds[kind] = self.kinds.get(kind, 0) + count
        self.least, self.most = min(self.least, other.least), max(self.most, other.most)
        self.unfit = self.unfit or other.unfit
        self.below += other.below
        if other.items is not None:
            self.items = self.items or Place()
            self.items.join(other.items)
        if other.members is not None and self.members is None:
            self._as_map()
        if other.members is not None and self.members is not None:
            self.members.join(other.members)
        for key, place in other.fields.items():
            self._member(key).join(place)

    @property
    def kind(self) -> str:
        """What all values here are but for nulls: a scalar type of Protocol Buffers, `object`, `map`, `list`, `null`.

        `value` where they are of several kinds, where nothing was ever seen (the items of empty lists), where it lies too
        deep, and for integers that no type holds.
        """
        kinds = set(self.kinds)
        if not kinds:
            return NULL if self.nulls else VALUE
        if kinds == {"int"} and self.least >= -_SIGNED_64 and self.most < _UNSIGNED_64:
            if self.least < 0 and self.most < _SIGNED_64:
                return "sint64"
            if self.least >= 0:
                return "int64" if self.most < _SIGNED_64 else "uint64"
        if kinds <= {"int", "float"}:
            return VALUE if self.unfit else "double"
        if kinds == {OBJECT}:
            return OBJECT if self.members is None else MAP
        return kinds.pop() if len(kinds) == 1 else VALUE


def shape_of(document: Any) -> Place:
    """The place of the document itself."""
    root = Place()
    root.see(document)
    return root


def _is_double(value: int) -> bool:
    try:
        return int(float(value)) == value
    except OverflowError:
        return False


def _can_be_a_name(key: str) -> bool:
    """Whether it is a short `json_name` that protoc takes: of UTF-8, without a NUL, not in brackets as extensions are."""
    if len(key) > LONGEST_KEY:
        return False
    is_text = not any("\ud800" <= character <= "\udfff" for character in key)
    return is_text and "\0" not in key and not (key.startswith("[") and key.endswith("]"))


def _values_within(value: Any) -> int:
    count, waiting = 0, [value]
    while waiting:
        inner = waiting.pop()
        inner = list(inner.values()) if isinstance(inner, dict) else inner
        count += len(inner)
        waiting += [item for item in inner if isinstance(item, dict | list)]
    return count
