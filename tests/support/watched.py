"""Trials whose replies are watched: who looks at one while another request is under way."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from services.python.contract.lines import STATUSES
from services.python.load.phases import MEASURED
from services.python.load.record import Row, read_record
from services.python.probes.clock import Clock
from tests.support.bench import Bench
from tests.support.scripted import ScriptedClock

CONCURRENCY = 4
RIGHT = {"right": True}
OK, WRONG = (STATUSES.index(name) for name in ("ok", "wrong-reply"))


class Watched:
    """A responder of two styles whose replies are watched: who looks at one while another request is under way."""

    def __init__(self, wrong: frozenset[int] = frozenset(), *, gives_bodies: bool = False) -> None:
        self.wrong = wrong
        self.gives_bodies = gives_bodies
        self.answered = 0
        self.under_way = 0
        self.most_under_way = 0
        self.looks: list[tuple[str, int]] = []
        self.lock = threading.Lock()

    def begin(self) -> None:
        with self.lock:
            self.under_way += 1
            self.most_under_way = max(self.most_under_way, self.under_way)

    def end(self) -> None:
        with self.lock:
            self.under_way -= 1

    def look(self, what: str) -> None:
        self.looks.append((what, self.under_way))

    def reply_to(self, request: Any) -> Any:
        with self.lock:
            self.answered += 1
            number = request["sequence"] or self.answered  # one request for all has no number of its own
        return {"wrong": 1} if number in self.wrong else dict(RIGHT)

    def verify(self, _request: Any, reply: Any) -> str | None:
        self.look("verify")
        return None if reply == RIGHT else f"came back as {reply}"


class Reading:
    body: bytes | None = None

    def __init__(self, watched: Watched) -> None:
        self.watched = watched

    def answer(self, request: Any) -> Any:
        reply = self.watched.reply_to(request)
        self.body = repr(reply).encode() if self.watched.gives_bodies else None
        return reply

    def value(self, reply: Any) -> Any:
        self.watched.look("value")
        return reply

    def sizes(self, request: Any, reply: Any) -> tuple[int, int]:
        self.watched.look("sizes")
        return 10, 20


class _Awaited(Reading):
    async def call(self, request: Any) -> Any:
        self.watched.begin()
        await asyncio.sleep(0)
        self.watched.end()
        return self.answer(request)

    async def close(self) -> None:
        return None


class _Blocked(Reading):
    def call(self, request: Any) -> Any:
        self.watched.begin()
        time.sleep(0.001)
        self.watched.end()
        return self.answer(request)

    def close(self) -> None:
        return None


class WatchedDialer:
    def __init__(self, watched: Watched, style: str) -> None:
        self.watched, self.style = watched, style

    def dial(self) -> Any:
        if self.style == "blocking":
            return _Blocked(self.watched)

        async def opened() -> _Awaited:
            return _Awaited(self.watched)

        return opened()


class Trial(Bench):
    """A phase of the real loops, recorder and record with so many in flight."""

    def __init__(
        self,
        folder: Path,
        style: str,
        verify: Any,
        dialer: Any,
        clock: Clock,
        *,
        in_flight: int = CONCURRENCY,
        **recorder: Any,
    ) -> None:
        super().__init__(style, folder / "record", verify, in_flight=in_flight, rows_at_once=10, **recorder)
        self.dialer, self.clock = dialer, clock
        self.shared = {"sequence": 0}
        self.in_turn: Sequence[Any] = ()

    def make(self, sequence: int, _wall_ns: Any) -> Any:
        return self.in_turn[sequence % len(self.in_turn)] if self.in_turn else {"sequence": sequence}

    def awaiting(self) -> Any:
        return self.dialer

    def run(
        self,
        requests: int,
        policy: Any = "reuse",
        *,
        constant: bool = False,
        phase: int = MEASURED,
        rows: Sequence[Any] = (),
    ) -> None:
        """The phase without `settle`; its requests are new ones, a `constant` one, or `rows` in turn."""
        self.in_turn = rows or ([self.shared] if constant else ())
        loops = self.loops(policy)
        loops.open()
        try:
            loops.closed_loop(self.phase(requests, phase))
        finally:
            loops.close()

    def rows(self) -> list[Row]:
        return list(read_record(self.path))[: self.record.rows]


def standing_clock() -> Clock:
    """No second passes, so no progress line is due."""
    return ScriptedClock().clock()
