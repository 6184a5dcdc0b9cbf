"""Where operations run: at once, or in a thread of the pool."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Literal, cast

import pytest

from services.python.operations import OPERATIONS, Operation
from services.python.serve.dispatcher import Dispatcher
from services.python.stores.base import Held, Spent, opened

ADDS = {"a": 1, "b": 2}


@pytest.fixture
def operations(monkeypatch: pytest.MonkeyPatch) -> dict[str, Operation]:
    """The dispatcher's operations, to be added to for one test."""
    every = dict(OPERATIONS)
    monkeypatch.setattr("services.python.serve.dispatcher.OPERATIONS", every)
    return every


def thread_of(_request: Any, _wall_clock_ns: Any) -> dict[str, Any]:
    return {"thread": threading.get_ident()}


async def asked(dispatcher: Dispatcher, operation: str, request: Any) -> tuple[bool, dict[str, Any]]:
    """Whether the reply was there at once, and the reply."""
    reply = dispatcher.answer_async(operation, request, "peer")
    return (True, reply) if isinstance(reply, dict) else (False, await reply)


@pytest.mark.parametrize(
    ("operation", "request_", "at_once"),
    [
        ("add", ADDS, True),
        ("echo", {"data": b"x"}, True),
        ("image", {"data": b"", "full_decode": False}, True),
        ("image", {"data": b"", "full_decode": True}, False),
    ],
)
def test_of_what_there_is_only_a_full_decode_leaves_the_event_loop(
    operations: dict[str, Operation], operation: str, request_: dict[str, Any], at_once: bool
) -> None:
    operations[operation] = replace(operations[operation], answer=thread_of)
    there, reply = asyncio.run(asked(Dispatcher(identity="me"), operation, request_))
    assert there is at_once
    assert (reply["thread"] == threading.get_ident()) is at_once


@pytest.mark.parametrize("runs", ["inline", "pool"])
def test_requests_and_peers_are_counted_wherever_they_run(operations: dict[str, Operation], runs: Any) -> None:
    operations["add"] = replace(OPERATIONS["add"], runs=runs)
    dispatcher = Dispatcher(identity="me")
    for _ in range(3):
        assert asyncio.run(asked(dispatcher, "add", ADDS))[1] == {"sum": 3}
    assert (dispatcher.answered, dispatcher.peers) == (3, {"peer"})


@pytest.mark.parametrize("runs", ["inline", "pool"])
def test_an_operation_is_given_what_it_holds(operations: dict[str, Operation], runs: Any) -> None:
    @contextmanager
    def opened(_settings: Any) -> Iterator[int]:
        yield 5

    def answer(request: Any, _wall_clock_ns: Any, held: int) -> dict[str, Any]:
        return {"sum": request["a"] + held}

    operations["add"] = replace(OPERATIONS["add"], runs=runs, open=opened, answer=answer)
    dispatcher = Dispatcher(identity="me", held={"add": 5})
    assert asyncio.run(asked(dispatcher, "add", ADDS))[1] == {"sum": 6}
    assert dispatcher.answer("add", ADDS, "peer") == {"sum": 6}
    with pytest.raises(ValueError, match="add was not among the operations of the serve line"):
        Dispatcher(identity="me").answer("add", ADDS, "peer")


class Slow:
    """A store that takes what a test says of its clock, in whatever thread it is asked."""

    def __init__(self, now: list[int], runs: Literal["inline", "pool"]) -> None:
        self._now, self.runs, self.threads = now, runs, 50

    def account(self, number: int, spent: Spent) -> tuple[int, str, int]:
        spent.pool_ns += 300
        spent.database_ns += 500
        spent.store_ns += 810
        self._now[0] += 810
        return number, "amber kelp", 7


@pytest.mark.parametrize("runs", ["inline", "pool"])
@pytest.mark.parametrize("is_async", [False, True])
def test_the_parts_of_a_stores_handling_time_are_counted_where_they_pass(
    monkeypatch: pytest.MonkeyPatch, runs: Literal["inline", "pool"], is_async: bool
) -> None:
    now = [0]

    def read() -> int:
        now[0] += 1
        return now[0]

    monkeypatch.setattr("services.python.serve.timed.now_ns", read)
    dispatcher = Dispatcher(identity="me", held={"balance": Held(store=cast(Any, Slow(now, runs)))})
    assert dispatcher.threads == 50
    for _ in range(3):
        if is_async:
            there, reply = asyncio.run(asked(dispatcher, "balance", {"account": 5}))
            assert there is (runs == "inline")
        else:
            reply = dispatcher.answer("balance", {"account": 5}, "peer")
        assert reply == {"account": 5, "owner": "amber kelp", "balance": 7}
    times = dispatcher.held["balance"].times.copy()
    is_queued = is_async and runs == "pool"
    assert (times.requests, times.pool_ns, times.database_ns, times.service_ns) == (3, 900, 1500, 3)
    assert times.queue_ns == (6 if is_queued else 0)
    assert times.handling_ns == 3 * (810 + 3)
    assert times.storeless == 0


def test_a_request_to_a_store_that_fails_is_not_counted() -> None:
    with opened({}) as held:
        dispatcher = Dispatcher(identity="me", held={"balance": held})
        with pytest.raises(ValueError, match="no account"):
            dispatcher.answer("balance", {"account": 0}, "peer")
        assert held.times.requests == 0
        assert dispatcher.answered == 1
