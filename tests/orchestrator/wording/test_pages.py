"""One query against three calls: where they cross over distances, what checks hold calls at once to, and what is said."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from orchestrator.cli.answer import answer_lines
from orchestrator.experiment.plan import plan as p
from orchestrator.experiment.plan.schedule import schedule
from orchestrator.findings.summary import RunSummary
from orchestrator.questions.axes.find import QUESTION as AXES
from orchestrator.summarise import summarise
from orchestrator.wording.tables import more_tables
from tests.support.judged import verdicts
from tests.support.made_up import HERE, WEST
from tests.support.runs import MS, a_plan, a_run

FEED = p.Operation(
    id="feed", name="feed", label="feed", request_bytes=24, reply_bytes=6_000, made_of=("user", "posts", "comments")
)
AWAY = tuple(
    p.Placement(
        id=f"d{rtt:g}",
        name=f"distance-{rtt:g}ms",
        kind="cross-region",
        from_zone=f"lab-{rtt:g}-a",
        to_zone="us-central1-a",
        link=p.Link(rtt_ms=rtt, rate_mbit=1000.0),
    )
    for rtt in (1.0, 5.0, 20.0, 50.0)
)


def in_pieces(fetch: str, **planned: Any) -> p.Plan:
    return a_plan(operation=FEED, calls=({"connection": "reuse", "fetch": fetch},), **planned)


def one_or_three(*ways: str, own_ms: float) -> RunSummary:
    """GraphQL in one call of so many milliseconds against REST in calls of 0.3 ms, over four distances."""
    one = a_plan(stacks=("graphql",), operation=FEED, placements=AWAY)
    calls = [{"connection": "reuse", "fetch": fetch} for fetch in ways]
    three = a_plan(stacks=("rest",), operation=FEED, placements=AWAY, calls=calls)
    cells = (*one.cells, *three.cells)
    plan = replace(one, stacks=(*one.stacks, *three.stacks), cells=cells, trials=tuple(schedule(cells, one.repeats, 1)))
    return summarise(a_run(plan, base_us={"graphql": own_ms * 1000, "rest": 300.0}))


def test_one_query_wins_from_where_two_more_round_trips_cost_what_it_does() -> None:
    run = one_or_three("in-a-row", own_ms=9.0)
    (gap,) = [gap for curves in AXES.of(run) for panel in curves.panels for gap in panel.gaps]
    assert gap.crossing is not None
    # 9 ms and one round trip, against three times 0.3 ms and three round trips: even at 4.05 ms.
    assert gap.crossing.at == pytest.approx(4.05, rel=0.1)
    assert gap.crossing.low < gap.crossing.at < gap.crossing.high < gap.crossing.low + 1.0


def test_calls_at_once_take_one_round_trip_and_are_never_beaten_by_it() -> None:
    run = one_or_three("at-once", own_ms=9.0)
    (gap,) = [gap for curves in AXES.of(run) for panel in curves.panels for gap in panel.gaps]
    assert gap.crossing is None
    assert {point.standing for point in gap.points} == {"faster"}


def test_each_way_of_a_stack_is_held_against_the_one_query() -> None:
    run = one_or_three("whole", "in-a-row", "at-once", own_ms=9.0)
    (distance,) = AXES.of(run)
    crossed = {panel.title: gap.crossing is not None for panel in distance.panels for gap in panel.gaps}
    assert crossed == {
        "connections kept open": False,
        "connections kept open, a call for each part, in a row": True,
        "connections kept open, a call for each part, all at once": False,
    }


@pytest.mark.parametrize("fetch", ["in-a-row", "at-once"])
def test_clean_tasks_of_different_calls_fail_nothing_and_warn_of_nothing(fetch: str) -> None:
    by_check = verdicts(a_run(in_pieces(fetch, placements=[HERE, WEST])))
    assert set(by_check.values()) <= {"pass", "not applicable"}, by_check


def test_calls_at_once_that_are_quicker_than_a_round_trip_are_impossible() -> None:
    def early(draft: Any) -> None:
        if draft.cell.placement == "west":
            draft.columns["received_ns"] = draft.columns["received_ns"] - 20 * MS

    assert verdicts(a_run(in_pieces("at-once", placements=[HERE, WEST]), spoil=early))["floor"] == "fail"


@pytest.mark.parametrize(("more", "verdict"), [(0, "pass"), (30, "fail"), (-2, "fail")])
def test_calls_at_once_have_a_connection_each(more: int, verdict: str) -> None:
    def other_peers(draft: Any) -> None:
        draft.stats["peers"] += more

    assert verdicts(a_run(in_pieces("at-once"), spoil=other_peers))["connections"] == verdict


@pytest.mark.parametrize(("fetch", "how"), [("in-a-row", "one after the other"), ("at-once", "all at once")])
def test_parts_are_called_what_they_ask_and_how(fetch: str, how: str) -> None:
    run = summarise(a_run(in_pieces(fetch)))
    for cell in run.cells:
        assert [part.name for part in cell.details.parts] == ["user", "posts", "comments"]
        assert cell.labels.load.endswith(f"each of 3 calls, {how}")
    assert any(
        table.title.startswith("medians of the parts") and how in table.title for table in more_tables.tables(run)
    )
    assert "user" in "\n".join(answer_lines(run, width=10_000))


def test_what_is_fetched_for_nothing_is_a_column_of_readers_of_few_fields() -> None:
    def unneeded(draft: Any) -> None:
        draft.done["over_fetched_bytes"] = 0.0 if "grpc" in draft.cell.stack else 4_321.5

    def heads(run: RunSummary) -> set[str]:
        return {column.head for table in more_tables.tables(run) for column in table.columns}

    run = summarise(a_run(spoil=unneeded))
    assert {cell.details.over_fetched_bytes for cell in run.cells} == {0.0, 4_321.5}
    assert "of the reply unneeded" in heads(run)
    assert "of the reply unneeded" not in heads(summarise(a_run()))
