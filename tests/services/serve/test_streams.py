"""The sender of a stream: an absolute schedule, no event left out, and honest counts of what was due and what was sent."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from contextlib import aclosing, closing
from typing import Any, Literal

import pytest

from services.python.operations.base import Schedule
from services.python.serve.dispatcher import Dispatcher
from services.python.serve.streams import EventTotals, Outgoing, Pages
from services.python.stores.base import Held, Spent
from services.python.stores.memory import MemoryStore

MS = 1_000_000
NOBODY = ("127.0.0.1", 1)
Read = Callable[[Outgoing, int, float], list[dict[str, int]]]


def schedule(count: int, interval_ns: int) -> Schedule:
    return Schedule(count=count, interval_ns=interval_ns, content=lambda number: {"data": number})


def awaited(outgoing: Outgoing, most: int, stall_s: float) -> list[dict[str, int]]:
    async def read() -> list[dict[str, int]]:
        found = []
        async with aclosing(outgoing.awaited()) as events:
            async for event in events:
                found.append(event)
                if len(found) == most:
                    break
                await asyncio.sleep(stall_s if len(found) == 1 else 0)
        return found

    return asyncio.run(read())


def blocking(outgoing: Outgoing, most: int, stall_s: float) -> list[dict[str, int]]:
    found = []
    with closing(outgoing.blocking()) as events:
        for event in events:
            found.append(event)
            if len(found) == most:
                break
            time.sleep(stall_s if len(found) == 1 else 0)
    return found


@pytest.mark.parametrize("read", [awaited, blocking])
def test_a_reader_that_stalls_gets_every_event_and_its_lateness_is_told(read: Read) -> None:
    totals = EventTotals()
    begun_ns = time.monotonic_ns()
    found = read(Outgoing(schedule(50, MS), totals), 50 + 1, 0.1)
    assert [event["sequence"] for event in found] == list(range(1, 51))
    assert [event["data"] for event in found] == list(range(1, 51))
    assert all(event["sent_ns"] >= begun_ns + (event["sequence"] - 1) * MS for event in found)
    assert (totals.subscriptions, totals.offered, totals.sent) == (1, 50, 50)
    # The second was due after a millisecond, and nobody asked for it for a hundred.
    assert totals.worst_late_ns >= 99 * MS


@pytest.mark.parametrize("read", [awaited, blocking])
def test_who_leaves_was_offered_what_was_due_by_then(read: Read) -> None:
    totals = EventTotals()
    found = read(Outgoing(schedule(1000, MS), totals), 2, 0.05)
    assert len(found) == 2
    assert totals.sent == 1  # the second was being sent
    assert 50 <= totals.offered <= 1000


class Book:
    """Pages of three events, which carry their numbers; `slow` ones take 60 ms, `torn` ones cannot be had."""

    def __init__(self, *, slow: frozenset[int] = frozenset(), torn: frozenset[int] = frozenset()) -> None:
        self.read: list[int] = []
        self._slow, self._torn = slow, torn

    def _page(self, number: int) -> dict[str, list[dict[str, int]]]:
        self.read.append(number)
        if number in self._torn:
            raise ValueError("the book is torn")
        return {"events": [{"data": each} for each in range(number, number + 3)]}

    def asked(self, number: int) -> dict[str, list[dict[str, int]]]:
        time.sleep(0.06 if number in self._slow else 0)
        return self._page(number)

    async def awaited(self, number: int) -> dict[str, list[dict[str, int]]]:
        await asyncio.sleep(0.06 if number in self._slow else 0)
        return self._page(number)

    def opened(self, count: int, interval_ns: int, totals: EventTotals) -> Outgoing:
        of = Schedule(count=count, interval_ns=interval_ns, page=lambda _number: {})
        return Outgoing(of, totals, Pages(blocking=self.asked, awaited=self.awaited))


@pytest.mark.parametrize("read", [awaited, blocking])
def test_pages_are_read_one_after_the_other_and_none_that_nobody_needs(read: Read) -> None:
    book, totals = Book(), EventTotals()
    found = read(book.opened(9, 1000, totals), 10, 0)
    assert [event["data"] for event in found] == [event["sequence"] for event in found] == list(range(1, 10))
    assert book.read == [1, 4, 7]
    assert (totals.offered, totals.sent) == (9, 9)


@pytest.mark.parametrize("read", [awaited, blocking])
def test_a_page_that_takes_long_makes_events_late_and_loses_none(read: Read) -> None:
    totals, begun_ns = EventTotals(), time.monotonic_ns()
    found = read(Book(slow=frozenset({4})).opened(9, MS, totals), 10, 0)
    assert [event["data"] for event in found] == list(range(1, 10))
    assert all(event["sent_ns"] >= begun_ns + (event["sequence"] - 1) * MS for event in found)
    assert (totals.offered, totals.sent) == (9, 9)
    assert totals.worst_late_ns >= 50 * MS  # asked for when it was not due yet, and 60 ms later there


@pytest.mark.parametrize("read", [awaited, blocking])
def test_a_page_that_cannot_be_had_ends_the_stream_with_its_reason_and_what_was_sent_counts(read: Read) -> None:
    totals = EventTotals()
    with pytest.raises(ValueError, match="the book is torn"):
        read(Book(torn=frozenset({7})).opened(1000, 1000, totals), 1001, 0)
    assert (totals.subscriptions, totals.sent) == (1, 6)
    assert totals.offered >= 6


ACTIVITY = {"interval_ns": 1000, "count": 250, "after": 99_900}


class Kept(MemoryStore):
    """Memory that is asked in a thread of its own, or on the loop: as a database is, so that each way is taken."""

    threads = 2

    def __init__(self, runs: Literal["inline", "pool", "loop"]) -> None:
        super().__init__()
        self.runs = runs
        self.asked: list[tuple[int, int]] = []
        self.on: set[str] = set()

    def after(self, number: int, count: int, spent: Spent) -> Any:
        self.asked.append((number, count))
        self.on.add(threading.current_thread().name.partition("_")[0])
        found = super().after(number, count, spent)
        return self._later(found) if self.runs == "loop" else found

    @staticmethod
    async def _later(found: Any) -> Any:
        await asyncio.sleep(0)
        return found


@pytest.mark.parametrize(
    ("runs", "read", "thread"),
    [
        ("inline", awaited, "MainThread"),
        ("pool", awaited, "operation"),
        ("loop", awaited, "MainThread"),
        ("inline", blocking, "MainThread"),
        ("pool", blocking, "MainThread"),
    ],
)
def test_rows_of_a_store_are_read_where_it_says_and_each_event_counts_as_a_request(
    runs: Literal["inline", "pool", "loop"], read: Read, thread: str
) -> None:
    store = Kept(runs)
    held = Held(store=store)
    dispatcher = Dispatcher(identity="nonce", held={"activity": held})
    found = read(dispatcher.subscribe("activity", ACTIVITY, NOBODY), 251, 0)
    assert [event["transaction"] for event in found] == [*range(99_901, 100_001), *range(1, 151)]
    assert store.asked == [(99_900, 100), (0, 100), (100, 50)]
    assert store.on == {thread}
    times = held.times.copy()
    assert times.requests == 250
    parts = times.queue_ns + times.pool_ns + times.database_ns + times.service_ns
    assert 0 < parts <= times.handling_ns
    assert (times.queue_ns > 0) is (runs == "pool" and read is awaited)
    assert dispatcher.answered == 1


def test_a_stream_of_rows_needs_a_store_and_an_event_loop_where_that_is_awaited() -> None:
    with pytest.raises(ValueError, match="was not among the operations of the serve line"):
        Dispatcher(identity="nonce").subscribe("activity", ACTIVITY, NOBODY)
    dispatcher = Dispatcher(identity="nonce", held={"activity": Held(store=Kept("loop"))})
    with pytest.raises(ValueError, match="this server has none"):
        blocking(dispatcher.subscribe("activity", ACTIVITY, NOBODY), 1, 0)
    with pytest.raises(ValueError, match="no single reply"):
        dispatcher.answer("activity", ACTIVITY, NOBODY)
    with pytest.raises(ValueError, match="after must be"):
        dispatcher.subscribe("activity", {**ACTIVITY, "after": 100_000}, NOBODY)
