"""Several requests in flight: no reply is looked at while another is awaited, and all are verified in the end."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from services.python.contract.lines import STATUSES, Load
from services.python.load.client import CallFailed
from services.python.load.phases import MEASURED, NS, Phase, measured
from services.python.load.recorder import MOST_FAILURES_IN_A_ROW, GaveUp
from tests.support.scripted import AwaitableDialer, ScriptedClock, ScriptedDialer
from tests.support.watched import CONCURRENCY, OK, RIGHT, WRONG, Reading, Trial, Watched, WatchedDialer, standing_clock


@pytest.fixture(params=["blocking", "awaiting"])
def style(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def watched_trial(tmp_path: Path, style: str) -> Iterator[tuple[Watched, Trial]]:
    watched = Watched(wrong=frozenset({7, 40}))
    trial = Trial(tmp_path, style, watched.verify, WatchedDialer(watched, style), standing_clock())
    yield watched, trial
    trial.close()


def test_wrong_replies_are_found_after_the_phase_and_their_rows_say_so(watched_trial: tuple[Watched, Trial]) -> None:
    _, trial = watched_trial
    trial.run(100)
    assert trial.rows() == []
    trial.recorder.settle()
    after = {row.sequence: row for row in trial.rows()}
    assert {sequence for sequence, row in after.items() if row.status == WRONG} == {7, 40}
    assert {row.status for row in after.values()} == {OK, WRONG}
    assert {(row.bytes_sent, row.bytes_received) for row in after.values()} == {(10, 20)}
    assert sorted(after) == list(range(1, 101))
    assert all(0 < row.sent_ns == row.intended_ns <= row.received_ns for row in after.values())
    tally = trial.recorder.tally
    assert (tally.rows, tally.verified, tally.verified_in_flight) == (100, 98, 0)
    assert tally.errors == {"wrong-reply": 2}
    assert tally.error_examples == {"wrong-reply": "came back as {'wrong': 1}"}
    assert tally.body_bytes_received == 98 * 20


def test_a_reply_that_cannot_be_read_is_an_error_of_its_own_kind(tmp_path: Path) -> None:
    def unreadable(_request: Any, _reply: Any) -> str | None:
        raise CallFailed("undecodable", "no fields")

    watched = Watched()
    trial = Trial(tmp_path, "awaiting", unreadable, WatchedDialer(watched, "awaiting"), standing_clock())
    trial.run(3)
    trial.recorder.settle()
    assert {STATUSES[row.status] for row in trial.rows()} == {"undecodable"}
    trial.close()


def test_a_phase_of_wrong_replies_ends_the_trial_and_keeps_its_rows(tmp_path: Path, style: str) -> None:
    watched = Watched(wrong=frozenset(range(11, 200)))
    trial = Trial(tmp_path, style, watched.verify, WatchedDialer(watched, style), standing_clock())
    trial.run(10 + MOST_FAILURES_IN_A_ROW + 5)
    with pytest.raises(GaveUp, match="50 or more replies in a row were wrong") as caught:
        trial.recorder.settle()
    assert caught.value.kind == "wrong-reply"
    assert [row.status for row in sorted(trial.rows())] == [OK] * 10 + [WRONG] * (MOST_FAILURES_IN_A_ROW + 5)
    trial.close()


def test_a_responder_that_answers_wrongly_from_some_moment_on_is_found_out_in_time(tmp_path: Path, style: str) -> None:
    """Within a second and 50 requests, though a million were asked for."""
    clock = ScriptedClock()
    dialer = ScriptedDialer(clock, service_ns=NS // 200, script={n: {"wrong": n} for n in range(31, 2000)})
    given = dialer if style == "blocking" else AwaitableDialer(dialer)
    trial = Trial(tmp_path, style, lambda _, reply: None if reply == RIGHT else "wrong", given, clock.clock())
    with pytest.raises(GaveUp, match="requests in a row failed"):
        trial.run(1_000_000)
    assert dialer.calls <= 200 + MOST_FAILURES_IN_A_ROW + CONCURRENCY
    with pytest.raises(GaveUp):
        trial.recorder.settle()
    assert [row.status for row in sorted(trial.rows())][:30] == [OK] * 30
    assert {row.status for row in sorted(trial.rows())[30:]} == {WRONG}
    trial.close()


def test_wrong_replies_are_found_out_although_failures_come_when_a_progress_line_is_due(tmp_path: Path) -> None:
    """A failure that is entered when a second is over does not take the look at the next reply away."""
    watched = Watched(wrong=frozenset(range(1, 10**6)))
    clock = ScriptedClock()
    trial = Trial(tmp_path, "awaiting", watched.verify, WatchedDialer(watched, "awaiting"), clock.clock())
    recorder = trial.recorder
    phase = Phase(number=MEASURED, begin_ns=clock.now_ns, first_sequence=1, extent=measured(Load(requests=9)), most=9)
    recorder.begin(phase)
    reading = Reading(watched)

    def ask_for_a_minute() -> None:
        for number in range(1, 2 * 60):
            clock.advance(NS // 2)
            now_ns = clock.now_ns
            if number % 2 == 0:
                recorder.failed(number, 0, now_ns - 1, now_ns - 1, now_ns, CallFailed("timeout"))
            else:
                request = {"sequence": number}
                recorder.replied(number, 0, now_ns - 1, now_ns - 1, now_ns, reading, request, watched.reply_to(request))

    with pytest.raises(GaveUp):
        ask_for_a_minute()
    trial.close()


_PIECES = 100


def _pieces() -> list[bytes]:
    """100 kB of memory without a large buffer."""
    return [bytes(1_000) for _ in range(_PIECES)]


class _Large(dict[str, Any]):
    """A reply of 100 kB that can be watched."""

    __hash__ = object.__hash__  # type: ignore[assignment]


class _LargeReplies(ScriptedDialer):
    """As many replies alive at most as `most_alive` says in the end."""

    def __init__(self, clock: ScriptedClock) -> None:
        super().__init__(clock)
        self.alive: weakref.WeakSet[_Large] = weakref.WeakSet()
        self.most_alive = 0

    def dial(self) -> Any:
        connection = super().dial()
        honest = connection.call

        def call(request: Any) -> Any:
            honest(request)
            reply = _Large(data=_pieces())
            self.alive.add(reply)
            self.most_alive = max(self.most_alive, len(self.alive))
            return reply

        connection.call = call  # type: ignore[method-assign]
        return connection


@pytest.mark.parametrize(("room_bytes", "room"), [(0, 2), (1_000_000, 9), (100_000_000, 300)])
def test_replies_are_kept_only_as_long_as_there_is_room_and_verified_all_the_same(
    tmp_path: Path, style: str, room_bytes: int, room: int
) -> None:
    looked = 0

    def verify(_request: Any, reply: Any) -> str | None:
        nonlocal looked
        looked += 1
        return None if len(reply["data"]) == _PIECES else "too short"

    clock = ScriptedClock()
    dialer = _LargeReplies(clock)
    given = dialer if style == "blocking" else AwaitableDialer(dialer)
    trial = Trial(tmp_path, style, verify, given, clock.clock(), most_kept_bytes=room_bytes)
    trial.run(300, constant=True)
    assert dialer.most_alive <= room + CONCURRENCY + 1
    trial.recorder.settle()
    assert trial.recorder.tally.verified_in_flight == 300 - room
    assert looked == trial.recorder.tally.verified == 300
    assert {row.status for row in trial.rows()} == {OK}
    trial.close()
