"""What is summarised of cells: verified content, and times of openings."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.evidence.cell_summaries import content, goodput
from orchestrator.experiment.plan.plan import Operation
from services.python.contract.lines import Load, Warmup
from services.python.contract.requester_lines import Opening
from services.python.contract.strict import decode
from tests.support.summaries import a_run


@pytest.mark.parametrize("took", [-1.0, float("nan"), float("inf"), 1e308])
def test_times_that_no_clock_gives_are_refused(took: float) -> None:
    with pytest.raises(ValueError, match="connect_s"):
        decode(Opening, {"connections": 1, "connect_s": took})


def a_cell(calls: int = 1):
    from orchestrator.experiment.plan.plan import Cell

    factors = {"calls": calls, "connection": "reuse", "concurrency": 1}
    return Cell(
        id="x",
        stack="s",
        operation="o",
        placement="local",
        factors=factors,
        load=Load(requests=1),
        warmup=Warmup(),
        timeout_s=1.0,
        kind="call" if calls == 1 else "task",
    )


def of(kind: str) -> Operation:
    return Operation(id="o", name="o", label="o", payload={"kind": kind}, request_bytes=3000, reply_bytes=1000)


def trials(*rates: float):
    return [replace(a_run().cells[0].trials[0], throughput_per_s=rate) for rate in rates]


def test_content_is_that_of_requests_and_replies_whose_every_byte_is_compared() -> None:
    for kind in ("bytes", "records", "json", "transfer"):
        assert content(of(kind), a_cell()) == (3000, 1000)
    for kind in ("none", "image", "events", "evolution"):
        assert content(of(kind), a_cell()) is None
    assert content(replace(of("bytes"), calls=3), a_cell(calls=3)) == (9000, 3000)
    assert content(of("bytes"), replace(a_cell(), kind="stream")) is None


def test_goodput_is_content_times_right_replies_a_second() -> None:
    even = goodput((3000, 1000), trials(500.0, 500.0, 500.0))
    assert even is not None
    assert even.value == pytest.approx(2.0)
    assert even.interval == pytest.approx((2.0, 2.0))


def test_its_interval_comes_from_the_spread_between_trials() -> None:
    uneven = goodput((1_000_000, 0), trials(90.0, 100.0, 110.0))
    assert uneven is not None
    assert uneven.interval is not None
    assert uneven.interval[0] < 90 < uneven.value < 110 < uneven.interval[1]
    assert (few := goodput((1_000_000, 0), trials(90.0, 110.0))) is not None
    assert few.interval is None


@pytest.mark.parametrize(
    ("sizes", "rates"), [(None, (1.0,)), ((0, 0), (1.0,)), ((1, 1), ()), ((1, 1), (5.0, 0.0, 5.0))]
)
def test_without_content_or_a_right_reply_in_each_trial_there_is_none(sizes, rates) -> None:
    assert goodput(sizes, trials(*rates)) is None
