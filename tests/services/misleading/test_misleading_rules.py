"""Timing rules that mislead, beside the true one: what each says of the same calls, through the wrapped connection."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from services.python.contract.lines import STATUSES, Load
from services.python.contract.timing_rules import BATCH, EVENTS, RULES
from services.python.load.async_load import AwaitingLoops
from services.python.load.client import CallFailed
from services.python.load.loop import Loops, Work
from services.python.load.phases import MEASURED, WARM_UP, Phase, measured
from services.python.load.record import KINDS, Record, Row, read_record
from services.python.load.recorder import Recorder
from services.python.load.sync_load import BlockingLoops
from services.python.misleading import noting
from services.python.misleading.rules import OF_RULE, Noted
from services.python.operations.timestamp import iso_stamp
from tests.support.scripted import AwaitableDialer, ScriptedClock, ScriptedDialer

ASKED, ANSWERED = iso_stamp(1_700_000_000_000_000_000), iso_stamp(1_700_000_000_000_300_000)
REPLY = {"response_timestamp": ANSWERED, "right": True}
NUMBER = {rule.name: place for place, rule in enumerate(RULES, start=1)}
SERVICE_NS, DIAL_NS = 700_000, 2_000_000


def verify(_request: Any, reply: Any) -> str | None:
    return None if reply.get("right", True) else "wrong"


class Bench:
    """Loops of one style whose connections note for the rules, over a scripted dialer."""

    def __init__(self, style: str, path: Path) -> None:
        self.style, self.path = style, path
        self.time = ScriptedClock()
        self.dialer = ScriptedDialer(self.time, service_ns=SERVICE_NS, dial_ns=DIAL_NS)
        self.dialer.script = dict.fromkeys(range(1, 2_000), REPLY)
        self.record = Record(path, 100)
        self.recorder = Recorder(
            self.record, verify, timeout_s=30, progress=lambda line: None, has_misleading_rows=True
        )
        self.event_loop = asyncio.new_event_loop()
        self.batches = noting.Batches()

    def loops(self) -> Loops:
        clock = self.time.clock()
        work = Work(
            make=lambda _sequence, _wall: {"request_timestamp": ASKED},
            recorder=self.recorder,
            clock=clock,
            policy="reuse",
            concurrency=1,
            before_close=lambda: None,
        )
        if self.style == "blocking":
            return BlockingLoops(noting.BlockingNotes(self.dialer, self.batches, clock.monotonic_ns), work)
        notes = noting.AwaitingNotes(AwaitableDialer(self.dialer), self.batches, clock.monotonic_ns)
        return AwaitingLoops(self.event_loop, notes, work)

    def run(self, *phases: tuple[int, int]) -> list[Row]:
        """The rows of these phases, each with so many requests."""
        loops, sequence = self.loops(), 1
        loops.open()
        for number, requests in phases:
            load = Load(requests=requests)
            extent = measured(load)
            begin_ns = self.time.now_ns
            phase = Phase(number=number, begin_ns=begin_ns, first_sequence=sequence, extent=extent, most=requests)
            self.batches.begin()
            self.recorder.begin(phase)
            loops.closed_loop(phase)
            self.recorder.settle()
            sequence = phase.next_sequence
        assert self.recorder.tally.rows == phases[-1][1]  # what rules say is counted as nothing
        self.record.close()
        return list(read_record(self.path))


@pytest.fixture(params=["blocking", "awaiting"])
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    made = Bench(request.param, tmp_path / "record")
    yield made
    made.event_loop.close()


def requests_of(rows: list[Row]) -> list[Row]:
    return [row for row in rows if KINDS[row.kind] == "request"]


def said_by(rows: list[Row], rule: str) -> dict[int, Row]:
    """By the sequence of the request."""
    return {row.parent: row for row in rows if KINDS[row.kind] == "misleading" and row.sequence == NUMBER[rule]}


def test_every_request_has_a_row_of_every_rule_and_keeps_its_own_stamps(bench: Bench) -> None:
    rows = bench.run((MEASURED, 3))
    kinds = [KINDS[row.kind] for row in rows]
    assert kinds == 3 * ["request", *["misleading"] * len(RULES)]
    assert [row.received_ns - row.sent_ns for row in requests_of(rows)] == 3 * [SERVICE_NS]
    assert {(row.bytes_sent, row.bytes_received) for row in requests_of(rows)} == {(10, 20)}
    said = [row for row in rows if KINDS[row.kind] == "misleading"]
    assert [row.sequence for row in said] == 3 * [*range(1, len(RULES) + 1)]
    assert [row.parent for row in said] == [number for number in (1, 2, 3) for _ in RULES]


def test_server_minus_client_is_what_the_two_stamps_of_the_messages_say(bench: Bench) -> None:
    found = said_by(bench.run((MEASURED, 2)), "server-minus-client")
    assert [row.received_ns - row.sent_ns for row in found.values()] == [300_000, 300_000]


@pytest.mark.parametrize(("rule", "size"), [("one-stamp-for-50", BATCH), ("thousand-events", EVENTS)])
def test_a_batch_has_the_stamp_of_its_first_request(bench: Bench, rule: str, size: int) -> None:
    rows = bench.run((MEASURED, size + 1))
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


def test_connecting_is_in_the_first_request_of_a_connection_alone(bench: Bench) -> None:
    found = said_by(bench.run((WARM_UP, 1), (MEASURED, 2)), "connecting-in-the-mean")
    assert [row.received_ns - row.sent_ns for row in found.values()] == [DIAL_NS + SERVICE_NS, SERVICE_NS, SERVICE_NS]


def test_a_request_that_failed_is_in_no_rule(bench: Bench) -> None:
    bench.dialer.script[2] = CallFailed("protocol", "500")
    rows = bench.run((MEASURED, 3))
    assert [STATUSES[row.status] for row in requests_of(rows)] == ["ok", "protocol", "ok"]
    assert set(said_by(rows, "cpu-time")) == {1, 3}


@pytest.mark.parametrize("reply", [{"right": False}, {"response_timestamp": "2023-99-99T00:00:00.000000+00:00"}])
def test_a_reply_that_is_not_right_is_in_no_rule_and_ends_nothing(bench: Bench, reply: dict[str, Any]) -> None:
    bench.dialer.script[2] = reply
    rows = bench.run((MEASURED, 3))
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
