"""Whether a field of a message came back as it was sent, types included: to `==`, 1, 1.0 and True are one."""

from __future__ import annotations

import marshal
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from services.python.contract.messages import ROWS, Field

_NUMBERS_OF_RECORDS = tuple((itemgetter(name), {of}) for name, of in (("id", int), ("value", float), ("active", bool)))
_BINARY_FLOATS = 2  # the first version of marshal that does not write them as text, and the last that marks no repeats


def is_same(name: str, sent: Any, came: Any) -> bool:
    """Whether the field `name` came as it was sent.

    A document's int and float may stand for each other where they are equal, as Protocol Buffers' Value has doubles alone.
    """
    if came != sent:
        return False
    if name == "records":
        return all(set(map(type, map(number, came))) <= of for number, of in _NUMBERS_OF_RECORDS)
    if name == "document":
        return _is_written_alike(sent, came) or _same_booleans(sent, came)
    return isinstance(sent, bytes) or type(came) is type(sent)


def _is_written_alike(sent: Any, came: Any) -> bool:
    """Whether they are the same to the last bit; many times as fast as looking at each value."""
    try:
        return marshal.dumps(came, _BINARY_FLOATS) == marshal.dumps(sent, _BINARY_FLOATS)
    except ValueError:  # a type that it does not write, or nested too deeply
        return False


def _same_booleans(sent: Any, came: Any) -> bool:
    """Whether two documents that are equal have their booleans in the same places."""
    left = [(sent, came)]
    while left:
        expected, other = left.pop()
        if isinstance(expected, bool) or isinstance(other, bool):
            if expected is not other:
                return False
        elif isinstance(expected, Mapping):
            left += [(value, other[key]) for key, value in expected.items()]
        elif isinstance(expected, Sequence) and not isinstance(expected, str):
            left += zip(expected, other, strict=True)
    return True


def rows_of(kind: Field, rows: Iterable[tuple[Any, ...]]) -> list[dict[str, Any]]:
    """Rows of a store with the names of their fields."""
    return [dict(zip(ROWS[kind], row, strict=True)) for row in rows]


def is_alike(wanted: Any, came: Any) -> bool:
    """Whether two values of a store are alike, types included."""
    if type(wanted) is not type(came) or wanted != came:
        return False
    if isinstance(wanted, dict):
        return all(is_alike(value, came[name]) for name, value in wanted.items())
    return not isinstance(wanted, list) or all(map(is_alike, wanted, came))
