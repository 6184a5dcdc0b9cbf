"""Where operations run: at once, or in a thread of the pool."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from services.python.operations import OPERATIONS, Operation
from services.python.serve.dispatcher import Dispatcher

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


def test_two_of_the_pool_run_at_once(operations: dict[str, Operation]) -> None:
    met = threading.Barrier(2, timeout=60)
    operations["meet"] = replace(OPERATIONS["add"], name="meet", runs="pool", answer=lambda *_: {"sum": met.wait()})

    async def both(dispatcher: Dispatcher) -> list[tuple[bool, dict[str, Any]]]:
        return await asyncio.gather(*(asked(dispatcher, "meet", ADDS) for _ in range(2)))

    assert sorted(reply["sum"] for _, reply in asyncio.run(both(Dispatcher(identity="me")))) == [0, 1]


def test_a_server_with_threads_of_its_own_needs_no_other(operations: dict[str, Operation]) -> None:
    operations["meet"] = replace(OPERATIONS["add"], name="meet", runs="pool", answer=thread_of)
    assert Dispatcher(identity="me").answer("meet", ADDS, "peer") == {"thread": threading.get_ident()}


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
