"""What a program has in hand after decoding: how many fields are Python's own values, and what is still unread."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import is_dataclass
from typing import Any

_PLAIN = {str, int, float, bool, bytes, type(None)}


def plain_fields(value: Any) -> int:
    """Fields that can be used as they are: the leaves of dicts, lists and of objects that keep plain attributes."""
    return sum(type(leaf) in _PLAIN for leaf in _leaves(value))


def unread(value: Any) -> set[str]:
    """Types of the leaves that are no plain values: what must still be asked for its fields."""
    return {type(leaf).__name__ for leaf in _leaves(value) if type(leaf) not in _PLAIN}


def _leaves(value: Any) -> Iterator[Any]:
    match value:
        case dict():
            inner: Any = value.values()
        case list() | tuple():
            inner = value
        case _ if is_dataclass(value) or hasattr(type(value), "model_fields"):  # a pydantic model
            inner = vars(value).values()
        case _:
            yield value
            return
    for item in inner:
        yield from _leaves(item)


def parts(value: Any) -> Iterator[Any]:
    """A value, and all that it is made of."""
    yield value
    if isinstance(value, dict | list | tuple):
        for item in value.values() if isinstance(value, dict) else value:
            yield from parts(item)
