"""What makes a comparison unsure: cells whose checks failed, and disturbance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.coverage import measured, plan_of
from orchestrator.experiment.plan.schedule import schedule
from orchestrator.findings.compare import compare_cells
from orchestrator.findings.disturbed import MOST, corrected, stretched
from orchestrator.findings.summary import Comparison
from orchestrator.findings.validity import withhold
from orchestrator.statistics.terms import ReasonKind
from orchestrator.summarise import summarise
from tests.support.runs import US, a_run


def slow_sends(draft):
    """What half of the declared rate looks like; committed by one stack alone."""
    if "grpc" in draft.cell.stack:
        rows = draft.columns
        rows["sent_ns"] = rows["intended_ns"] + (rows["intended_ns"] - rows["intended_ns"].min())
        rows["received_ns"] = rows["sent_ns"] + 300 * US


def overloaded():
    from orchestrator.experiment.plan import plan as p

    load = p.Load(concurrency=64, requests=2000, rate_per_s=500.0)
    return summarise(a_run(spoil=slow_sends, stacks=("rest", "grpc", "http+cbor"), load=load))


def test_a_comparison_with_an_invalid_cell_gives_no_ratio_and_both_failures_are_named():
    summary = overloaded()
    pair = next(c for c in summary.comparisons if c.stack_label == "grpc (thin)")
    assert (pair.ratio, pair.interval, pair.by_block) == (None, None, ())
    sound = next(c for c in summary.comparisons if c.stack_label == "http+cbor (thin)")
    (both,) = withhold([sound], {sound.cell: ("floor",), sound.reference_cell: ("reply", "noise")})
    assert both.reason.cells == (sound.cell, sound.reference_cell)
    assert both.reason.names == ("floor", "reply", "noise")
    (few,) = withhold([replace(sound, interval=None, standing="cannot tell")], {sound.cell: ("floor",)})
    assert (few.ratio, few.reason.names) == (None, ("floor",))


BLOCKS = 5


def compared(ratio: float, cell: Sequence[float], reference: Sequence[float], statistic: str = "median") -> Comparison:
    """Two stacks of this ratio, measured with next to no spread, of which others held up these shares by block."""
    plan = plan_of(2, BLOCKS)
    first, second = (planned.id for planned in plan.cells)
    alone = measured(
        plan, schedule(plan.cells, BLOCKS, 1), np.zeros((BLOCKS, 2)), {first: 1.0, second: ratio}, _Still()
    )
    shares = {first: reference, second: cell}
    cells = [
        replace(side, trials=tuple(replace(trial, held_up=shares[side.id][trial.block]) for trial in side.trials))
        for side in alone
    ]
    return next(c for c in compare_cells(plan, cells) if c.statistic == statistic)


class _Still(np.random.Generator):
    """Chance that always spreads a little, and alike in every run."""

    def __init__(self) -> None:
        super().__init__(np.random.PCG64(3))

    def normal(self, _mean: float, _sd: float, size: tuple[int, int]) -> np.ndarray:  # type: ignore[override]
        return super().normal(0.0, 0.002, size=size)


@pytest.mark.parametrize(
    ("ratio", "cell", "reference", "standing"),
    [
        (1.3, 0.1, 0.0, "slower"),  # 1.3 less a tenth is 1.17
        (1.3, 0.3, 0.0, "not resolved"),  # 1.3 less three tenths is 0.91
        (1.3, 0.0, 0.3, "slower"),  # the faster one lost the time: it is slower all the more
        (1 / 1.3, 0.0, 0.3, "not resolved"),
        (1 / 1.3, 0.3, 0.0, "faster"),
        (1.0, 0.2, 0.0, "not resolved"),  # equal as measured, which it may not be
    ],
)
def test_what_is_left_once_the_slower_side_has_its_time_back(
    ratio: float, cell: float, reference: float, standing: str
) -> None:
    result = compared(ratio, [cell] * 5, [reference] * 5)
    assert result.standing == standing
    kind = result.reason.kind if result.reason else None
    assert kind is (ReasonKind.DISTURBED if standing == "not resolved" else None)
    assert result.interval is not None
    assert result.disturbed is not None
    low, high = result.interval
    assert low == min(result.disturbed.as_measured[0], result.disturbed.corrected[0])
    assert high == max(result.disturbed.as_measured[1], result.disturbed.corrected[1])
    assert low < ratio < high
    assert low < ratio * (1 - cell) / (1 - reference) < high
    assert result.p_value is not None
    assert (result.p_value < 0.05) == (not low <= 1 <= high)


def test_by_how_much_a_statistic_grows() -> None:
    assert stretched(0.5, "median") == stretched(0.5, "throughput") == pytest.approx(2.0)
    assert stretched(0.5, "p99") == pytest.approx(101.0)
    assert stretched(0.5, "requester_cpu") == 1.0
    assert stretched(1.0, "median") == stretched(MOST, "median") < 100
    assert corrected((2.0, 1.0), (0.5, 0.0), (0.0, 0.5), "median") == pytest.approx((1.0, 2.0))
