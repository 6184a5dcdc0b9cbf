"""Senders that are late, and streams that are read slowly: whose fault it is, and which numbers it moves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from orchestrator.findings.summary import RunSummary, StreamSummary
from orchestrator.quantities import Unit
from orchestrator.summarise import summarise
from orchestrator.wording.checks.sentences import explanation
from orchestrator.wording.tables import streams as stream_words
from tests.support import judged
from tests.support.event_runs import EVENT, a_stream_plan, a_stream_run, places
from tests.support.runs import MS, Draft

CHECK = "event stream"


def falling_behind(draft: Draft) -> None:
    rows = draft.columns
    begin = rows["sent_ns"].max()
    mine = rows["sender_clock"] > 0
    for name in ("sender_ns", "received_ns"):
        rows[name][mine] += (rows["sender_ns"][mine] - begin).clip(0) // 5  # a sixth of the rate is lost


def late_once_in_a_while(draft: Draft) -> None:
    for parent in (3, 4):  # those that are due meanwhile are sent behind it
        at, mine = places(draft, *range(50, 500, 50), parent=parent), places(draft, *range(1, 501), parent=parent)
        for name in ("sender_ns", "received_ns"):
            draft.columns[name][at] += 15 * MS
            draft.columns[name][mine] = np.maximum.accumulate(draft.columns[name][mine])


@pytest.mark.parametrize(
    ("spoil", "verdict", "words"),
    [
        (late_once_in_a_while, "warn", "events left in bursts"),
        (falling_behind, "fail", "of its rate: it could not keep up, or its readers held it back."),
    ],
)
def test_lateness_that_moves_what_is_shown_is_found(spoil: Callable[[Draft], None], verdict: str, words: str) -> None:
    for result in judged.of(a_stream_run(spoil=spoil), CHECK):
        assert (result.verdict, words in explanation(result)) == (verdict, True), result


SLOWLY: Any = [{"read_rate": 200}]  # of 500 a second


def stream_of(summary: RunSummary) -> StreamSummary:
    stream = summary.cells[0].details.stream
    assert stream is not None
    return stream


def reading_slowly(draft: Draft) -> None:
    """At 200 a second of 500: its sender, which has room for 20 events, is held back."""
    rows = draft.columns
    for parent in (3, 4):
        mine = (rows["kind"] == EVENT) & (rows["parent"] == parent)
        number = rows["sequence"][mine]
        first = int(rows["received_ns"][mine][number == 1][0])
        read = first + (number - 1) * 5 * MS
        rows["received_ns"][mine] = np.maximum(rows["received_ns"][mine], read)
        rows["sender_ns"][mine] = np.maximum(rows["sender_ns"][mine], read - 100 * MS)
        rows["received_ns"][(rows["kind"] == 0) & (rows["sequence"] == parent)] = int(read.max()) + MS


def sending_more_slowly_still(draft: Draft) -> None:
    reading_slowly(draft)
    rows = draft.columns
    mine = (rows["sender_clock"] > 0) & (rows["phase"] == 1)
    for name in ("sender_ns", "received_ns"):
        rows[name][mine] += (rows["sequence"][mine] - 1) * 2 * MS


def test_what_a_slow_reader_leaves_waiting_is_told_and_its_senders_lateness_is_no_fault() -> None:
    run = a_stream_run(a_stream_plan(calls=SLOWLY), spoil=reading_slowly)
    result = judged.of(run, CHECK)[0]
    assert result.verdict == "pass", result
    stream = stream_of(summarise(run))
    assert stream.waiting is not None
    assert 20 <= stream.waiting <= 22  # 100 ms of 200 a second
    assert f"{stream.waiting}" == stream_words.of_events(stream, Unit(name="ms", per_ms=1.0, decimals=3))[12]
    unlimited = stream_of(summarise(a_stream_run()))
    assert unlimited.waiting is not None
    assert unlimited.waiting <= 2


def test_a_sender_slower_than_its_reader_fails() -> None:
    result = judged.of(a_stream_run(a_stream_plan(calls=SLOWLY), spoil=sending_more_slowly_still), CHECK)[0]
    assert (result.verdict, "of its rate: it could not keep up" in explanation(result)) == ("fail", True), result
