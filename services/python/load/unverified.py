"""Replies that wait to be verified until the phase is over (see `recorder`): references, beside the stamps of their rows."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from services.python.operations.base import Lasting

_OTHER_BYTES = 300  # of the stamps, the tuple, and its place in the list
_LARGE_BYTES = 4096
_LOOKED_AT = 64  # items of a list or a mapping; the others are taken to be like them


Waiting = tuple[int, int, int, int, int, Mapping[str, Any], Any]
"""Sequence, connection number, intended, sent and received stamps; the request, and what `call` returned."""

Alike = tuple[int, int, int, int, int, tuple[int, int]]
"""Of a reply that is known to be right: sequence, connection number, the three stamps, and both bodies' sizes."""

_UNTIL_MEASURED = 2
_SMALL_OBJECT_BYTES = 512  # the largest that CPython's own allocator serves
_BYTES_HEADER = 33
_ARENA_BYTES = 1 << 20

# What Protocol Buffers (upb) allocates for a parsed message, measured for records, JSON documents and bytes: at most this.
_MESSAGE_BYTES = 1200  # the first block of its arena, and the Python object
_PART_BYTES = 100  # a message within a message
_ITEM_BYTES = 16  # a string's place, or an item's in a repeated field, which grows by doubling
_ENTRY_BYTES = 100  # an entry of a map


class Unverified:
    """Keeps replies up to a bound on their memory: what the second one takes, times their number.

    The second shows whether every request is a new one, or all replies wait with the same. A later reply that is much
    larger is a wrong one, and the recorder finds that out within a second. Who adds to `waiting` asks `has_room` first
    when it holds `most` or more.

    A reply of the same bytes as one that was found right, to the same request, is right: of it the stamps alone are kept, in
    `alike`, up to `most_alike`.

    Replies that hold a large buffer do not wait: to compare it takes less time than to fault in fresh pages for the
    next one, which `malloc` takes from the kernel while the others are kept.
    """

    __slots__ = ("_is_measured", "_most_bytes", "_touched", "alike", "most", "most_alike", "waiting")

    def __init__(self, most_bytes: int) -> None:
        self.waiting: list[Waiting] = []
        self.alike: list[Alike] = []
        self.most = _UNTIL_MEASURED
        self.most_alike = most_bytes // _OTHER_BYTES
        self._is_measured = False
        self._most_bytes = most_bytes
        self._touched = touched_memory(most_bytes)

    def has_room(self) -> bool:
        """Whether one more may wait. Sets `most` when the second one shows how large they are."""
        if not self._is_measured:
            first, (*_, request, reply) = self.waiting[:_UNTIL_MEASURED]
            is_new = request is not first[-2] and not isinstance(request, Lasting)
            each_bytes = footprint(reply) + _OTHER_BYTES + (footprint(request) if is_new else 0)
            is_large = holds_large_buffer(reply) or (is_new and holds_large_buffer(request))
            self.most = 0 if is_large else self._most_bytes // each_bytes
            self._is_measured = True
        return len(self.waiting) < self.most

    @property
    def count(self) -> int:
        """How many replies are kept."""
        return len(self.waiting) + len(self.alike)

    @property
    def latest_ns(self) -> int:
        """When the latest of them came; 0 without any."""
        return max(kept[-1][4] if kept else 0 for kept in (self.waiting, self.alike))

    def take_alike(self) -> list[Alike]:
        """As `take`, of those that are known to be right."""
        taken, self.alike = self.alike, []
        return taken

    def take(self) -> list[Waiting]:
        """All that wait, in the order in which they came; from here on none does."""
        taken, self.waiting = self.waiting, []
        return taken


def touched_memory(size: int) -> list[bytes]:
    """Make the interpreter hold so many bytes of memory for small objects, and give what keeps them from going back.

    Replies that are kept would otherwise be decoded into pages that the kernel has to provide first, in the middle of a
    call: beside that, 200 records cost a third more to decode. CPython gives an arena of 1 MiB back when nothing
    is left in it (Objects/obmalloc.c), so a few objects of each stay.
    """
    objects = [bytes(_SMALL_OBJECT_BYTES - _BYTES_HEADER) for _ in range(size // _SMALL_OBJECT_BYTES)]
    return objects[:: _ARENA_BYTES // _SMALL_OBJECT_BYTES // 4]


def footprint(value: Any) -> int:
    """About how many bytes of memory a value takes, with all that it refers to; long collections are sampled.

    A parsed message of Protocol Buffers keeps its fields outside of the interpreter's objects: they are added up apart.
    """
    size = sys.getsizeof(value)
    if isinstance(value, Mapping):
        return size + _of_items(list(value.values()), footprint)
    if isinstance(value, list | tuple):
        return size + _of_items(value, footprint)
    if hasattr(value, "ListFields"):
        return _MESSAGE_BYTES + _in_message(value)
    return size


def holds_large_buffer(value: Any) -> bool:
    """Whether somewhere in it stands a text or a string of bytes of more than 4 KiB; long collections are sampled."""
    if isinstance(value, str | bytes | bytearray):
        return len(value) > _LARGE_BYTES
    if hasattr(value, "ListFields"):
        return any(holds_large_buffer(field) for _, field in value.ListFields())
    if isinstance(value, Mapping):
        value = list(value.values())
    return isinstance(value, Sequence) and any(map(holds_large_buffer, value[:_LOOKED_AT]))


def _in_message(value: Any) -> int:
    """What a field's value takes beside its place in the message that holds it."""
    if hasattr(value, "ListFields"):
        return _PART_BYTES + sum(_in_message(field) for _, field in value.ListFields())
    if isinstance(value, str | bytes):
        return _ITEM_BYTES + (len(value) if isinstance(value, bytes) else len(value.encode()))
    if isinstance(value, Mapping):
        keys, entries = list(value), [value[key] for key in value]
        return len(keys) * _ENTRY_BYTES + _of_items(keys, _in_message) + _of_items(entries, _in_message)
    if isinstance(value, Sequence):
        return len(value) * _ITEM_BYTES + _of_items(value, _in_message)
    return 0


def _of_items(items: Sequence[Any], of_one: Callable[[Any], int]) -> int:
    some = items[:_LOOKED_AT]
    return sum(map(of_one, some)) * len(items) // len(some) if some else 0
