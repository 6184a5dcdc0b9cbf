"""Several in flight: of a reply that is known to be right, by its bytes, nothing but the stamps is kept."""

from __future__ import annotations

import weakref
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from services.python.load.phases import WARM_UP
from services.python.load.recorder import GaveUp
from services.python.operations.base import Lasting
from tests.support.watched import RIGHT, Reading, Trial, Watched, WatchedDialer, standing_clock


@pytest.fixture(params=["blocking", "awaiting"])
def style(request: pytest.FixtureRequest) -> str:
    return str(request.param)


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
    assert 85 <= trial.recorder.tally.rows <= 90, "ten have room, and those whose value is looked at"
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


@pytest.mark.slow
@pytest.mark.parametrize(
    "wrong", [lambda n: n % 50 == 0, lambda n: n > 500], ids=["every fiftieth", "from some moment on"]
)
def test_a_client_whose_values_are_not_those_of_its_bytes_is_found_out(
    tmp_path: Path, style: str, wrong: Any, monkeypatch: pytest.MonkeyPatch
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
    watched = Misreading()
    trial = Trial(tmp_path, style, watched.verify, WatchedDialer(watched, style), standing_clock())
    trial.run(5, constant=True, phase=WARM_UP)
    trial.recorder.settle()
    with suppress(GaveUp):
        trial.run(32_000, constant=True)
        trial.recorder.settle()
    assert trial.recorder.tally.errors["wrong-reply"] > 0
    trial.close()


def test_each_row_of_a_call_has_a_reply_that_is_known(tmp_path: Path, style: str) -> None:
    rows = [Lasting(sequence=0, row=row) for row in range(4)]
    watched = Watched(gives_bodies=True)
    trial = Trial(tmp_path, style, watched.verify, WatchedDialer(watched, style), standing_clock())
    trial.run(40, phase=WARM_UP, rows=rows)
    trial.recorder.settle()
    trial.run(400, rows=rows)
    trial.recorder.settle()
    tally = trial.recorder.tally
    assert (tally.verified, tally.verified_by_bytes > 350) == (400, True)
    trial.close()
