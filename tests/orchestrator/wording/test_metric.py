"""`metric` in the experiment: what the result's lines, tables and first chart are about."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.findings.ranking import ranked_by
from orchestrator.findings.summary import RunSummary
from orchestrator.report.groups import groups
from orchestrator.wording.answer import answer
from orchestrator.wording.tables.result_tables import tables
from tests.support.concluded import beside, cell_of, summary

RATES = {"rest": 1000.0, "grpc": 2000.0}


def run_about(metric: str) -> RunSummary:
    """By median rest is faster, by p99 grpc, and grpc answers twice as many a second."""
    rest, grpc = (
        replace(cell_of(name, median), throughput_per_s=RATES[name]) for name, median in (("rest", 0.2), ("grpc", 0.3))
    )
    rows = [
        beside(grpc, rest, (ratio / 1.02, ratio * 1.02), statistic=statistic, ratio=ratio)
        for statistic, ratio in (("median", 1.5), ("p99", 0.8), ("throughput", 0.5))
    ]
    run = summary(([rest, grpc], rows))
    return replace(run, plan={**run.plan, "metric": metric})


@pytest.mark.parametrize(
    ("metric", "fastest", "difference", "head"),
    [
        ("median", "rest", 0.5, "vs rest"),
        ("p99", "grpc", -0.2, "p99 vs rest"),
        ("throughput", "grpc", 1.0, "throughput vs rest"),
    ],
)
def test_the_metric_decides_what_the_result_is_about(metric: str, fastest: str, difference: float, head: str) -> None:
    run = run_about(metric)
    (table,) = tables(run)
    place = [column.head for column in table.columns].index(head)
    shown = {row.label: row.entries[place].value for row in table.rows}
    assert ranked_by(run) == metric
    assert answer(run).fastest == (fastest,)
    assert shown["grpc"] == pytest.approx(difference)
    assert groups(run)[0].cells[0].stack_label == ("grpc" if metric == "throughput" else "rest")


def test_of_rates_more_is_better_and_differences_are_those_of_the_rates() -> None:
    (figure,) = answer(run_about("throughput")).figures
    assert (figure.unit, figure.median, figure.reference_median) == ("per second", 2000.0, 1000.0)
    assert figure.difference == pytest.approx(1000.0)
    assert figure.interval == pytest.approx((960.8, 1040.0), rel=1e-2)


def test_a_p99_of_too_few_requests_is_refused_in_the_first_line_and_the_next_says_how_many_it_takes() -> None:
    run = run_about("p99")
    few = tuple(replace(cell, trials=tuple(replace(trial, p99=None) for trial in cell.trials)) for cell in run.cells)
    rows = tuple(replace(row, interval=None, ratio=None, standing="cannot tell") for row in run.comparisons)
    first, following = answer(replace(run, cells=few, comparisons=rows)).lines
    assert first.head == "Insufficient data"
    assert "p99 takes 1,000" in first.text
    assert "`load.requests`" in following.text


def test_a_metric_that_a_schedule_sets_is_named() -> None:
    run = run_about("throughput")
    run = replace(run, comparisons=tuple(row for row in run.comparisons if row.statistic != "throughput"))
    assert answer(run).lines[0].text == "a schedule sets throughput here, whatever the stack."
