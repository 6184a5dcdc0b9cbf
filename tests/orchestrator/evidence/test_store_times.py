"""Where the handling time of requests to a store went: from the responder's sums to the table."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from orchestrator.evidence import store_times
from orchestrator.findings.summary import Details, RunSummary, StoreTimes
from orchestrator.summarise import summarise
from orchestrator.wording.tables import stores as store_words
from services.python.contract import responder_lines as lines
from tests.support.event_runs import a_stream_run
from tests.support.findings import having
from tests.support.summaries import a_run

BY_DATABASE = StoreTimes(handling=10.0, queue=0.5, pool=1.5, database=7.0, service=1.0)
SLOW = {"rest": 20_000.0, "grpc": 20_000.0}  # microseconds: nobody handles a request for longer than it takes


NONE = {"handling_s": 0.0, "queue_s": 0.0, "pool_s": 0.0, "database_s": 0.0, "service_s": 0.0}


def sums(requests: int, handling_s: float = 0.0, **parts: float) -> SimpleNamespace:
    every = {"queue_s": 0.0, "pool_s": 0.0, "database_s": 0.0, "service_s": 0.0, **parts}
    return SimpleNamespace(store=lines.StoreTimes(requests=requests, handling_s=handling_s, **every))


def record(warm: Any, after: Any) -> Any:
    return SimpleNamespace(stats_warm=warm, stats=after)


def test_a_trials_times_are_means_of_what_was_measured_without_the_warm_up() -> None:
    trial = record(
        sums(100, 9.0, database_s=9.0), sums(300, 11.0, database_s=10.0, pool_s=0.6, queue_s=0.2, service_s=0.2)
    )
    times = store_times.of_trial(trial)
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
    of_three = replace(once, cells=tuple(having(cell, calls=3) for cell in once.cells))
    assert [row_of(run)[4] for run in (once, of_three, stored(BY_DATABASE))] == ["12", "36", "-"]


def row_of(run: RunSummary) -> list[str]:
    [table] = store_words.tables(run)
    return [table.rows[0].label, *(entry.text for entry in table.rows[0].entries)]


def stored(*times: StoreTimes, store: str = "postgresql", pool: int | str = 4) -> RunSummary:
    run = a_run(stacks=len(times))
    cells = [
        replace(having(cell, store=store, pool=pool), details=Details(store_times=each))
        for cell, each in zip(run.cells, times, strict=True)
    ]
    return replace(run, cells=tuple(cells))


def test_of_a_stream_the_interval_between_two_events_is_what_handling_is_held_against() -> None:
    """Of 500 events a second, two milliseconds apart, of rows in PostgreSQL."""
    run = summarise(a_stream_run())
    stream = having(run.cells[0], store="postgresql", pool=4)
    times = StoreTimes(handling=0.6, queue=0.06, pool=0.0, database=0.48, service=0.06, queries=0.01)
    cell = replace(stream, details=replace(stream.details, store_times=times))
    row = row_of(replace(run, cells=(cell,)))
    assert (row[4], row[5]) == ("0.01", "600 µs (30 %)")
