"""Several in flight: of a reply that is known to be right, by its bytes, nothing but the stamps is kept."""

from __future__ import annotations

import weakref
from pathlib import Path
from typing import Any

import pytest

from services.python.load.phases import WARM_UP
from services.python.load.recorder import GaveUp
from tests.support.watched import OK, RIGHT, Trial, Watched, WatchedDialer, standing_clock


@pytest.fixture(params=["blocking", "awaiting"])
def style(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_of_a_reply_of_known_bytes_the_stamps_alone_are_kept(tmp_path: Path, style: str) -> None:
    watched = Watched(gives_bodies=True)
    trial = Trial(tmp_path, style, watched.verify, WatchedDialer(watched, style), standing_clock())
    trial.run(5, constant=True, phase=WARM_UP)
    trial.recorder.settle()
    watched.looks.clear()
    trial.run(100, constant=True)
    trial.recorder.settle()
    assert watched.looks == []
    tally = trial.recorder.tally
    assert (tally.rows, tally.verified, tally.verified_in_flight, tally.body_bytes_received) == (100, 100, 0, 2000)
    assert {row.status for row in trial.rows()} == {OK}
    trial.close()


def test_a_reply_of_other_bytes_to_the_same_request_is_looked_at_while_measuring(tmp_path: Path, style: str) -> None:
    """So that wrong replies among right ones are found out before the phase is over."""
    watched = Watched(wrong=frozenset({5 + 20, 5 + 40}), gives_bodies=True)
    trial = Trial(tmp_path, style, watched.verify, WatchedDialer(watched, style), standing_clock())
    trial.run(5, constant=True, phase=WARM_UP)
    trial.recorder.settle()
    watched.looks.clear()
    trial.run(100, constant=True)
    assert sum(what == "verify" for what, _ in watched.looks) >= 2
    trial.recorder.settle()
    tally = trial.recorder.tally
    assert (tally.rows, tally.verified, tally.errors) == (100, 98, {"wrong-reply": 2})
    trial.close()


def test_a_responder_that_is_mostly_wrong_ends_the_trial_in_time(tmp_path: Path, style: str) -> None:
    watched = Watched(wrong=frozenset(range(20, 100_000)) - frozenset(range(20, 100_000, 100)), gives_bodies=True)
    trial = Trial(tmp_path, style, watched.verify, WatchedDialer(watched, style), standing_clock())
    trial.run(5, constant=True, phase=WARM_UP)
    with pytest.raises(GaveUp, match="requests in a row failed"):
        trial.run(50_000, constant=True)
    assert watched.answered < 1_000
    trial.close()


def test_stamps_of_known_replies_take_no_more_memory_than_allowed(tmp_path: Path) -> None:
    watched = Watched(gives_bodies=True)
    trial = Trial(
        tmp_path, "awaiting", watched.verify, WatchedDialer(watched, "awaiting"), standing_clock(), most_kept_bytes=3000
    )
    trial.run(5, constant=True, phase=WARM_UP)
    trial.recorder.settle()
    trial.run(100, constant=True)
    assert trial.recorder.tally.rows == 90
    trial.recorder.settle()
    assert trial.recorder.tally.verified == 100
    trial.close()


@pytest.mark.parametrize("policy", ["reuse", "per-request"])
def test_a_reply_is_freed_before_the_next_request_is_timed(tmp_path: Path, style: str, policy: Any) -> None:
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

    watched = Answering()
    dialer = WatchedDialer(watched, style)
    trial = Trial(tmp_path, style, watched.verify, dialer, standing_clock(), in_flight=1)
    trial.run(10, policy)
    trial.recorder.settle()
    assert alive == [0] * 10
    trial.close()
