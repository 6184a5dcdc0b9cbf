"""Series of loads with a known knee: it is found, what limits there is named, and what is not known is not said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import exp

import numpy as np
import pytest

from benchmarks import knees
from orchestrator.findings.check_result import CheckResult, Overload
from orchestrator.findings.summary import CellSummary
from orchestrator.questions.saturation import words as saturation_words
from orchestrator.questions.saturation.find import LoadSeries, find_series
from orchestrator.statistics.terms import ReasonKind, because
from tests.support.findings import counted, having
from tests.support.summaries import a_run

ONE = a_run(stacks=1).cells[0]
DRIFT = (0.9, 1.0, 1.1, 0.8, 1.05)  # what slows a whole block says nothing of the loads within it


def a_cell(
    per_s: Sequence[float],
    *,
    concurrency: int = 1,
    rate: float | None = None,
    cpu: tuple[float | None, float | None] = (0.5, 0.5),
    offered: float | None = None,
    not_sent: int = 0,
    **changed: object,
) -> CellSummary:
    """A cell whose trials answered so many requests a second; `cpu` is the responder's and the requester's share."""
    first = ONE.trials[0]
    trials = tuple(
        replace(
            first,
            index=block,
            block=block,
            throughput_per_s=value,
            responder_cpu_share=cpu[0],
            cpu_share=cpu[1],
            responder_window_s=5.0,
            offered_per_s=offered if offered is not None else rate,
        )
        for block, value in enumerate(per_s)
    )
    name = f"{ONE.stack}-c{concurrency}-r{rate}"
    cell = counted(replace(ONE, id=name, trials=trials, **changed), not_sent=not_sent)  # type: ignore[arg-type]
    return having(cell, concurrency=concurrency, rate=rate)


def drifting(value: float, blocks: int = 5) -> list[float]:
    return [value * drift for drift in DRIFT[:blocks]]


def closed(by_load: Mapping[int, float], **options: object) -> list[CellSummary]:
    return [a_cell(drifting(value), concurrency=load, **options) for load, value in by_load.items()]  # type: ignore[arg-type]


OVERLOAD = Overload(planned_per_s=1000.0, delivered_per_s=None)


def only(cells: Sequence[CellSummary], checks: Sequence[CheckResult] = (), *, matters: float = 0.05) -> LoadSeries:
    (series,) = find_series(cells, checks, matters=matters)
    return series


def text_of(series: LoadSeries) -> str:
    return " ".join(saturation_words.sentences(series))


def load_at(series: LoadSeries, place: int | None) -> float | None:
    return None if place is None else series.points[place].load


def failed(cell: CellSummary, name: str, overload: Overload | None = None) -> CheckResult:
    return CheckResult(
        name=name,
        verdict="fail",
        severity="serious",
        cell=cell.id,
        evidence={},
        points=(),
        overload=overload,
    )


def test_the_knee_is_the_smallest_load_within_the_margin_of_the_highest() -> None:
    series = only(closed({1: 300.0, 10: 960.0, 50: 1000.0, 100: 990.0, 200: 900.0}))
    assert (load_at(series, series.highest), load_at(series, series.knee), series.is_reached) == (50, 10, True)
    knee = series.points[1]
    assert knee.of_highest is not None
    assert knee.of_highest.value == pytest.approx(0.96)
    assert knee.of_highest.interval == pytest.approx((0.96, 0.96))  # drift is common to a block, and cancels
    assert knee.throughput is not None
    assert knee.throughput.interval is not None
    assert knee.throughput.interval[1] > 1.2 * knee.throughput.interval[0]  # but not of the throughput itself
    assert saturation_words.remarks(series, 1) == ("knee",)
    assert saturation_words.remarks(series, 2) == ("highest",)


def test_a_knee_at_the_last_load_is_not_reached_and_nothing_limits_it() -> None:
    series = only(closed({1: 100.0, 10: 500.0, 50: 1000.0}, cpu=(0.99, 0.99)))
    assert (series.knee, series.is_reached, series.limit) == (2, False, None)
    assert "Its knee is not reached up to 50 in flight." in text_of(series)
    assert "knee" not in saturation_words.remarks(series, 2)
    assert saturation_words.headline([series]) == ""


@pytest.mark.parametrize(
    ("cpu", "limit", "text"),
    [
        ((0.95, 0.4), "responder", "the responder's CPU limits it (responder 95 %, requester 40 % of a core)"),
        ((0.4, 0.85), "requester", "the requester's CPU limits it"),
        ((0.9, 0.9), "both", "the CPUs of both ends limit it"),
        ((0.84, 0.84), "neither", "neither end's CPU limits it"),
        ((None, 0.4), "unknown", "its limit is not known (responder unknown"),
        ((None, 0.9), "requester", "the requester's CPU limits it"),
    ],
)
def test_the_end_that_limits_at_the_knee_is_named_by_its_cpu(
    cpu: tuple[float | None, float | None], limit: str, text: str
) -> None:
    series = only(closed({1: 300.0, 10: 1000.0, 50: 1000.0, 100: 1000.0}, cpu=cpu))
    assert series.limit == limit
    assert text in text_of(series)


def test_intervals_say_from_which_load_to_which_the_knee_may_lie() -> None:
    noise = np.random.default_rng(3).normal(0, 0.04, size=(5, 5))
    means = {1: 300.0, 10: 900.0, 50: 950.0, 100: 1000.0, 200: 1010.0}
    cells = [
        a_cell([value * exp(error) for error in errors], concurrency=load)
        for (load, value), errors in zip(means.items(), noise, strict=True)
    ]
    series = only(cells)
    assert series.knee_from is not None
    assert series.knee is not None
    assert series.knee_by is not None
    assert 0 < series.knee_from <= series.knee <= series.knee_by
    assert series.knee_from < series.knee_by
    first, last = (series.points[place].load_text for place in (series.knee_from, series.knee_by))
    assert f"95 % interval {first} to {last}" in text_of(series)


@pytest.mark.parametrize("curve", ["sharp", "gradual", "on the margin", "still growing"])
def test_the_true_knee_lies_where_the_intervals_say_in_nineteen_of_twenty_runs(curve: str) -> None:
    """Where noise may make any load the highest, too: ratios to the one that looked it would hold seven in ten."""
    assert knees.simulate(curve, "bimodal", blocks=5, runs=100).held >= 0.95


def test_only_blocks_that_every_load_was_measured_in_count() -> None:
    """A run that was cut: the last block has the first cells alone, in slow conditions."""
    cells = closed({1: 300.0, 10: 1000.0, 50: 1010.0})
    cells[1] = replace(cells[1], trials=cells[1].trials[:4])
    cells[2] = replace(cells[2], trials=cells[2].trials[:4])
    slow = replace(cells[0].trials[4], throughput_per_s=1e6)
    cells[0] = replace(cells[0], trials=(*cells[0].trials[:4], slow))
    series = only(cells)
    assert (load_at(series, series.highest), load_at(series, series.knee)) == (50, 10)


def test_series_are_of_three_loads_of_one_stack_in_one_setting() -> None:
    assert find_series(closed({1: 1.0, 2: 2.0}), (), matters=0.05) == ()
    three = closed({1: 1.0, 2: 2.0, 4: 4.0})
    for other in (
        replace(three[2], stack="other"),
        replace(three[2], operation="other"),
        replace(three[2], placement="other"),
    ):
        assert find_series([*three[:2], other], (), matters=0.05) == ()
    assert find_series([*three[:2], having(three[2], connection="per-request")], (), matters=0.05) == ()
    assert find_series([*three[:2], replace(three[2], kind="stream")], (), matters=0.05) == ()
    assert find_series([*three[:2], having(three[2], rate=100.0)], (), matters=0.05) == ()


def a_ladder() -> list[CellSummary]:
    """Rates of which the last two are more than a stack with a capacity of 1,000 a second answers."""
    rates = {250.0: (250.0, 0), 500.0: (500.0, 0), 1000.0: (980.0, 0), 2000.0: (1000.0, 4000), 4000.0: (700.0, 15_000)}
    return [
        a_cell([answered] * 5, rate=rate, concurrency=int(rate / 2), not_sent=unsent)
        for rate, (answered, unsent) in rates.items()
    ]


def test_a_stack_keeps_up_to_the_last_rate_that_it_answers_and_beyond_it_lies_beyond_capacity() -> None:
    series = only(a_ladder())
    assert [point.keeps_up for point in series.points] == [True, True, True, False, False]
    assert (load_at(series, series.keeps_up_to), load_at(series, series.knee)) == (1000, 1000)
    assert (*saturation_words.sentences(series),)[0].endswith("keeps up to 1000/s; beyond capacity: 2000/s and 4000/s.")
    assert saturation_words.remarks(series, 3) == ("highest", "beyond capacity")
    assert saturation_words.remarks(series, 4) == ("beyond capacity",)


def test_what_was_sent_late_or_not_at_all_is_not_kept_up_with() -> None:
    late = a_cell([940.0] * 3, rate=1000.0)
    unsent = a_cell([2000.0] * 3, rate=2000.0, not_sent=1)
    series = only([a_cell([500.0] * 3, rate=500.0), late, unsent])
    assert [point.keeps_up for point in series.points] == [True, False, False]
    assert load_at(series, series.keeps_up_to) == 500


def test_a_rate_beyond_capacity_is_a_result_and_any_other_failed_check_leaves_the_load_out() -> None:
    cells = a_ladder()
    over = [failed(cell, "offered load", OVERLOAD) for cell in cells[3:]]
    assert only(cells, over) == only(cells)
    series = only(cells, [*over, failed(cells[3], "reply")])
    assert [point.left_out for point in series.points] == [None, None, None, because(ReasonKind.INVALID, "reply"), None]
    assert load_at(series, series.highest) == 1000
    assert "Left out at 2000/s: reply failed." in (*saturation_words.sentences(series),)
    moved = only(cells, [failed(cells[0], "offered load")])
    assert moved.points[0].left_out == because(ReasonKind.INVALID, "offered load")


def test_a_queue_that_grows_is_beyond_capacity_though_all_was_answered_within_the_margin() -> None:
    cells = [a_cell([rate] * 3, rate=rate) for rate in (250.0, 500.0, 1000.0)]
    growing = failed(cells[2], "queueing ramp", OVERLOAD)
    assert only(cells).keeps_up_to == 2
    assert [point.keeps_up for point in only(cells, [growing]).points] == [True, True, False]
    warned = replace(growing, verdict="warn")
    assert only(cells, [warned]) == only(cells)
    closed_loop = closed({1: 300.0, 10: 960.0, 50: 1000.0, 100: 990.0})
    ramp = only(closed_loop, [failed(closed_loop[3], "queueing ramp")]).points[3]
    assert ramp.left_out == because(ReasonKind.INVALID, "queueing ramp")


def test_lost_trials_and_trials_without_a_reply_leave_a_load_out() -> None:
    cells = closed({1: 300.0, 10: 1000.0, 50: 1010.0, 100: 5000.0, 200: 9000.0})
    cells[3] = counted(cells[3], failed_trials=2)
    silent = tuple(replace(trial, throughput_per_s=0.0) for trial in cells[4].trials[:1])
    cells[4] = replace(cells[4], trials=(*silent, *cells[4].trials[1:]))
    series = only(cells)
    assert load_at(series, series.highest) == 50
    lost = because(ReasonKind.FAILED_TRIALS, trials=2)
    assert [point.left_out for point in series.points[3:]] == [lost, because(ReasonKind.NO_REPLY)]
    assert only(cells[2:]).knee is None
    assert "no knee" in (*saturation_words.sentences(only(cells[2:])),)[0]
