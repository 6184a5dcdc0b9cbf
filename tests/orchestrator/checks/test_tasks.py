"""A task is a sample, its calls are its parts: statistics, comparison by `calls`, report, terminal and JSON."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.cli.answer import answer_lines
from orchestrator.evidence.run_evidence import COLUMNS, Samples, parts_of
from orchestrator.experiment.plan.loads import describe_load
from orchestrator.experiment.plan.plan import Contrast, Load
from orchestrator.experiment.plan.schedule import schedule
from orchestrator.findings.summary import RunSummary
from orchestrator.quantities import of_load
from orchestrator.report.render import render
from orchestrator.results.folder import RunFolder
from orchestrator.summarise import summarise, summary_of_json
from orchestrator.wording import more_tables
from services.python.contract.lines import STATUSES
from tests.support.runs import a_plan, a_run, write_run

CALLS = 3
EACH = "each of 3 calls, one after the other"


def one_or_three(**given) -> RunSummary:
    one, three = (
        a_plan(task=task, contrasts=[Contrast(factor="calls", references=(1,))], **given) for task in (1, CALLS)
    )
    cells = (*one.cells, *three.cells)
    trials = tuple(schedule(cells, one.repeats, 1))
    return summarise(a_run(replace(one, operations=(*one.operations, *three.operations), cells=cells, trials=trials)))


def test_samples_are_tasks_alone():
    run = a_run(task=CALLS)
    path = next(path for path in run.files if path.startswith("samples/"))
    columns = run.samples(path, COLUMNS)
    samples = Samples(columns)
    assert (samples.recorded, samples.rows, samples.measured) == (1050 * 4, 1050, 1000)
    assert samples.sequences.tolist() == list(range(1, 1051))
    took = parts_of(columns)
    assert [(place, of.size) for place, of in took.items()] == [(1, 1000), (2, 1000), (3, 1000)]
    assert (sum(took.values()) <= samples.call_ns).all(), "one task at a time: both are in the order of sending"


def test_parts_that_failed_or_were_warm_up_are_in_no_median():
    def failing(draft):
        draft.columns["status"][-100:] = STATUSES.index("timeout")

    (cell, _) = summarise(a_run(task=CALLS, spoil=failing)).cells
    assert [(part.name, part.n) for part in cell.parts] == [("call 1", 5000), ("call 2", 5000), ("call 3", 4500)]


def test_a_cell_of_calls_has_no_parts():
    assert {(cell.kind, cell.parts) for cell in summarise(a_run()).cells} == {("call", ())}


def test_three_calls_are_compared_with_one():
    run = one_or_three(stacks=("grpc",))
    (found,) = [c for c in run.comparisons if c.statistic == "median"]
    assert (found.factor, found.standing, found.value, found.reference_value) == (
        "calls",
        "slower",
        "in 3 calls",
        "in 1 call",
    )
    low, high = found.interval
    assert low < CALLS * 1.05
    assert high > CALLS * 0.95


def test_a_run_of_tasks_is_stored_and_read_like_any_other(tmp_path):
    run = a_run(task=CALLS, blocks=3)
    folder = RunFolder.open(str(write_run(run, tmp_path / "results" / "20231114-synthetic")), root=tmp_path / "results")
    stored, made = summarise(folder), summarise(run)
    assert [cell.parts for cell in stored.cells] == [cell.parts for cell in made.cells]
    assert [cell.distribution for cell in stored.cells] == [cell.distribution for cell in made.cells]


def test_the_summary_with_its_parts_is_what_it_was_after_its_way_through_json():
    run = summarise(a_run(task=CALLS))
    assert summary_of_json(run.to_json()) == run


def test_the_report_says_what_a_task_is_and_shows_its_parts():
    page = " ".join(render(summarise(a_run(task=CALLS))).split())
    assert EACH in page
    assert "Where several calls make a task, the task is what is timed" in page


def test_a_table_has_the_median_of_each_part():
    (table, *_) = more_tables.tables(summarise(a_run(task=CALLS)))
    assert [column.head for column in table.columns[:CALLS]] == ["call 1, µs", "call 2, µs", "call 3, µs"]
    assert len(table.rows) == 2


def test_of_many_parts_the_first_eight_are_shown():
    (table, *_) = more_tables.tables(summarise(a_run(task=20, stacks=("grpc",))))
    assert sum(column.head.startswith("call ") for column in table.columns) == 8


@pytest.mark.parametrize(
    ("load", "words"),
    [
        (Load(requests=1000), f"1,000 tasks, 1 in flight, {EACH}"),
        (Load(requests=1), f"1 task, 1 in flight, {EACH}"),
        (Load(duration_s=5.0, concurrency=8), f"5 s, 8 in flight, {EACH}"),
        (
            Load(duration_s=5.0, rate_per_s=100.0, concurrency=8),
            f"100 tasks/s (300 calls/s), poisson, for 5 s, at most 8 in flight, {EACH}",
        ),
    ],
)
def test_a_load_of_tasks_says_so(load, words):
    assert of_load(load, calls=CALLS) == words


def test_a_rate_is_of_tasks_in_report_and_terminal():
    summary = summarise(a_run(task=CALLS))
    page, lines = render(summary), "\n".join(answer_lines(summary))
    for text in (page, lines):
        assert "Req/s" not in text
        assert "Tasks/s" in text
    assert "Req/s" in render(summarise(a_run()))


def test_an_open_loop_of_tasks_says_its_rate_of_tasks_and_of_calls():
    load = Load(concurrency=8, duration_s=10.0, rate_per_s=60.0)
    assert describe_load(load, "task", CALLS) == "10 s, 60 tasks/s (180 calls/s) poisson, at most 8 in flight"
    assert describe_load(load).startswith("10 s, 60/s poisson")
