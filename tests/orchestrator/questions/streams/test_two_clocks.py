"""Streams between two hosts: no offset between clocks is known, and what can be said all the same has a bound."""

from __future__ import annotations

import numpy as np
import pytest

from orchestrator.cli.answer import answer_lines
from orchestrator.quantities import MILLISECONDS
from orchestrator.questions.streams import words as stream_words
from orchestrator.questions.streams.observe import DRIFT, offset
from orchestrator.questions.streams.words import TIMED_OF_EVENTS
from orchestrator.report.render import render
from orchestrator.summarise import summarise
from tests.orchestrator.questions.streams.test_observe import cell_of, stream_of
from tests.support import judged
from tests.support.event_runs import FAR, a_stream_plan, a_stream_run, places
from tests.support.runs import MS, Draft

CHECK = "event stream"


def test_over_a_distance_gaps_are_compared_and_deliveries_have_a_bound_whatever_the_clocks_say() -> None:
    plan = a_stream_plan(placements=[FAR], provider="gcp")

    def shifted(draft: Draft) -> None:  # another host's clock: nothing may depend on it
        draft.columns["sender_ns"] += 10**15 * (draft.columns["sender_clock"] > 0)

    took: list[np.ndarray] = []

    def seen(draft: Draft) -> None:  # here both stamps are of one clock
        if "websocket" in draft.cell.stack:
            mine = (draft.columns["sender_clock"] > 0) & (draft.columns["phase"] == 1)
            took.append((draft.columns["received_ns"] - draft.columns["sender_ns"])[mine])

    plain, other = (summarise(a_stream_run(plan, spoil=spoil)) for spoil in (seen, shifted))
    of = stream_of(plain)
    assert (of.timed, of.waiting) == ("gap", None)
    assert of.delivery_bound is not None
    for shown, share in ((of.delivery_median, 0.5), (of.delivery_p99, 0.99)):
        assert shown is not None
        assert abs(shown - np.quantile(np.concatenate(took), share) / MS) <= of.delivery_bound
    assert 0.0 < of.delivery_bound < 20.0  # ms, of half a round trip and a second of drift
    assert f"±{MILLISECONDS.text(of.delivery_bound)}" in stream_words.of_events(of, MILLISECONDS)[8]
    assert of.gap_median == pytest.approx(2.0, rel=0.05)
    cell = cell_of(plain)
    assert cell.distribution is not None
    assert cell.distribution.median == pytest.approx(of.gap_median, rel=0.01)
    assert cell.distribution.n == 5 * 2 * 499  # a gap lies between two events
    assert [c.details.stream for c in other.cells] == [c.details.stream for c in plain.cells]
    assert [c.distribution for c in other.cells] == [c.distribution for c in plain.cells]
    assert TIMED_OF_EVENTS["gap"] in " ".join(answer_lines(plain, width=100_000))
    assert TIMED_OF_EVENTS["gap"] in render(plain)


def test_stamps_that_no_offset_between_two_clocks_explains_fail_the_cell() -> None:
    def stamped_much_too_late(draft: Draft) -> None:  # of some events, by more than any way back takes
        draft.columns["sender_ns"][places(draft, *range(100, 120))] += 100 * MS
        draft.columns["sender_ns"][places(draft, *range(300, 320))] += 100 * MS

    plan = a_stream_plan(placements=[FAR], provider="gcp")
    run = a_stream_run(plan, spoil=stamped_much_too_late)
    result = next(found for found in judged.of(run, CHECK) if found.verdict == "fail")
    assert "no offset between the clocks" in result.explanation, result
    of = stream_of(summarise(run))
    assert (of.delivery_median, of.delivery_bound) == (None, None)


@pytest.mark.parametrize("drift", [0, 4_900, -4_900])
def test_a_bound_holds_for_clocks_that_drift_and_stamps_both_ways(drift: int) -> None:
    asked = np.array([0, 1_000, 2_000], dtype=np.int64)
    taken = asked + 5 * MS
    sent = np.arange(0, 10_000, 10, dtype=np.int64) * MS + 5 * MS
    received = sent + 12 * MS
    apart = 7 * 10**12
    of_sender = [times + apart + times * drift // (DRIFT * 5_000) for times in (taken, sent)]
    found = offset(asked, of_sender[0], of_sender[1], received)
    assert found is not None
    off = received - of_sender[1] + found.middle_ns - 12 * MS  # how far each delivery is from the true one
    assert int(np.abs(off).max()) <= found.bound_ns
    assert found.bound_ns <= (5 + 12) * MS // 2 + 2 * 10_012 * MS // DRIFT + MS
    assert offset(asked, of_sender[0] - 20 * MS, of_sender[1], received) is None
