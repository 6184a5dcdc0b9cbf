"""Reasons in words, and what a result is about."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.findings.ranking import ranked_by
from orchestrator.findings.summary import RunSummary
from orchestrator.questions.prediction import words as prediction
from orchestrator.report.groups import groups
from orchestrator.statistics.terms import Reason, ReasonKind
from orchestrator.wording.answer import answer
from orchestrator.wording.reasons import clause, why
from orchestrator.wording.tables.result_tables import tables
from tests.support.concluded import beside, cell_of, summary

NUMBERS = {"blocks": 2, "needed": 3, "of": 5, "share": 0.012, "failed": 1, "compared": 12, "difference": 0.08}
SHARES = {"cell": 0.2, "reference": 0.05}
OF_MODELS = {"trips": 1.4, "low": 1.0, "high": 2.0, "value": 9.0, "size": 100, "p90": 0.2, "most": 26}


@pytest.mark.parametrize("kind", [kind for kind in ReasonKind if kind is not ReasonKind.OPEN])
def test_every_reason_has_words(kind: ReasonKind) -> None:
    reason = Reason(kind=kind, cells=("a",), numbers=NUMBERS | SHARES | OF_MODELS, names=("reply",))
    text = clause(reason, {"a": "grpc"}) or prediction.why(reason)
    assert text
    assert "{" not in text


def test_an_open_interval_speaks_for_itself() -> None:
    rest, grpc = cell_of("rest", 0.3), cell_of("grpc", 0.3)
    assert why(beside(grpc, rest, (0.9, 1.2))) == "−10.0 to +20 %"


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
    return replace(run, plan=replace(run.plan, metric=metric))


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
    assert groups(run)[0].cells[0].labels.stack == ("grpc" if metric == "throughput" else "rest")


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
