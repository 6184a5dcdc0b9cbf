"""Several in flight: no reply is looked at while another is awaited, all are verified in the end, known ones by bytes."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from services.python.contract.lines import STATUSES, Load
from services.python.load.client import CallFailed
from services.python.load.phases import MEASURED, NS, WARM_UP, Phase, measured
from services.python.load.recorder import MOST_FAILURES_IN_A_ROW, GaveUp
from services.python.operations.base import Lasting
from tests.support.scripted import AwaitableDialer, ScriptedClock, ScriptedDialer
from tests.support.watched import CONCURRENCY, OK, RIGHT, WRONG, Reading, Trial, Watched, WatchedDialer, standing_clock


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
    trial = watching(Watched(wrong=frozenset(range(11, 200))))
    trial.run(10 + MOST_FAILURES_IN_A_ROW + 5)
    with pytest.raises(GaveUp, match="50 or more replies in a row were wrong") as caught:
        trial.recorder.settle()
    assert caught.value.kind == "wrong-reply"
    assert [row.status for row in sorted(trial.rows())] == [OK] * 10 + [WRONG] * (MOST_FAILURES_IN_A_ROW + 5)


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


def test_wrong_replies_are_found_out_although_failures_come_when_a_progress_line_is_due(watching: Watching) -> None:
    """A failure that is entered when a second is over does not take the look at the next reply away."""
    watched = Watched(wrong=frozenset(range(1, 10**6)))
    clock = ScriptedClock()
    recorder = watching(watched, clock=clock.clock()).recorder
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


def test_a_responder_that_is_mostly_wrong_ends_the_trial_in_time(watching: Watching) -> None:
    watched = Watched(wrong=frozenset(range(20, 100_000)) - frozenset(range(20, 100_000, 100)), gives_bodies=True)
    trial = watching(watched)
    trial.run(5, constant=True, phase=WARM_UP)
    with pytest.raises(GaveUp, match="requests in a row failed"):
        trial.run(50_000, constant=True)
    assert watched.answered < 1_000


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


@pytest.mark.slow
@pytest.mark.parametrize(
    "wrong", [lambda n: n % 50 == 0, lambda n: n > 500], ids=["every fiftieth", "from some moment on"]
)
def test_a_client_whose_values_are_not_those_of_its_bytes_is_found_out(
    watching: Watching, wrong: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It decodes wrongly, or not at all, while the bytes are right.

    Of the 640 wrong values some ten are looked at: none of them in one run of 20,000.
    """

    class Misreading(Watched):
        def reply_to(self, request: Any) -> Any:
            super().reply_to(request)
            return {"wrong": 1} if self.answered > 5 and wrong(self.answered) else dict(RIGHT)

    monkeypatch.setattr(Reading, "body", b"always these")
    monkeypatch.setattr(Reading, "answer", lambda reading, request: reading.watched.reply_to(request))
    trial = watching(Misreading())
    trial.run(5, constant=True, phase=WARM_UP)
    trial.recorder.settle()
    with suppress(GaveUp):
        trial.run(32_000, constant=True)
        trial.recorder.settle()
    assert trial.recorder.tally.errors["wrong-reply"] > 0


def test_each_row_of_a_call_has_a_reply_that_is_known(watching: Watching) -> None:
    rows = [Lasting(sequence=0, row=row) for row in range(4)]
    trial = watching(Watched(gives_bodies=True))
    trial.run(40, phase=WARM_UP, rows=rows)
    trial.recorder.settle()
    trial.run(400, rows=rows)
    trial.recorder.settle()
    tally = trial.recorder.tally
    assert (tally.verified, tally.verified_by_bytes > 350) == (400, True)
