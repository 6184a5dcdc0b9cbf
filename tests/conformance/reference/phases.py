"""Which requests a phase of a trial has, and who makes them."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

from tests.conformance.reference.wire import Connection


@dataclass
class Lane:
    """One request in flight at a time, and the connection that carries it."""

    connection: Connection | None = None
    number: int = -1
    each: list[Lane] = field(default_factory=list)  # of a mix, one for each operation


@dataclass
class Phase:
    """Which requests there are still to make; a lane takes one at a time."""

    number: int
    begin_ns: int
    most: int | None
    least_ns: int
    end_ns: int | None
    due: list[int] | None = None
    taken: int = 0
    over: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

    def is_over(self) -> bool:
        """Whether there is nothing more to take."""
        late = self.end_ns is not None and time.monotonic_ns() >= self.end_ns
        return self.over or late or (self.most is not None and self.taken >= self.most)

    def rest(self, until_ns: int) -> None:
        """Until then, or until there is nothing more to take."""
        while not self.is_over() and (left_ns := until_ns - time.monotonic_ns()) > 0:
            time.sleep(min(left_ns / 1e9, 0.02))

    def take(self) -> int | None:
        """The place of the next request, from 0."""
        with self.lock:
            now_ns = time.monotonic_ns()
            late = self.end_ns is not None and now_ns >= self.end_ns
            enough = self.most is not None and self.taken >= self.most and now_ns >= self.begin_ns + self.least_ns
            if self.over or late or enough:
                return None
            self.taken += 1
            return self.taken - 1
