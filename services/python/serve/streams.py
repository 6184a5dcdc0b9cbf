"""Events on their way out: each when it is due, on a schedule that nothing moves.

A protocol asks for the next event when it has handed over the one before, so that a slow reader holds back its own stream
and no queue grows. What is late is sent at once, one after the other: no event of the schedule is left out.
"""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncGenerator, Generator
from typing import Any

from services.python.operations.base import Schedule

_NS = 1_000_000_000

OutgoingEvent = dict[str, Any]


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


class Outgoing:
    """One subscription. Its events come from `awaited` or `blocking`, once; whoever leaves early closes the generator."""

    def __init__(self, schedule: Schedule, totals: EventTotals) -> None:
        self._schedule = schedule
        self._totals = totals
        self._begin_ns = time.monotonic_ns()
        self._made = self._sent = self._worst_late_ns = 0

    async def awaited(self) -> AsyncGenerator[OutgoingEvent, None]:
        """The events as they fall due, from an event loop. Ask for the next one when the last was handed over."""
        import asyncio  # a responder without streams does not pay for these before it is ready

        from services.python.load.pacer import Pacer

        try:
            with Pacer(asyncio.get_running_loop(), time.monotonic_ns) as pacer:
                for number in range(1, self._schedule.count + 1):
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
        try:
            for number in range(1, self._schedule.count + 1):
                due_ns = self._due_ns(number)
                while (left_ns := due_ns - time.monotonic_ns()) > 0:
                    time.sleep(left_ns / _NS)
                yield self._event(number, due_ns)
                self._sent += 1
        finally:
            self._end()

    def _due_ns(self, number: int) -> int:
        return self._begin_ns + (number - 1) * self._schedule.interval_ns

    def _event(self, number: int, due_ns: int) -> OutgoingEvent:
        content = self._schedule.content(number)
        self._made = number
        sent_ns = time.monotonic_ns()
        self._worst_late_ns = max(self._worst_late_ns, sent_ns - due_ns)
        return {"sequence": number, "sent_ns": sent_ns, **content}

    def _end(self) -> None:
        """What was due by now was offered, sent or not."""
        due = (time.monotonic_ns() - self._begin_ns) // self._schedule.interval_ns + 1
        offered = max(self._made, min(self._schedule.count, due))
        self._totals.add(offered=offered, sent=self._sent, worst_late_ns=self._worst_late_ns)
