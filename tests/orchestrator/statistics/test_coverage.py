"""What intervals and winners are worth, by simulation with the schedule and the comparison that runs use; fixed seeds."""

import numpy as np
import pytest

from benchmarks import coverage
from orchestrator.findings.compare import compare_cells
from orchestrator.statistics import intervals
from tests.support.matrix import others_slow

RUNS = 200
FEW = 0.05 + 3 * (0.05 * 0.95 / RUNS) ** 0.5  # 5 % and three standard errors of so many runs


SIZES = [(stacks, blocks) for stacks in (2, 3, 6) for blocks in (3, 5, 10)]


@pytest.mark.parametrize(("stacks", "blocks"), others_slow(SIZES, lambda stacks, blocks: (stacks, blocks) == (3, 5)))
@pytest.mark.parametrize("noise", coverage.NOISES)
def test_equal_stacks_get_no_winner_more_often_than_promised(noise, stacks, blocks):
    found = coverage.simulate(coverage.NOISES[noise], stacks=stacks, blocks=blocks, runs=RUNS)
    assert found.false_winners <= FEW
    assert found.coverage >= 1 - FEW


@pytest.mark.parametrize(
    "noise", ["bimodal", *(pytest.param(n, marks=pytest.mark.slow) for n in coverage.NOISES if n != "bimodal")]
)
@pytest.mark.parametrize(
    ("stacks", "blocks"), others_slow([(2, 3), (2, 5), (3, 5)], lambda stacks, blocks: (stacks, blocks) == (2, 3))
)
def test_equal_stacks_get_no_winner_in_any_of_eight_settings(noise, stacks, blocks):
    found = coverage.false_winners(coverage.NOISES[noise], stacks=stacks, blocks=blocks, settings=8, runs=RUNS)
    assert found.of_run <= FEW


def test_intervals_of_a_run_are_wider_the_more_is_compared():
    plan = coverage.plan_of(2, 5, settings=8)
    trials = coverage.schedule(plan.cells, 5, 1)
    noise = np.random.default_rng(1)
    cells = coverage.measured(plan, trials, np.zeros((5, 16)), dict.fromkeys((c.id for c in plan.cells), 1.0), noise)
    of_run = next(c for c in compare_cells(plan, cells) if c.statistic == "median")
    alone = next(c for c in compare_cells(plan, cells[:2]) if c.statistic == "median")
    assert of_run.ratio == alone.ratio
    assert of_run.interval[1] / of_run.interval[0] > alone.interval[1] / alone.interval[0]
    assert of_run.p_value > alone.p_value


def test_no_error_is_less_than_half_the_median_of_the_group():
    steady = intervals.log_mean([0.1, 0.1001, 0.0999])
    loud = [intervals.log_mean([0.0, 0.1, 0.2]), intervals.log_mean([-0.1, 0.1, 0.3])]
    lone = intervals.log_mean([0.5, 0.6])
    result = intervals.with_shared_error([steady, None, *loud, lone])
    assert result[1:] == [None, *loud, lone]
    assert result[0].se == loud[0].se / 2
    assert result[0].mean == steady.mean
    assert result[0].p_value == pytest.approx(intervals.two_sided_p(steady.mean / result[0].se, 2))
