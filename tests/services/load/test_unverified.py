"""Several in flight: no reply is looked at while another is awaited, all are verified in the end, known ones by bytes."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from services.python.contract.lines import STATUSES
from services.python.load.client import CallFailed
from services.python.load.phases import NS, WARM_UP
from services.python.load.recorder import MOST_FAILURES_IN_A_ROW, GaveUp
from services.python.operations.base import Lasting
from tests.support.scripted import AwaitableDialer, ScriptedClock, ScriptedDialer
from tests.support.watched import CONCURRENCY, OK, RIGHT, WRONG, Trial, Watched, WatchedDialer, standing_clock


@pytest.fixture(params=["blocking", "awaiting"])
def style(request: pytest.FixtureRequest) -> str:
    return str(request.param)


Watching = Callable[..., Trial]


@pytest.fixture
def watching(tmp_path: Path, style: str) -> Iterator[Watching]:
    """Makes the trial of a responder that is watched, and closes it."""
    made: list[Trial] = []

    def trial(watched: Watched, verify: Any = None, clock: Any = None, **recorder: Any) -> Trial:
        dialer = WatchedDialer(watched, style)
        made.append(Trial(tmp_path, style, verify or watched.verify, dialer, clock or standing_clock(), **recorder))
        return made[-1]

    yield trial
    for each in made:
        each.close()


def test_wrong_replies_are_found_after_the_phase_and_their_rows_say_so(watching: Watching) -> None:
    trial = watching(Watched(wrong=frozenset({7, 40})))
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


def test_a_reply_that_cannot_be_read_is_an_error_of_its_own_kind(watching: Watching) -> None:
    def unreadable(_request: Any, _reply: Any) -> str | None:
        raise CallFailed("undecodable", "no fields")

    trial = watching(Watched(), unreadable)
    trial.run(3)
    trial.recorder.settle()
    assert {STATUSES[row.status] for row in trial.rows()} == {"undecodable"}


def test_a_phase_of_wrong_replies_ends_the_trial_and_keeps_its_rows(watching: Watching) -> None:
    """Of the right replies, as many as are in flight may be entered late, and stand among the wrong ones."""
    wrong = (CONCURRENCY + 1) * MOST_FAILURES_IN_A_ROW
    trial = watching(Watched(wrong=frozenset(range(11, 11 + wrong))))
    trial.run(10 + wrong)
    with pytest.raises(GaveUp, match="50 or more replies in a row were wrong") as caught:
        trial.recorder.settle()
    assert caught.value.kind == "wrong-reply"
    assert [row.status for row in sorted(trial.rows())] == [OK] * 10 + [WRONG] * wrong


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


@pytest.mark.parametrize(("room_bytes", "room"), [(1, 2), (1_000_000, 9), (100_000_000, 300)])
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


def test_a_reply_of_other_bytes_to_the_same_request_is_looked_at_while_measuring(watching: Watching) -> None:
    """So that wrong replies among right ones are found out before the phase is over."""
    watched = Watched(wrong=frozenset({5 + 20, 5 + 40}), gives_bodies=True)
    trial = watching(watched)
    trial.run(5, constant=True, phase=WARM_UP)
    trial.recorder.settle()
    watched.looks.clear()
    trial.run(100, constant=True)
    assert sum(what == "verify" for what, _ in watched.looks) >= 2
    trial.recorder.settle()
    tally = trial.recorder.tally
    assert (tally.rows, tally.verified, tally.errors) == (100, 98, {"wrong-reply": 2})


@pytest.mark.parametrize("style", ["awaiting"])
def test_stamps_of_known_replies_take_no_more_memory_than_allowed(watching: Watching) -> None:
    trial = watching(Watched(gives_bodies=True), most_kept_bytes=3000)
    trial.run(5, constant=True, phase=WARM_UP)
    trial.recorder.settle()
    trial.run(100, constant=True)
    assert 85 <= trial.recorder.tally.rows <= 90, "ten have room, and those whose value is looked at"
    trial.recorder.settle()
    assert trial.recorder.tally.verified == 100


@pytest.mark.parametrize("policy", ["reuse", "per-request"])
def test_a_reply_is_freed_before_the_next_request_is_timed(watching: Watching, policy: Any) -> None:
    """To free 200 records takes some microseconds, which are no part of the next latency."""

    class Reply(dict[str, Any]):
        __hash__ = object.__hash__  # type: ignore[assignment]

    alive: list[int] = []
    replies: weakref.WeakSet[Reply] = weakref.WeakSet()

    class Answering(Watched):
        def begin(self) -> None:
            super().begin()
            alive.append(len(replies))

        def reply_to(self, request: Any) -> Any:
            reply = Reply(RIGHT)
            replies.add(reply)
            return reply

    trial = watching(Answering(), in_flight=1)
    trial.run(10, policy)
    trial.recorder.settle()
    assert alive == [0] * 10


def test_each_row_of_a_call_has_a_reply_that_is_known(watching: Watching) -> None:
    rows = [Lasting(sequence=0, row=row) for row in range(4)]
    trial = watching(Watched(gives_bodies=True))
    trial.run(40, phase=WARM_UP, rows=rows)
    trial.recorder.settle()
    trial.run(400, rows=rows)
    trial.recorder.settle()
    tally = trial.recorder.tally
    assert (tally.verified, tally.verified_by_bytes > 350) == (400, True)
