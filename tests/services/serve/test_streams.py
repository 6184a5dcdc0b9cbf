"""The sender of a stream: an absolute schedule, no event left out, and honest counts of what was due and what was sent."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import aclosing, closing

import pytest

from services.python.operations.base import Schedule
from services.python.serve.dispatcher import Dispatcher
from services.python.serve.streams import EventTotals, Outgoing

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


def test_totals_add_up_over_subscriptions_and_a_stream_that_nobody_reads_counts_nothing() -> None:
    dispatcher = Dispatcher(identity="nonce")
    asked = {"interval_ns": 1000, "count": 3, "size": 5, "seed": 1}
    dispatcher.subscribe("events", asked, NOBODY)
    assert dispatcher.events.subscriptions == 0
    for _ in range(2):
        assert len(blocking(dispatcher.subscribe("events", asked, NOBODY), 9, 0)) == 3
    assert (dispatcher.events.offered, dispatcher.events.sent, dispatcher.answered) == (6, 6, 3)


def test_what_has_no_events_cannot_be_subscribed_to() -> None:
    dispatcher = Dispatcher(identity="nonce")
    with pytest.raises(ValueError, match="no events to subscribe to"):
        dispatcher.subscribe("add", {"a": 1, "b": 2}, NOBODY)
    with pytest.raises(KeyError):
        dispatcher.subscribe("nothing", {}, NOBODY)
    with pytest.raises(ValueError, match="no single reply"):
        dispatcher.answer("events", {}, NOBODY)
