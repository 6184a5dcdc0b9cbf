"""Load loops of both styles under a scripted clock: what is timed, what is counted, and how failures end."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from services.python.contract.lines import STATUSES
from services.python.load.client import CallFailed
from services.python.load.phases import MEASURED, NS, WARM_UP
from services.python.load.recorder import GaveUp
from tests.support.bench import Bench

pytestmark = pytest.mark.busy

MS = 1_000_000


class SlowBench(Bench):
    """Making a request and looking at a socket take time, and none of it may be counted."""

    looks = 0

    def make(self, sequence: int, wall_ns: Any) -> Any:
        self.time.advance(5)
        return super().make(sequence, wall_ns)

    def look(self) -> None:
        self.looks += 1
        self.time.advance(11)


def _verify(request: Any, reply: Any) -> str | None:
    return None if reply == {"right": True} else f"came back as {reply}"


@pytest.fixture(params=["blocking", "awaiting"])
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SlowBench]:
    made = SlowBench(request.param, tmp_path / "record", _verify)
    yield made
    made.close()


def test_only_the_call_is_timed(bench: SlowBench):
    bench.dialer.service_ns = 1234
    loops = bench.loops()
    loops.open()
    loops.closed_loop(bench.phase(5))
    rows = bench.rows()
    assert [row.received_ns - row.sent_ns for row in rows] == [1234] * 5
    assert [row.sequence for row in rows] == [1, 2, 3, 4, 5]
    assert all(row.intended_ns == row.sent_ns for row in rows)
    assert {(row.phase, row.connection, row.service_ns, row.status) for row in rows} == {(MEASURED, 0, -1, 0)}
    assert {(row.bytes_sent, row.bytes_received) for row in rows} == {(10, 20)}


def test_both_phases_use_the_same_connections_and_are_counted_apart(bench: SlowBench):
    loops = bench.loops()
    loops.open()
    warm = bench.phase(3, WARM_UP)
    loops.closed_loop(warm)
    begin = bench.phase(4, MEASURED, warm.next_sequence)
    loops.closed_loop(begin)
    assert bench.recorder.tally.rows == 4
    assert bench.recorder.tally.connections_opened == 0
    rows = bench.rows()
    assert [row.phase for row in rows] == [WARM_UP] * 3 + [MEASURED] * 4
    assert all((row.sent_ns >= begin.begin_ns) == (row.phase == MEASURED) for row in rows)
    assert bench.dialer.dials == 1


def test_per_request_opening_is_timed_and_closing_is_not(bench: SlowBench):
    bench.dialer.dial_ns, bench.dialer.service_ns = 500, 1000
    loops = bench.loops("per-request")
    loops.open()
    assert bench.dialer.dials == 0
    loops.closed_loop(bench.phase(3))
    rows = bench.rows()
    assert [row.received_ns - row.sent_ns for row in rows] == [1500] * 3
    assert [row.connection for row in rows] == [0, 1, 2]
    assert (bench.dialer.dials, bench.dialer.closed, bench.looks) == (3, 3, 3)
    assert bench.recorder.tally.connections_opened == 3


def test_pauses_of_a_closed_loop_are_added_up_and_lie_between_its_requests(bench: SlowBench):
    """Verifying (7 ns), looking at the socket (11) and closing it (300): before every request but the first."""
    bench.dialer.dial_ns, bench.dialer.service_ns, bench.dialer.close_ns = 500, 1000, 300
    loops = bench.loops("per-request")
    loops.open()
    loops.closed_loop(bench.phase(3, WARM_UP))
    loops.closed_loop(bench.phase(4, MEASURED, 4))
    tally = bench.recorder.tally
    assert tally.paused_ns == 3 * (7 + 11 + 300)
    # What is left of the span is the calls, and the making of requests, which a user's loop does as well.
    assert round(tally.span_s * NS) - tally.paused_ns == 4 * 1500 + 3 * 5


def test_a_wrong_reply_is_an_error_with_its_words_and_never_a_success(bench: SlowBench):
    bench.dialer.script = {2: {"wrong": 1}}
    loops = bench.loops()
    loops.open()
    loops.closed_loop(bench.phase(3))
    tally = bench.recorder.tally
    assert tally.errors == {"wrong-reply": 1}
    assert tally.error_examples == {"wrong-reply": "came back as {'wrong': 1}"}
    assert tally.body_bytes_received == 40
    assert [row.status for row in bench.rows()] == [0, STATUSES.index("wrong-reply"), 0]
    assert bench.dialer.dials == 1


@pytest.mark.parametrize("status", ["closed", "timeout", "undecodable"])
def test_a_broken_connection_is_opened_anew_outside_the_timed_window(bench: SlowBench, status: str):
    bench.dialer.dial_ns, bench.dialer.service_ns = 9999, 10
    bench.dialer.script = {2: CallFailed(status, "gone")}
    loops = bench.loops()
    loops.open()
    loops.closed_loop(bench.phase(3))
    rows = bench.rows()
    assert [row.status for row in rows] == [0, STATUSES.index(status), 0]
    assert [row.connection for row in rows] == [0, 0, 1]
    assert [row.received_ns - row.sent_ns for row in rows] == [10, 10, 10]
    assert bench.looks == 1


def test_nothing_but_failures_gives_up_instead_of_going_on(bench: SlowBench):
    bench.dialer.script = {number: CallFailed("closed", "gone") for number in range(4, 1000)}
    loops = bench.loops()
    loops.open()
    with pytest.raises(GaveUp, match="50 requests in a row failed; the last: closed: gone") as caught:
        loops.closed_loop(bench.phase(1000))
    assert caught.value.kind == "closed"
    assert len(bench.rows()) == 53  # what was asked before is kept


def test_silence_for_three_timeouts_gives_up_sooner(bench: SlowBench):
    bench.dialer.script = {number: CallFailed("timeout") for number in range(2, 1000)}
    bench.dialer.service_ns = lambda call: 30 * NS if call > 1 else 1000
    loops = bench.loops()
    loops.open()
    with pytest.raises(GaveUp, match="no right reply for"):
        loops.closed_loop(bench.phase(1000))
    assert len(bench.rows()) < 10


def test_an_open_loop_counts_from_when_a_request_was_due(bench: SlowBench):
    """The stall test: one slow reply delays those behind it, and their latency says so."""
    bench.time.tick_ns = 100
    bench.dialer.service_ns = lambda call: 500 * MS if call == 3 else 1 * MS
    due = array("q", [index * 10 * MS for index in range(20)])
    loops = bench.loops()
    loops.open()
    phase = bench.open_phase(due)
    if bench.style == "awaiting":
        bench.time.advance(200 * MS)  # all are due at once: the pacer need not wait for a clock that stands still
    loops.open_loop(phase, due, None)
    rows = bench.rows()
    assert [row.intended_ns for row in rows] == [phase.begin_ns + offset for offset in due]
    behind_the_stall = rows[3]
    assert behind_the_stall.received_ns - behind_the_stall.sent_ns < 2 * MS
    assert behind_the_stall.received_ns - behind_the_stall.intended_ns > 400 * MS
    assert all(row.sent_ns >= row.intended_ns for row in rows)


def test_what_was_due_and_not_sent_when_the_window_closed_is_no_error(bench: SlowBench):
    bench.dialer.service_ns = 10 * MS
    due = array("q", [index * MS for index in range(50)])
    loops = bench.loops()
    loops.open()
    phase = bench.open_phase(due)
    if bench.style == "awaiting":
        bench.time.advance(50 * MS)
    close_ns = bench.time.now_ns + 50 * MS
    loops.open_loop(phase, due, close_ns)
    rows = bench.rows()
    sent = [row for row in rows if row.status == 0]
    not_sent = [row for row in rows if STATUSES[row.status] == "not-sent"]
    assert len(sent) + len(not_sent) == 50
    assert all(row.sent_ns < close_ns for row in sent)
    assert len(not_sent) > 40
    assert {row.connection for row in not_sent} == {-1}
    assert [row.sequence for row in rows] == list(range(1, 51))
    tally = bench.recorder.tally
    assert (tally.rows, tally.not_sent, tally.errors) == (len(sent), len(not_sent), {})
    assert tally.last_received_ns == max(row.received_ns for row in sent)


def test_one_thread_that_gives_up_ends_the_phase_for_all(tmp_path: Path):
    bench = SlowBench("blocking", tmp_path / "record", _verify, in_flight=3)
    bench.dialer.script = {number: CallFailed("closed") for number in range(1, 10_000)}
    loops = bench.loops()
    loops.open()
    with pytest.raises(GaveUp):
        loops.closed_loop(bench.phase(9000))
    assert len(bench.rows()) < 60
