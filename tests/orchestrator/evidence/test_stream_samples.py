"""Streams in the analysis: exact counts, what is timed on one host and over a distance, and the check that judges them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from orchestrator.findings.summary import CellSummary, RunSummary, StreamSummary
from orchestrator.report.render import render
from orchestrator.results.manifest import Heard
from orchestrator.summarise import summarise
from orchestrator.wording.checks.sentences import explanation
from orchestrator.wording.tables.streams import TIMED_OF_EVENTS
from tests.support import judged
from tests.support.event_runs import FAR, a_stream_plan, a_stream_run, enter, places, without
from tests.support.runs import MS, Draft, a_run

CHECK = "event stream"


def cell_of(summary: RunSummary, protocol: str = "websocket") -> CellSummary:
    return next(cell for cell in summary.cells if cell.protocol == protocol)


def stream_of(summary: RunSummary, protocol: str = "websocket") -> StreamSummary:
    stream = cell_of(summary, protocol).details.stream
    assert stream is not None
    return stream


def in_websocket(spoil: Callable[[Draft], None]) -> Callable[[Draft], None]:
    return lambda draft: spoil(draft) if "websocket" in draft.cell.stack else None


def dropping(draft: Draft) -> None:
    keep = np.ones(draft.columns["sequence"].size, dtype=bool)
    keep[places(draft, 7, 8, parent=3)] = False
    without(draft, keep)


def repeating(draft: Draft) -> None:
    again = places(draft, 9, parent=3)
    draft.columns = {name: np.concatenate([values, values[again]]) for name, values in draft.columns.items()}
    draft.columns["received_ns"][-1] += 10


def reordering(draft: Draft) -> None:
    late, next_one = places(draft, 5, parent=4)[0], places(draft, 6, parent=4)[0]
    draft.columns["received_ns"][late] = draft.columns["received_ns"][next_one] + 10


def spoiling_content(draft: Draft) -> None:
    draft.columns["status"][places(draft, 11, parent=3)] = 1


def test_a_clean_stream_is_timed_from_the_senders_stamp_and_compared_by_it() -> None:
    summary = summarise(a_stream_run())
    stream = stream_of(summary)
    counts = {
        name: getattr(stream, name) for name in ("offered", "sent", "delivered", "dropped", "duplicated", "reordered")
    }
    assert counts == {"offered": 5000, "sent": 5000, "delivered": 5000, "dropped": 0, "duplicated": 0, "reordered": 0}
    assert (stream.timed, stream.interval) == ("delivery", 2.0)
    cell = cell_of(summary)
    assert cell.distribution is not None
    assert (cell.distribution.n, cell.counts.errors, cell.counts.requests) == (5000, {}, 5000)
    assert cell.distribution.median == stream.delivery_median == pytest.approx(0.2, rel=0.1)
    assert stream.gap_median == pytest.approx(2.0, rel=0.05)
    standings = {c.statistic: c.standing for c in summary.comparisons}
    assert standings == {"median": "faster", "p99": "faster"}  # the schedule sets how many there are: no throughput
    assert cell.labels.load == "1 s, 2 clients"


@pytest.mark.parametrize(
    ("spoil", "changed"),
    [
        (dropping, {"delivered": 4990, "dropped": 10}),
        (repeating, {"duplicated": 5}),
        (reordering, {"reordered": 5}),
        (spoiling_content, {"delivered": 4995, "dropped": 5, "wrong": 5}),
    ],
)
def test_events_are_counted_exactly_and_the_check_says_what_became_of_them(
    spoil: Callable[[Draft], None], changed: dict[str, int]
) -> None:
    summary = summarise(a_stream_run(spoil=in_websocket(spoil)))
    stream, clean = stream_of(summary), stream_of(summary, "sse")
    expected: dict[str, Any] = {
        "offered": 5000,
        "delivered": 5000,
        "dropped": 0,
        "duplicated": 0,
        "reordered": 0,
        "wrong": 0,
    }
    assert {name: getattr(clean, name) for name in expected} == expected
    assert {name: getattr(stream, name) for name in expected} == expected | changed
    verdicts = {r.cell: r.verdict for r in summary.checks if r.name == CHECK}
    assert verdicts[cell_of(summary, "sse").id] == "pass"
    assert verdicts[cell_of(summary).id] == ("fail" if "wrong" in changed else "warn")
    assert cell_of(summary).counts.errors == ({"dropped": changed["dropped"]} if "dropped" in changed else {})


def test_an_event_that_never_came_is_slower_than_all_others() -> None:
    def spoil(draft: Draft) -> None:
        keep = np.ones(draft.columns["sequence"].size, dtype=bool)
        keep[places(draft, *range(100, 130))] = False  # 30 of 500 of each client
        without(draft, keep)

    summary = summarise(a_stream_run(spoil=in_websocket(spoil)))
    stream, cell = stream_of(summary), cell_of(summary)
    assert cell.distribution is not None
    assert (cell.distribution.p99, cell.distribution.failed) == (None, 300)
    assert "p99" in cell.distribution.censored
    assert {"delivery_p99", "gap_p99"} <= set(stream.censored)
    result = judged.of(a_stream_run(spoil=in_websocket(spoil)), CHECK)[0]
    assert (result.verdict, "p99" in result.evidence["moved"]) == ("fail", True)
    assert [c.standing for c in summary.comparisons if c.statistic == "p99"] == ["cannot tell"]


def by_another_clock(draft: Draft) -> None:
    draft.columns["sender_ns"] += 10 * MS * (draft.columns["sender_clock"] > 0)


def said_otherwise(**counts: int) -> Callable[[Draft], None]:
    def spoil(draft: Draft) -> None:
        enter(draft)
        draft.done["events"] |= counts

    return spoil


def of_nobody(draft: Draft) -> None:
    draft.columns["sequence"][places(draft, 500, parent=3)] = 501


def too_fast(draft: Draft) -> None:
    mine = draft.columns["sender_clock"] > 0
    due_ns = (draft.columns["sequence"] - 1) * 2 * MS
    for name in ("sender_ns", "received_ns"):  # at twice the rate
        draft.columns[name][mine] -= due_ns[mine] // 2


def of_an_earlier_subscription(draft: Draft) -> None:
    draft.columns["sender_ns"][places(draft, 1, parent=3)] -= 50 * MS


def later(draft: Draft, by: int, *parents: int) -> None:
    mine = np.isin(draft.columns["parent"], parents)
    over = (draft.columns["kind"] == 0) & np.isin(draft.columns["sequence"], parents)
    draft.columns["sender_ns"][mine] += by
    draft.columns["received_ns"][mine | over] += by


def one_waits_for_the_other(draft: Draft) -> None:
    later(draft, 1000 * MS, 4)


def begun_a_little_late(draft: Draft) -> None:
    later(draft, 300 * MS, 3, 4)


def sent_to_others(draft: Draft) -> None:
    enter(draft)
    draft.stats["events"]["sent"] += 500


def never_ending(draft: Draft) -> None:
    draft.columns["status"][(draft.columns["kind"] == 0) & (draft.columns["sequence"] == 4)] = 4


def said_to_have_ended(draft: Draft) -> None:
    never_ending(draft)
    enter(draft)
    draft.done["errors"] = {}


def nothing_for_one(draft: Draft) -> None:
    keep = np.ones(draft.columns["sequence"].size, dtype=bool)
    keep[places(draft, *range(1, 501), parent=4)] = False
    without(draft, keep)


def stamped_after_sending(draft: Draft) -> None:
    mine = draft.columns["sender_clock"] > 0
    draft.columns["sender_ns"][mine] = draft.columns["received_ns"][mine] - 1_000


@pytest.mark.parametrize(
    ("spoil", "verdict", "words"),
    [
        (too_fast, "fail", "sent before being due"),
        (of_an_earlier_subscription, "fail", "1 event was sent before being due"),
        (one_waits_for_the_other, "fail", "not all clients were sent events at once"),
        (begun_a_little_late, "warn", "not all clients were sent events at once"),
        (sent_to_others, "fail", "the sender says that it sent 1,500"),
        (never_ending, "warn", "1 stream did not end as a stream does: 1 with timeout"),
        (said_to_have_ended, "fail", "said that 0 subscriptions failed, by the record 1 did"),
        (nothing_for_one, "fail", "never came"),
        (stamped_after_sending, "fail", "stamped later than they were sent"),
        (by_another_clock, "fail", "received before being sent"),
        (said_otherwise(duplicated=1), "fail", "said 1 duplicated"),
        (of_nobody, "fail", "of no subscription"),
    ],
)
def test_the_check_finds_what_is_wrong_with_a_stream(spoil: Callable[[Draft], None], verdict: str, words: str) -> None:
    result = judged.of(a_stream_run(spoil=in_websocket(spoil)), CHECK)[0]
    assert (result.verdict, words in explanation(result)) == (verdict, True), result


def test_stamps_of_another_clock_than_the_requesters_are_found_in_a_stream_too() -> None:
    def elsewhere(draft: Draft) -> None:
        enter(draft)
        for name in ("sent_ns", "intended_ns", "received_ns", "sender_ns"):
            draft.columns[name] += 10**15 * (draft.columns["received_ns"] > 0)

    result = judged.of(a_stream_run(spoil=in_websocket(elsewhere)), "clocks")[0]
    assert (result.verdict, "another clock" in explanation(result)) == ("fail", True), result


def test_the_clients_of_several_requesters_are_sent_events_at_the_same_time() -> None:
    def second_begins_later(draft: Draft) -> None:
        if draft.requester == 1:
            for name in ("sent_ns", "intended_ns", "received_ns", "sender_ns"):
                draft.columns[name] += 900 * MS
            draft.heard = Heard(**{name: at + 900 * MS for name, at in vars(draft.heard).items()})

    plan = a_stream_plan(placements=[FAR], provider="gcp", requesters=2)
    result = judged.of(a_stream_run(plan, spoil=in_websocket(second_begins_later)), "requesters together")[0]
    assert (result.verdict, "not all sent events at the same time" in explanation(result)) == ("fail", True), result


def test_a_trial_whose_events_have_no_known_clock_is_judged_as_one_without_events() -> None:
    run = a_stream_run(blocks=3)
    path = next(path for path in run.files if "/00002" in path)
    run.files[path]["sender_clock"][:] = 7
    summary = summarise(run)
    assert summary.run.state == "complete"
    assert {check.verdict for check in summary.checks if check.name == "event stream"} >= {"fail"}


def test_the_check_of_streams_applies_to_streams_alone() -> None:
    assert judged.verdicts(a_stream_run())[CHECK] == "pass"
    assert judged.verdicts(a_run())[CHECK] == "not applicable"


def test_over_a_distance_gaps_are_compared_whatever_the_clocks_say() -> None:
    plan = a_stream_plan(placements=[FAR], provider="gcp")

    def shifted(draft: Draft) -> None:  # another host's clock: nothing may depend on it
        draft.columns["sender_ns"] += 10**15 * (draft.columns["sender_clock"] > 0)

    plain, other = (summarise(a_stream_run(plan, spoil=spoil)) for spoil in (None, shifted))
    stream, cell = stream_of(plain), cell_of(plain)
    assert (stream.timed, stream.waiting, stream.delivery_median) == ("gap", None, None)
    assert stream.gap_median == pytest.approx(2.0, rel=0.05)
    assert cell.distribution is not None
    assert cell.distribution.median == pytest.approx(stream.gap_median, rel=0.01)
    assert cell.distribution.n == 5 * 2 * 499  # a gap lies between two events
    assert [(c.details.stream, c.distribution) for c in other.cells] == [
        (c.details.stream, c.distribution) for c in plain.cells
    ]
    assert TIMED_OF_EVENTS["gap"] in render(plain)


def test_stamps_that_no_offset_between_two_clocks_explains_fail_the_cell() -> None:
    def stamped_much_too_late(draft: Draft) -> None:  # of some events, by more than any way back takes
        for first in (100, 300):
            draft.columns["sender_ns"][places(draft, *range(first, first + 20))] += 100 * MS

    run = a_stream_run(a_stream_plan(placements=[FAR], provider="gcp"), spoil=stamped_much_too_late)
    result = next(each for each in judged.of(run, CHECK) if each.verdict == "fail")
    assert "no offset between the clocks" in explanation(result), result
