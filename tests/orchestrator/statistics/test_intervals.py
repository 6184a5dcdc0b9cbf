"""Intervals against scipy, and against simulated runs whose truth is known."""

import numpy as np
import pytest
from scipy import stats

from orchestrator.statistics import intervals

SIMULATIONS = 2_000
TRUE_RATIO = 1.10


def trial_effects(kind, rng, shape):
    """Logs of what a trial is slowed down by; every kind has mean 0 within a pair's difference."""
    if kind == "normal":
        return rng.normal(0, 0.05, shape)
    if kind == "exponential":
        return rng.exponential(0.05, shape)
    if kind == "bimodal":  # two states of a machine, say, with a little of everything else
        return rng.choice([0.0, 0.10], shape) + rng.normal(0, 0.03, shape)
    raise ValueError(kind)


def t_intervals(logs):
    """`intervals.log_mean(row).interval()` for every row at once; `test_rows_at_once` shows that it is the same."""
    n = logs.shape[1]
    half = intervals.t_quantile(0.975, n - 1) * logs.std(axis=1, ddof=1) / np.sqrt(n)
    return logs.mean(axis=1) - half, logs.mean(axis=1) + half


def test_rows_at_once():
    rows = np.random.default_rng(1).normal(0.1, 0.05, (5, 4))
    low, high = t_intervals(rows)
    for i, row in enumerate(rows):
        assert intervals.log_mean(row).interval() == pytest.approx((np.exp(low[i]), np.exp(high[i])))


def test_a_paired_comparison_is_scipys_paired_t_test_on_logs():
    rng = np.random.default_rng(2)
    a, b = rng.lognormal(0.1, 0.1, 6), rng.lognormal(0.0, 0.1, 6)
    ours, theirs = intervals.paired(a, b), stats.ttest_rel(np.log(a), np.log(b))
    assert ours.p_value == pytest.approx(theirs.pvalue)
    bounds = theirs.confidence_interval(0.95)
    assert ours.interval() == pytest.approx((np.exp(bounds.low), np.exp(bounds.high)))


def test_a_single_cell_is_scipys_t_interval_on_logs():
    medians = [1.0, 1.1, 0.95, 1.05]
    logs = np.log(medians)
    low, high = stats.t.interval(0.95, 3, loc=logs.mean(), scale=stats.sem(logs))
    assert intervals.of_trials(medians).interval() == pytest.approx((np.exp(low), np.exp(high)))


def test_two_runs_are_scipys_welch_test_on_logs():
    rng = np.random.default_rng(3)
    a, b = rng.lognormal(0.1, 0.1, 6), rng.lognormal(0.0, 0.3, 4)
    mean, error, freedom = intervals.unpaired(a, b)
    theirs = stats.ttest_ind(np.log(a), np.log(b), equal_var=False)
    assert intervals.two_sided_p(mean / error, freedom) == pytest.approx(theirs.pvalue)
    assert freedom == pytest.approx(theirs.df)


@pytest.mark.parametrize("blocks", [1, 2])
def test_fewer_than_three_blocks_give_no_interval(blocks):
    result = intervals.log_mean([0.1] * blocks)
    assert result.interval() is None
    assert result.p_value is None
    assert result.ratio == pytest.approx(np.exp(0.1))


@pytest.mark.parametrize("blocks", [3, 5, 10])
@pytest.mark.parametrize("kind", ["normal", "exponential", "bimodal"])
def test_the_interval_covers_the_true_ratio_as_often_as_it_says(kind, blocks):
    rng = np.random.default_rng(20_240_601)
    shape = (SIMULATIONS, blocks)
    drift = np.cumsum(
        rng.normal(0, 0.2, shape), axis=1
    )  # the machine wanders from block to block, far more than stacks differ
    stack = np.log(TRUE_RATIO) + drift + trial_effects(kind, rng, shape)
    reference = drift + trial_effects(kind, rng, shape)
    low, high = t_intervals(stack - reference)
    covered = np.mean((low <= np.log(TRUE_RATIO)) & (np.log(TRUE_RATIO) <= high))
    assert 0.93 <= covered <= 0.97


def test_holm_is_the_published_procedure():
    # Worked by hand: 0.01 x 4, 0.02 x 3, 0.03 x 2 held up by the one before, 0.04 likewise.
    assert intervals.holm([0.03, 0.01, 0.04, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert intervals.holm([0.9, 0.8]) == [1.0, 1.0]
    assert intervals.holm([]) == []


def test_intervals_leave_out_1_exactly_where_holm_rejects():
    rng = np.random.default_rng(11)
    decided = set()
    for _ in range(200):
        results = [intervals.log_mean(rng.normal(shift, 0.05, 5)) for shift in rng.choice([0, 0.1, 0.2], 6)]
        p_values = [r.p_value for r in results]
        for result, adjusted, level in zip(
            results, intervals.holm(p_values), intervals.holm_levels(p_values), strict=True
        ):
            low, high = result.interval(level)
            assert (not low <= 1 <= high) == (adjusted <= intervals.ALPHA)
            decided.add(adjusted <= intervals.ALPHA)
    assert decided == {True, False}
