"""An operation asked by those it is made of: in a row or at once, on one connection or several, whatever goes wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from services.python.load.client import CallFailed
from services.python.load.task import Piece, Pieces, make_pieces
from services.python.operations import OPERATIONS

FEED = OPERATIONS["feed"]
NAMES = ("user", "posts", "comments")


class Wire:
    """What the connections of a task do, in the order in which they do it."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.now_ns = 0
        self.failing: dict[str, str] = {}
        self.wrong: set[str] = set()
        self.gate: asyncio.Event | None = None

    def clock(self) -> int:
        self.now_ns += 1
        return self.now_ns


class ScriptedPiece:
    """A dialer of one operation, and its one connection."""

    body = None

    def __init__(self, name: str, wire: Wire) -> None:
        self.name, self.wire = name, wire

    def one_connection(self) -> str:
        self.wire.said.append("one connection")
        return "one"

    async def dial(self) -> ScriptedPiece:
        self.wire.said.append(f"{self.name} dials")
        return self

    async def dial_on(self, one: str) -> ScriptedPiece:
        self.wire.said.append(f"{self.name} dials on {one}")
        return self

    async def call(self, request: Any) -> Any:
        self.wire.said.append(f"{self.name} asks")
        await asyncio.sleep(0)
        if self.name in self.wire.failing:
            raise CallFailed(self.wire.failing[self.name], "no")
        self.wire.said.append(f"{self.name} has it")
        return {self.name: sorted(request)}

    def value(self, reply: Any) -> Any:
        return reply

    def sizes(self, request: Any, reply: Any) -> tuple[int, int]:
        return 10, 100

    async def close(self) -> None:
        self.wire.said.append(f"{self.name} closes")


def task(wire: Wire, *, at_once: bool, on_one: bool = True) -> Pieces:
    def verifier(name: str) -> Callable[[Any, Any], str | None]:
        return lambda _request, _reply: "not so" if name in wire.wrong else None

    pieces: Any = [Piece(name=n, dialer=ScriptedPiece(n, wire), verify=verifier(n)) for n in NAMES]
    return Pieces(pieces=pieces, clock=wire.clock, at_once=at_once, on_one=on_one)


def request(sequence: int = 3) -> Any:
    make = make_pieces(FEED, lambda number, _wall: {"user": number, "count": 10, "each": 5})
    return make(sequence, lambda: 0)


def asked(wire: Wire) -> list[str]:
    return [said for said in wire.said if said.endswith(("asks", "has it"))]


@pytest.mark.parametrize("at_once", [False, True])
@pytest.mark.parametrize("on_one", [False, True])
def test_all_are_asked_and_their_replies_are_one(at_once: bool, on_one: bool) -> None:
    wire = Wire()

    async def run() -> None:
        connection = await task(wire, at_once=at_once, on_one=on_one).dial()
        steps = await connection.call(request())
        assert connection.value(steps) == {
            "calls": ({"user": ["user"]}, {"posts": ["count", "user"]}, {"comments": ["count", "each", "user"]})
        }
        assert connection.sizes(request(), steps) == (30, 300)
        parts = connection.parts(request(), steps)  # type: ignore[attr-defined]
        assert [part.failure for part in parts] == [None] * 3
        assert all(part.sent_ns < part.received_ns for part in parts)
        overlap = any(later.sent_ns < earlier.received_ns for earlier, later in pairwise(parts))
        assert overlap is at_once
        await connection.close()

    asyncio.run(run())
    dialled = [f"{name} dials on one" if on_one else f"{name} dials" for name in NAMES]
    assert [said for said in wire.said if "dials" in said] == dialled
    in_turn = [f"{name} {did}" for name in NAMES for did in ("asks", "has it")]
    together = [f"{name} {did}" for did in ("asks", "has it") for name in NAMES]
    assert asked(wire) == (together if at_once else in_turn)
    assert wire.said[-3:] == [f"{name} closes" for name in NAMES]


@pytest.mark.parametrize(("at_once", "made"), [(False, ["user", "posts"]), (True, [*NAMES])])
def test_a_call_that_fails_ends_the_task_and_at_once_all_are_made_all_the_same(at_once: bool, made: list[str]) -> None:
    wire = Wire()
    wire.failing = {"posts": "timeout"}

    async def run() -> CallFailed:
        connection = await task(wire, at_once=at_once).dial()
        with pytest.raises(CallFailed) as failed:
            await connection.call(request())
        return failed.value

    failure = asyncio.run(run())
    assert (failure.status, failure.detail) == ("timeout", "posts: no")
    assert [said.split()[0] for said in wire.said if said.endswith("asks")] == made
    parts = list(failure.parts())
    assert [part.failure.status if part.failure else None for part in parts] == [
        "timeout" if name == "posts" else None for name in made
    ]
    assert parts[1].bytes_received == -1


def test_a_wrong_reply_is_told_of_its_part_and_ends_nothing() -> None:
    wire = Wire()
    wire.wrong = {"comments"}

    async def run() -> list[Any]:
        connection = await task(wire, at_once=True).dial()
        return list(connection.parts(request(), await connection.call(request())))  # type: ignore[attr-defined]

    *right, wrong = asyncio.run(run())
    assert [part.failure for part in right] == [None, None]
    assert (wrong.failure.status, wrong.failure.detail) == ("wrong-reply", "comments: not so")
    assert wrong.bytes_received == 100
