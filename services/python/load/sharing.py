"""A fixed number of connections that the requests in flight share, for a library that carries several on one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

Kept = TypeVar("Kept")


@dataclass
class _Held(Generic[Kept]):
    kept: Kept
    number: int | None
    holders: int = 0


class Share(Generic[Kept]):
    """A part of a connection: what one lane holds of it. `number` tells shared ones apart, None is one of its own."""

    def __init__(self, shares: Shares[Kept], held: _Held[Kept]) -> None:
        self.of, self.number = held.kept, held.number
        self._shares = shares
        self._held: _Held[Kept] | None = held

    def end(self) -> Kept | None:
        """Give the part back; the connection itself where nobody holds a part of it any more. Idempotent."""
        held, self._held = self._held, None
        return None if held is None else self._shares.give_back(held)


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
            return Share(self, _Held(self._open_one(), None, 1))
        with self._lock:
            if len(self._held) < self._most:
                self._held.append(_Held(self._open_one(), self._opened))
                self._opened += 1
            least = min(self._held, key=lambda held: held.holders)
            least.holders += 1
        return Share(self, least)

    def give_back(self, held: _Held[Kept]) -> Kept | None:
        with self._lock:
            held.holders -= 1
            if held.holders:
                return None
            if held.number is not None:
                self._held.remove(held)
            return held.kept
