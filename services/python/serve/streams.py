"""Events on their way out: each when it is due, on a schedule that nothing moves.

A protocol asks for the next event when it has handed over the one before, so that a slow reader holds back its own stream
and no queue grows. What is late is sent at once, one after the other: no event of the schedule is left out.

What events carry may come in pages, from a store say: each is asked for when the last event of the one before went out.
One that takes longer than until the next event is due makes that one late, and no other stream waits for it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from services.python.operations.base import Schedule

_NS = 1_000_000_000

OutgoingEvent = dict[str, Any]
Page = Mapping[str, Sequence[dict[str, Any]]]  # what several events carry, in `events`


class EventTotals:
    """What the subscriptions that are over came to; threads may add at once."""

    def __init__(self) -> None:
        self.subscriptions = self.offered = self.sent = self.worst_late_ns = 0
        self._lock = threading.Lock()

    def add(self, *, offered: int, sent: int, worst_late_ns: int) -> None:
        """Count a subscription that is over."""
        with self._lock:
            self.subscriptions += 1
            self.offered += offered
            self.sent += sent
            self.worst_late_ns = max(self.worst_late_ns, worst_late_ns)


@dataclass(frozen=True, kw_only=True)
class Pages:
    """Who gives what event n and those behind it carry: in the thread that asks, or on an event loop, at once or awaited.

    Both raise ValueError where that cannot be had: the stream has then ended.
    """

    blocking: Callable[[int], Page]
    awaited: Callable[[int], Page | Awaitable[Page]]


class Outgoing:
    """One subscription. Its events come from `awaited` or `blocking`, once; whoever leaves early closes the generator.

    Both raise ValueError where the stream cannot go on; the message says why.
    """

    def __init__(self, schedule: Schedule, totals: EventTotals, pages: Pages | None = None) -> None:
        """`pages`: of a schedule whose events are read in pages."""
        self._schedule = schedule
        self._totals = totals
        self._pages = pages
        self._content = schedule.content
        self._unread = 1  # the first event of the next page
        self._begin_ns = time.monotonic_ns()
        self._made = self._sent = self._worst_late_ns = 0

    async def awaited(self) -> AsyncGenerator[OutgoingEvent, None]:
        """The events as they fall due, from an event loop. Ask for the next one when the last was handed over."""
        import asyncio  # a responder without streams does not pay for these before it is ready

        from services.python.load.pacer import Pacer

        pages = self._pages
        try:
            with Pacer(asyncio.get_running_loop(), time.monotonic_ns) as pacer:
                for number in range(1, self._schedule.count + 1):
                    if pages is not None and number == self._unread:
                        page = pages.awaited(number)
                        self._take(number, page if isinstance(page, Mapping) else await page)
                    due_ns = self._due_ns(number)
                    if time.monotonic_ns() < due_ns:
                        await pacer.until(due_ns)
                    else:
                        await asyncio.sleep(0)  # one stream that is late must not keep the others from their turn
                    yield self._event(number, due_ns)
                    self._sent += 1
        finally:
            self._end()

    def blocking(self) -> Generator[OutgoingEvent, None, None]:
        """The same from a thread of the subscription's own."""
        pages = self._pages
        try:
            for number in range(1, self._schedule.count + 1):
                if pages is not None and number == self._unread:
                    self._take(number, pages.blocking(number))
                due_ns = self._due_ns(number)
                while (left_ns := due_ns - time.monotonic_ns()) > 0:
                    time.sleep(left_ns / _NS)
                yield self._event(number, due_ns)
                self._sent += 1
        finally:
            self._end()

    def _take(self, number: int, page: Page) -> None:
        """Events from this number on carry what the page says."""
        carried = page["events"]
        self._unread = number + len(carried)
        self._content = lambda wanted: carried[wanted - number]

    def _due_ns(self, number: int) -> int:
        return self._begin_ns + (number - 1) * self._schedule.interval_ns

    def _event(self, number: int, due_ns: int) -> OutgoingEvent:
        assert self._content is not None  # noqa: S101 - a schedule has its content, or it was read
        content = self._content(number)
        self._made = number
        sent_ns = time.monotonic_ns()
        self._worst_late_ns = max(self._worst_late_ns, sent_ns - due_ns)
        return {"sequence": number, "sent_ns": sent_ns, **content}

    def _end(self) -> None:
        """What was due by now was offered, sent or not."""
        due = (time.monotonic_ns() - self._begin_ns) // self._schedule.interval_ns + 1
        offered = max(self._made, min(self._schedule.count, due))
        self._totals.add(offered=offered, sent=self._sent, worst_late_ns=self._worst_late_ns)
