"""Replies that wait to be verified: kept while requests are in flight, and looked at when none is.

What runs between two requests of one worker runs inside the latency of every other request of the same event loop or
interpreter. So with several in flight a reply is only kept, as a reference, and its row is stored without a verdict.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

MOST_KEPT_BYTES = 64 << 20  # a machine with 600 MB of memory must do
_OTHER_BYTES = 200  # of the row's number, the tuple, and its place in the list
_LOOKED_AT = 64  # items of a list or a mapping; the others are taken to be like them


class Waiting(NamedTuple):
    """A reply whose row, the `row`-th of the record from 0, has no verdict yet."""

    row: int
    request: Mapping[str, Any]
    reply: Any


class Unverified:
    """Keeps replies up to a bound on their memory: what the second one takes, times their number.

    The second shows whether every request is a new one, or all replies wait with the same. A later reply that is much
    larger is a wrong one, and the ledger finds that out within a second.
    """

    def __init__(self, most_bytes: int = MOST_KEPT_BYTES) -> None:
        self._most_bytes = most_bytes
        self._most: int | None = None
        self._kept: list[Waiting] = []

    @property
    def has_room(self) -> bool:
        """Whether one more can be kept."""
        return self._most is None or len(self._kept) < self._most

    def __len__(self) -> int:
        return len(self._kept)

    def keep(self, row: int, request: Mapping[str, Any], reply: Any) -> None:
        """Keep a reply and the request that it must answer."""
        self._kept.append(Waiting(row, request, reply))
        if self._most is None and len(self._kept) == 2:
            each_bytes = footprint(reply) + _OTHER_BYTES
            if request is not self._kept[0].request:
                each_bytes += footprint(request)
            self._most = self._most_bytes // each_bytes

    def take(self) -> list[Waiting]:
        """All that were kept, in the order of their rows; from here on none is."""
        taken, self._kept = self._kept, []
        return taken


def footprint(value: Any) -> int:
    """About how many bytes of memory a value takes, with all that it refers to; long collections are sampled."""
    size = sys.getsizeof(value)
    if isinstance(value, Mapping):
        return size + _of_items(list(value.values()))
    if isinstance(value, list | tuple):
        return size + _of_items(value)
    return size


def _of_items(items: list[Any] | tuple[Any, ...]) -> int:
    some = items[:_LOOKED_AT]
    return sum(map(footprint, some)) * len(items) // len(some) if some else 0
