"""Mixes: what is drawn, both styles of client, connections and what goes wrong."""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import Any

import pytest

from services.python.contract.lines import STATUSES
from services.python.load.client import CallFailed
from services.python.load.mix import AwaitingMix, BlockingMix, make_mixed, verify_mixed
from services.python.load.phases import MIXED, mix_order, place_in_mix
from services.python.load.record import KINDS, Row
from tests.support.bench import Bench
from tests.support.scripted import AwaitableDialer, ScriptedDialer

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


class MixedBench(Bench):
    """It asks a mix, over two dialers."""

    def __init__(self, style: str, path: Path, drawn: list[int], *, in_flight: int, policy: str) -> None:
        self.drawn = array("b", (drawn * MIXED)[:MIXED])
        self.policy, self.are_kept = policy, policy == "reuse"
        super().__init__(
            style,
            path,
            verify_mixed([_verify, _verify], NAMES),
            in_flight=in_flight,
            kind="mixed",
            parent_of=lambda sequence: 1 + place_in_mix(self.drawn, sequence),
            each_has=2 if self.are_kept else 0,
        )
        self.time.tick_ns = 1
        self.dialers = [ScriptedDialer(self.time), ScriptedDialer(self.time)]
        self.make = make_mixed([super().make] * len(NAMES), self.drawn)  # type: ignore[method-assign]

    def blocking(self) -> Any:
        return BlockingMix(self.dialers, are_kept=self.are_kept)

    def awaiting(self) -> Any:
        return AwaitingMix([AwaitableDialer(dialer) for dialer in self.dialers], are_kept=self.are_kept)

    def rows_of(self, requests: int) -> list[Row]:
        self.run(requests, self.policy)
        self.event_loop.close()
        return sorted(self.rows(), key=lambda row: row.sequence)


@pytest.fixture(params=["blocking", "awaiting"])
def style(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def _told(rows: list[Row]) -> list[tuple[str, int, int, str]]:
    return [(KINDS[row.kind], row.sequence, row.parent, STATUSES[row.status]) for row in rows]


@pytest.mark.parametrize("in_flight", [1, 3])
def test_each_row_is_of_the_operation_that_was_asked(style: str, tmp_path: Path, in_flight: int) -> None:
    bench = MixedBench(style, tmp_path / "record", [0, 0, 1], in_flight=in_flight, policy="reuse")
    rows = bench.rows_of(9)
    assert _told(rows) == [("mixed", n, 2 if n % 3 == 0 else 1, "ok") for n in range(1, 10)]
    assert [dialer.calls for dialer in bench.dialers] == [6, 3]
    assert [dialer.dials for dialer in bench.dialers] == [in_flight, in_flight]
    assert {row.connection % 2 for row in rows if row.parent == 2} == {1}
    assert [dialer.closed for dialer in bench.dialers] == [in_flight, in_flight]


@pytest.mark.parametrize("in_flight", [1, 3])
def test_a_connection_for_each_request_is_opened_to_what_it_asks_alone(
    style: str, tmp_path: Path, in_flight: int
) -> None:
    bench = MixedBench(style, tmp_path / "record", [0, 0, 1], in_flight=in_flight, policy="per-request")
    rows = bench.rows_of(9)
    assert [dialer.dials for dialer in bench.dialers] == [6, 3]
    assert sorted(row.connection for row in rows) == list(range(9))
    assert (bench.recorder.tally.rows, bench.recorder.tally.verified, dict(bench.recorder.tally.errors)) == (9, 9, {})


def test_one_that_cannot_be_opened_leaves_none(style: str, tmp_path: Path) -> None:
    bench = MixedBench(style, tmp_path / "record", [0, 1], in_flight=1, policy="reuse")
    bench.dialers[1].refuse_dials = {1}
    with pytest.raises(CallFailed, match="nobody is there"):
        bench.rows_of(1)
    assert bench.dialers[0].closed == 1
