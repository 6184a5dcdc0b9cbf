"""When a gate is slower, not slower, or undecided: each row, after a second run, and over all calls."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.gate.verdict import CallResult, Verdict, confirmed, judged, noise, p_values
from orchestrator.summarise import summarise
from tests.support.gates import LIMIT, a_call, a_gate, a_row
from tests.support.runs import a_run


def verdicts(call: CallResult) -> list[str]:
    return [row.verdict for row in call.rows]


@pytest.mark.parametrize(
    ("head", "verdict"), [(600.0, "slower"), (300.0, "not slower"), (200.0, "not slower"), (306.0, "not slower")]
)
def test_head_is_judged_against_base_by_each_statistic(head: float, verdict: str) -> None:
    summary = summarise(a_run(base_us={"rest": 300.0, "grpc": head}, blocks=8))
    rows = {row.row.statistic: row for row in judged("order", summary, LIMIT, "median")}
    assert rows["median"].verdict == verdict
    assert [statistic for statistic, row in rows.items() if row.is_decisive] == ["median"]
    assert set(rows) == {"median", "p99", "throughput"}
    assert noise(summary, "median")[1] is not None


def test_too_few_blocks_decide_nothing() -> None:
    summary = summarise(a_run(base_us={"rest": 300.0, "grpc": 900.0}, blocks=2))
    assert {row.verdict for row in judged("order", summary, LIMIT, "median")} == {"undecided"}


@pytest.mark.parametrize(
    ("first", "again", "adjusted", "end"),
    [
        ("slower", "slower", 0.01, "slower"),
        ("slower", "slower", 0.20, "undecided"),  # not after Holm's correction
        ("slower", "not slower", 1.0, "not slower"),
        ("slower", "undecided", 1.0, "undecided"),
    ],
)
def test_only_an_alarm_that_is_one_again_is_slower(first: Verdict, again: Verdict, adjusted: float, end: str) -> None:
    call = confirmed(a_call(a_row(first)), a_call(a_row(again)), [adjusted])
    assert verdicts(call) == [end]
    assert call.rows[0].again == end


def test_what_is_slower_in_the_second_run_alone_is_undecided() -> None:
    first = a_call(a_row("not slower"), a_row("slower", "p99"))
    again = a_call(a_row("slower"), a_row("slower", "p99", 0.002))
    assert p_values(first, again) == [0.002]
    assert verdicts(confirmed(first, again, [0.002])) == ["undecided", "slower"]


def test_an_alarm_that_there_was_no_time_for_is_undecided() -> None:
    first, again = a_call(a_row("slower"), a_row("not slower", "p99")), a_call(blocks=0)
    assert p_values(first, again) == [1.0]
    assert verdicts(confirmed(first, again, [1.0])) == ["undecided", "not slower"]


@pytest.mark.parametrize(
    ("calls", "verdict"),
    [
        ([a_call(a_row("not slower"), a_row("undecided", "p99"))], "not slower"),
        ([a_call(a_row("not slower"), a_row("slower", "p99"))], "slower"),
        ([a_call(a_row("not slower")), a_call(a_row("undecided"))], "undecided"),
        ([a_call(a_row("undecided")), a_call(a_row("slower"))], "slower"),
        ([a_call(a_row("not slower")), a_call(blocks=0)], "undecided"),
    ],
)
def test_the_metric_decides_and_other_statistics_raise_alarms_alone(calls: list[CallResult], verdict: str) -> None:
    assert a_gate(*calls).verdict == verdict


def test_the_worst_comes_first_and_noise_is_the_farthest_from_1() -> None:
    near, far = (0.99, 1.01), (1.0, 1.08)
    gate = a_gate(a_call(a_row("not slower"), noise=near), a_call(replace(a_row("slower"), call="list"), noise=far))
    assert [row.call for row in gate.rows] == ["list", "order"]
    document = gate.to_dict()
    assert document["own_noise"] == list(far)
    assert (document["verdict"], document["rounds"], document["confirmed"]) == ("slower", 16, False)
    assert set(document["calls"][0]) == {"name", "metric", "base", "head", "ratio", "low", "high", "verdict", "limit"}
