"""A fixed number of connections that the requests in flight share, for a library that carries several on one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

Kept = TypeVar("Kept")


@dataclass
class Share(Generic[Kept]):
    """A part of a connection: what one lane holds of it. `number` tells shared ones apart, None is one of its own."""

    of: Kept
    number: int | None
    _end: Callable[[], Kept | None]

    def end(self) -> Kept | None:
        """Give the part back; the connection itself where nobody holds a part of it any more. Idempotent."""
        return self._end()


@dataclass
class _Held(Generic[Kept]):
    kept: Kept
    number: int
    holders: int = 0


class Shares(Generic[Kept]):
    """Hands out parts of at most `most` connections, the least held one next; without `most` whole ones."""

    def __init__(self, open_one: Callable[[], Kept], most: int | None) -> None:
        self._open_one = open_one
        self._most = most
        self._held: list[_Held[Kept]] = []
        self._opened = 0
        self._lock = threading.Lock()  # taken between requests alone, when a connection opens or closes

    def take(self) -> Share[Kept]:
        """A part of a connection, which is opened where fewer than `most` are."""
        if self._most is None:
            own: Kept | None = self._open_one()

            def end_own() -> Kept | None:
                nonlocal own
                ended, own = own, None
                return ended

            assert own is not None  # noqa: S101 - narrows the type
            return Share(own, None, end_own)
        with self._lock:
            if len(self._held) < self._most:
                self._held.append(_Held(self._open_one(), self._opened))
                self._opened += 1
            least = min(self._held, key=lambda held: held.holders)
            least.holders += 1
        is_held = True

        def end() -> Kept | None:
            nonlocal is_held
            with self._lock:
                if not is_held:
                    return None
                is_held = False
                least.holders -= 1
                if least.holders:
                    return None
                self._held.remove(least)
                return least.kept

        return Share(least.kept, least.number, end)
