"""Timing rules that mislead, beside the true one: what each says of the same calls, through the wrapped connection."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from services.python.contract.lines import STATUSES
from services.python.contract.timing_rules import BATCH, EVENTS, RULES
from services.python.load.client import CallFailed
from services.python.load.phases import MEASURED, WARM_UP
from services.python.load.record import KINDS, Row
from services.python.misleading import noting
from services.python.misleading.rules import OF_RULE, Noted
from services.python.operations.timestamp import iso_stamp
from tests.support.bench import Bench
from tests.support.scripted import AwaitableDialer, ScriptedDialer

ASKED, ANSWERED = iso_stamp(1_700_000_000_000_000_000), iso_stamp(1_700_000_000_000_300_000)
REPLY = {"response_timestamp": ANSWERED, "right": True}
NUMBER = {rule.name: place for place, rule in enumerate(RULES, start=1)}
SERVICE_NS, DIAL_NS = 700_000, 2_000_000


def verify(_request: Any, reply: Any) -> str | None:
    return None if reply.get("right", True) else "wrong"


class NotingBench(Bench):
    """Its connections note for the rules."""

    def __init__(self, style: str, path: Path) -> None:
        super().__init__(style, path, verify, has_misleading_rows=True)
        self.dialer = ScriptedDialer(self.time, service_ns=SERVICE_NS, dial_ns=DIAL_NS)
        self.dialer.script = dict.fromkeys(range(1, 2_000), REPLY)
        self.batches = noting.Batches()

    def make(self, _sequence: int, _wall_ns: Any) -> Any:
        return {"request_timestamp": ASKED}

    def blocking(self) -> Any:
        return noting.BlockingNotes(self.dialer, self.batches, self.time.clock().monotonic_ns)

    def awaiting(self) -> Any:
        return noting.AwaitingNotes(AwaitableDialer(self.dialer), self.batches, self.time.clock().monotonic_ns)

    def run_phases(self, *phases: tuple[int, int]) -> list[Row]:
        """The rows of these phases, each with so many requests."""
        loops, sequence = self.loops(), 1
        loops.open()
        for number, requests in phases:
            self.batches.begin()
            phase = self.phase(requests, number, sequence)
            loops.closed_loop(phase)
            self.recorder.settle()
            sequence = phase.next_sequence
        assert self.recorder.tally.rows == phases[-1][1]  # what rules say is counted as nothing
        return self.rows()


@pytest.fixture(params=["blocking", "awaiting"])
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[NotingBench]:
    made = NotingBench(request.param, tmp_path / "record")
    yield made
    made.close()


def requests_of(rows: list[Row]) -> list[Row]:
    return [row for row in rows if KINDS[row.kind] == "request"]


def said_by(rows: list[Row], rule: str) -> dict[int, Row]:
    """By the sequence of the request."""
    return {row.parent: row for row in rows if KINDS[row.kind] == "misleading" and row.sequence == NUMBER[rule]}


def test_every_request_has_a_row_of_every_rule_and_keeps_its_own_stamps(bench: NotingBench) -> None:
    rows = bench.run_phases((MEASURED, 3))
    kinds = [KINDS[row.kind] for row in rows]
    assert kinds == 3 * ["request", *["misleading"] * len(RULES)]
    assert [row.received_ns - row.sent_ns for row in requests_of(rows)] == 3 * [SERVICE_NS]
    assert {(row.bytes_sent, row.bytes_received) for row in requests_of(rows)} == {(10, 20)}
    said = [row for row in rows if KINDS[row.kind] == "misleading"]
    assert [row.sequence for row in said] == 3 * [*range(1, len(RULES) + 1)]
    assert [row.parent for row in said] == [number for number in (1, 2, 3) for _ in RULES]


def test_server_minus_client_is_what_the_two_stamps_of_the_messages_say(bench: NotingBench) -> None:
    found = said_by(bench.run_phases((MEASURED, 2)), "server-minus-client")
    assert [row.received_ns - row.sent_ns for row in found.values()] == [300_000, 300_000]


@pytest.mark.parametrize(("rule", "size"), [("one-stamp-for-50", BATCH), ("thousand-events", EVENTS)])
def test_a_batch_has_the_stamp_of_its_first_request(bench: NotingBench, rule: str, size: int) -> None:
    rows = bench.run_phases((MEASURED, size + 1))
    true, found = requests_of(rows), said_by(rows, rule)
    assert {found[number].sent_ns for number in range(1, size + 1)} == {true[0].sent_ns}
    assert found[size + 1].sent_ns == true[size].sent_ns != true[0].sent_ns
    assert [found[row.sequence].received_ns for row in true] == [row.received_ns for row in true]


def test_what_is_thrown_into_an_awaited_call_reaches_it() -> None:
    seen: list[str] = []

    async def call() -> str:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise
        return "late"

    async def cut() -> None:
        await asyncio.wait_for(noting.UntilItWaits(call(), lambda: 1), timeout=0.01)

    with pytest.raises(TimeoutError):
        asyncio.run(cut())
    assert seen == ["cancelled"]


def test_connecting_is_in_the_first_request_of_a_connection_alone(bench: NotingBench) -> None:
    found = said_by(bench.run_phases((WARM_UP, 1), (MEASURED, 2)), "connecting-in-the-mean")
    assert [row.received_ns - row.sent_ns for row in found.values()] == [DIAL_NS + SERVICE_NS, SERVICE_NS, SERVICE_NS]


def test_a_request_that_failed_is_in_no_rule(bench: NotingBench) -> None:
    bench.dialer.script[2] = CallFailed("protocol", "500")
    rows = bench.run_phases((MEASURED, 3))
    assert [STATUSES[row.status] for row in requests_of(rows)] == ["ok", "protocol", "ok"]
    assert set(said_by(rows, "cpu-time")) == {1, 3}


@pytest.mark.parametrize("reply", [{"right": False}, {"response_timestamp": "2023-99-99T00:00:00.000000+00:00"}])
def test_a_reply_that_is_not_right_is_in_no_rule_and_ends_nothing(bench: NotingBench, reply: dict[str, Any]) -> None:
    bench.dialer.script[2] = reply
    rows = bench.run_phases((MEASURED, 3))
    assert [STATUSES[row.status] for row in requests_of(rows)] == ["ok", "wrong-reply", "ok"]
    for rule in NUMBER:
        assert set(said_by(rows, rule)) == {1, 3}


def test_two_clocks_may_say_that_the_reply_came_first() -> None:
    noted = Noted(
        reply=None,
        begun_ns=10**9,
        queued_ns=0,
        ended_ns=0,
        cpu_ns=0,
        first_of_batch_ns=0,
        first_of_events_ns=0,
        opening_ns=0,
    )
    request, reply = {"request_timestamp": ANSWERED}, {"response_timestamp": ASKED}
    sent, received = OF_RULE["server-minus-client"](noted, request, reply)
    assert received - sent == -300_000
