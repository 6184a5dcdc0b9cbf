"""Where the handling time of requests to a store went: from the responder's sums to table, sentence, page and terminal."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest

from orchestrator.findings.summary import CellSummary, Details, RunSummary
from orchestrator.questions.stores import times as store_times
from orchestrator.questions.stores import words as store_words
from orchestrator.questions.stores.times import StoreTimes
from orchestrator.summarise import summarise
from services.python.contract import responder_lines as lines
from tests.support import judged
from tests.support.event_runs import a_stream_run
from tests.support.runs import a_plan
from tests.support.runs import a_run as run_made_up
from tests.support.summaries import a_run

BY_DATABASE = StoreTimes(handling=10.0, queue=0.5, pool=1.5, database=7.0, service=1.0)
BY_POOL = StoreTimes(handling=10.0, queue=0.5, pool=8.0, database=1.0, service=0.5)
BY_NONE = StoreTimes(handling=10.0, queue=3.0, pool=3.0, database=3.0, service=1.0)
SLOW = {"rest": 20_000.0, "grpc": 20_000.0}  # microseconds: nobody handles a request for longer than it takes


NONE = {"handling_s": 0.0, "queue_s": 0.0, "pool_s": 0.0, "database_s": 0.0, "service_s": 0.0}


def sums(requests: int, handling_s: float = 0.0, **parts: float) -> SimpleNamespace:
    every = {"queue_s": 0.0, "pool_s": 0.0, "database_s": 0.0, "service_s": 0.0, **parts}
    return SimpleNamespace(store=lines.StoreTimes(requests=requests, handling_s=handling_s, **every))


def record(warm: Any, after: Any) -> Any:
    return SimpleNamespace(stats_warm=warm, stats=after)


def test_a_trials_times_are_means_of_what_was_measured_without_the_warm_up() -> None:
    made = record(
        sums(100, 9.0, database_s=9.0), sums(300, 11.0, database_s=10.0, pool_s=0.6, queue_s=0.2, service_s=0.2)
    )
    times = store_times.of_trial(made)
    assert times is not None
    assert [round(each, 9) for each in (times.handling, times.pool, times.database)] == [10.0, 3.0, 5.0]
    assert times.most == "database"


def test_queries_are_those_of_a_request_and_in_the_table_of_all_calls_of_a_task() -> None:
    times = store_times.of_trial(record(sums(100, 1.0, queries=300), sums(300, 2.0, queries=2_700)))
    assert times is not None
    assert times.queries == 12.0
    of_cell = store_times.of_cell([record(sums(0), sums(10, 1.0, queries=n)) for n in (20, 30, 70)])
    assert of_cell is not None
    assert of_cell.queries == 3.0
    once = stored(times, store="sqlite")
    of_three = replace(once, cells=tuple(cell.having(calls=3) for cell in once.cells))
    assert [row.queries for run in (once, of_three) for row in store_words.rows(run.cells)] == [12.0, 36.0]
    assert store_words.rows(once.cells)[0].texts[4] == "12"
    assert store_words.rows(stored(BY_DATABASE).cells)[0].texts[4] == "-"


def stored(*times: StoreTimes, store: str = "postgresql", pool: int | str = 4) -> RunSummary:
    run = a_run(stacks=len(times))
    cells = [
        replace(cell.having(store=store, pool=pool), details=Details(store_times=each))
        for cell, each in zip(run.cells, times, strict=True)
    ]
    return replace(run, cells=tuple(cells))


def test_each_part_that_takes_half_is_named_as_the_bottleneck() -> None:
    run = stored(BY_DATABASE, BY_POOL, BY_NONE)
    said = store_words.sentence(run.cells)
    first, second, third = run.cells
    assert f"The database is the bottleneck of {first.stack_label}" in said
    assert "70 % of the handling time" in said
    assert f"The pool of connections is the bottleneck of {second.stack_label}" in said
    assert "PostgreSQL by psycopg with a pool of 4 connections (80 %" in said
    assert third.stack_label not in said
    assert [row.bottleneck for row in store_words.rows(run.cells)] == ["database", "pool", None]


@pytest.mark.parametrize(
    ("store", "lacking", "verdict"),
    [("sqlite", 0, "pass"), ("sqlite", 1, "fail"), ("postgresql", 1, "fail"), ("none", 100, "pass")],
)
def test_a_request_that_no_database_was_asked_for_fails_where_there_is_one(
    store: str, lacking: int, verdict: str
) -> None:
    """The check's request, in the warm-up's count, is no part of it."""

    def told(draft: Any) -> None:
        draft.stats_warm["store"] = {"requests": 2, "storeless": 1, **NONE}
        times = {"handling_s": 1.0, "database_s": 1.0}
        draft.stats["store"] = {**NONE, "requests": 102, "storeless": 1 + lacking, **times}

    plan = a_plan(calls=[{"connection": "reuse", "store": store}])
    found = judged.of(run_made_up(plan, spoil=told, base_us=SLOW), "completeness")[0]
    assert found.verdict == verdict
    assert ("asked the database nothing for 1 request of 100" in found.explanation) is (verdict == "fail")


@cache
def a_stream() -> CellSummary:
    """500 events/s, two milliseconds apart, of rows in PostgreSQL."""
    return summarise(a_stream_run()).cells[0].having(store="postgresql", pool=4)


def streamed(times: StoreTimes) -> CellSummary:
    stream = a_stream()
    return replace(stream, details=replace(stream.details, store_times=times))


@pytest.mark.parametrize(
    ("handling", "of_interval", "bottleneck"), [(0.4, 0.2, None), (0.6, 0.3, "database"), (5.0, 2.5, "database")]
)
def test_of_a_stream_the_interval_between_two_events_is_what_handling_is_held_against(
    handling: float, of_interval: float, bottleneck: str | None
) -> None:
    parts = {"queue": 0.1 * handling, "pool": 0.0, "database": 0.8 * handling, "service": 0.1 * handling}
    cell = streamed(StoreTimes(handling=handling, **parts, queries=0.01))
    [row] = store_words.rows([cell])
    assert row.of_latency == pytest.approx(of_interval)
    assert (row.bottleneck, row.texts[4]) == (bottleneck, "0.01")
    said = f"The database is the bottleneck of {cell.stack_label}, {cell.operation}"
    assert store_words.sentence([cell]).startswith(said if bottleneck else "")
    assert bool(store_words.sentence([cell])) is (bottleneck is not None)
