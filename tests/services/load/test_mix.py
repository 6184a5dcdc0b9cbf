"""Mixes: what is drawn, both styles of client, connections and what goes wrong."""

from __future__ import annotations

import asyncio
from array import array
from pathlib import Path
from typing import Any

import pytest

from services.python.contract.lines import STATUSES, Load
from services.python.load.async_load import AwaitingLoops
from services.python.load.client import CallFailed
from services.python.load.loop import Work
from services.python.load.mix import AwaitingMix, BlockingMix, make_mixed, verify_mixed
from services.python.load.phases import MEASURED, MIXED, Phase, measured, mix_order, place_in_mix
from services.python.load.record import KINDS, Record, Row, read_record
from services.python.load.recorder import Recorder
from services.python.load.sync_load import BlockingLoops
from tests.support.scripted import AwaitableDialer, ScriptedClock, ScriptedDialer

NAMES = ("small", "large")


def test_the_order_is_that_of_the_seed_and_its_shares_are_those_of_the_weights() -> None:
    drawn = mix_order([8, 2], 7)
    assert len(drawn) == MIXED
    assert drawn == mix_order([8, 2], 7) != mix_order([8, 2], 8)
    assert drawn.count(1) / MIXED == pytest.approx(0.2, abs=0.005)
    assert [place_in_mix(drawn, sequence) for sequence in (1, 2, MIXED + 1)] == [drawn[0], drawn[1], drawn[0]]


@pytest.mark.parametrize("weights", [[1], [], [1, 0], [3, -1]])
def test_a_mix_needs_two_operations_with_a_weight_each(weights: list[int]) -> None:
    with pytest.raises(ValueError, match="two operations or more"):
        mix_order(weights, 1)


def _verify(request: Any, reply: Any) -> str | None:
    return None if reply.get("right") else f"a wrong reply to {request['sequence']}"


class Bench:
    """Loops of one style that ask a mix, over two scripted dialers."""

    def __init__(self, style: str, path: Path, drawn: list[int], *, in_flight: int, policy: Any) -> None:
        self.style, self.path, self.in_flight, self.policy = style, path, in_flight, policy
        self.drawn = array("b", (drawn * MIXED)[:MIXED])
        self.time = ScriptedClock(tick_ns=1)
        self.dialers = [ScriptedDialer(self.time), ScriptedDialer(self.time)]
        self.record = Record(path, 100)
        self.event_loop = asyncio.new_event_loop()

    def run(self, requests: int) -> list[Row]:
        clock = self.time.clock()
        are_kept = self.policy == "reuse"
        recorder = Recorder(
            self.record,
            verify_mixed([_verify, _verify], NAMES),
            timeout_s=30,
            progress=lambda line: None,
            kind="mixed",
            in_flight=self.in_flight,
            parent_of=lambda sequence: 1 + place_in_mix(self.drawn, sequence),
            each_has=2 if are_kept else 0,
        )
        makes = [lambda sequence, _wall, name=name: {"sequence": sequence, "name": name} for name in NAMES]
        work = Work(
            make=make_mixed(makes, self.drawn),
            recorder=recorder,
            clock=clock,
            policy=self.policy,
            concurrency=self.in_flight,
            before_close=lambda: None,
        )
        if self.style == "blocking":
            loops: Any = BlockingLoops(BlockingMix(self.dialers, are_kept=are_kept), work)
        else:
            dialers = [AwaitableDialer(dialer) for dialer in self.dialers]
            loops = AwaitingLoops(self.event_loop, AwaitingMix(dialers, are_kept=are_kept), work)
        loops.open()
        load = Load(requests=requests)
        phase = Phase(
            number=MEASURED, begin_ns=self.time.now_ns, first_sequence=1, extent=measured(load), most=load.requests
        )
        recorder.begin(phase)
        loops.closed_loop(phase)
        recorder.settle()
        self.tally = recorder.tally
        loops.close()
        self.event_loop.close()
        self.record.close()
        return sorted(read_record(self.path), key=lambda row: row.sequence)


@pytest.fixture(params=["blocking", "awaiting"])
def style(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def _told(rows: list[Row]) -> list[tuple[str, int, int, str]]:
    return [(KINDS[row.kind], row.sequence, row.parent, STATUSES[row.status]) for row in rows]


@pytest.mark.parametrize("in_flight", [1, 3])
def test_each_row_is_of_the_operation_that_was_asked(style: str, tmp_path: Path, in_flight: int) -> None:
    bench = Bench(style, tmp_path / "record", [0, 0, 1], in_flight=in_flight, policy="reuse")
    rows = bench.run(9)
    assert _told(rows) == [("mixed", n, 2 if n % 3 == 0 else 1, "ok") for n in range(1, 10)]
    assert [dialer.calls for dialer in bench.dialers] == [6, 3]
    assert [dialer.dials for dialer in bench.dialers] == [in_flight, in_flight]
    assert {row.connection % 2 for row in rows if row.parent == 2} == {1}
    assert [dialer.closed for dialer in bench.dialers] == [in_flight, in_flight]


@pytest.mark.parametrize("in_flight", [1, 3])
def test_a_connection_for_each_request_is_opened_to_what_it_asks_alone(
    style: str, tmp_path: Path, in_flight: int
) -> None:
    bench = Bench(style, tmp_path / "record", [0, 0, 1], in_flight=in_flight, policy="per-request")
    rows = bench.run(9)
    assert [dialer.dials for dialer in bench.dialers] == [6, 3]
    assert sorted(row.connection for row in rows) == list(range(9))
    assert (bench.tally.rows, bench.tally.verified, dict(bench.tally.errors)) == (9, 9, {})


def test_one_that_cannot_be_opened_leaves_none(style: str, tmp_path: Path) -> None:
    bench = Bench(style, tmp_path / "record", [0, 1], in_flight=1, policy="reuse")
    bench.dialers[1].refuse_dials = {1}
    with pytest.raises(CallFailed, match="nobody is there"):
        bench.run(1)
    assert bench.dialers[0].closed == 1
