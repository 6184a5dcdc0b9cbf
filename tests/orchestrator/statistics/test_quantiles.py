"""Statistics against numpy and scipy, and what intervals and winners are worth by simulation."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from scipy import stats

from benchmarks import coverage
from orchestrator.findings.compare import compare_cells
from orchestrator.statistics import intervals
from orchestrator.statistics import quantiles as st
from tests.support.matrix import others_slow

LATENCIES = some.lists(some.integers(min_value=1, max_value=10**12), min_size=1, max_size=300)


def of(values):
    return np.sort(np.asarray(values, dtype=np.int64))


@given(LATENCIES, some.floats(min_value=0, max_value=1))
def test_a_quantile_is_type_7_of_hyndman_and_fan(values, share):
    ours = st.quantile(of(values), share)
    assert ours == pytest.approx(np.quantile(np.asarray(values, dtype=float), share, method="linear"), rel=1e-9)


@given(LATENCIES.filter(lambda values: len(values) > 1))
def test_moments_are_those_of_numpy_and_scipy(values):
    described = st.distribution(of(values))
    assert described.mean * 1e6 == pytest.approx(np.mean(values), rel=1e-9)
    assert described.sd * 1e6 == pytest.approx(np.std(np.asarray(values, dtype=float), ddof=1), rel=1e-6, abs=1e-3)
    assert described.iqr * 1e6 == pytest.approx(stats.iqr(values), rel=1e-9, abs=1e-3)
    assert (described.minimum * 1e6, described.maximum * 1e6) == pytest.approx((min(values), max(values)))


@pytest.mark.parametrize(
    ("n", "p90", "p99", "p999"), [(99, 0, 0, 0), (100, 1, 0, 0), (1_000, 1, 1, 0), (10_000, 1, 1, 1)]
)
def test_a_percentile_takes_ten_samples_beyond_it(n, p90, p99, p999):
    described = st.distribution(np.arange(1, n + 1))
    shown = [described.p90 is not None, described.p99 is not None, described.p999 is not None]
    assert shown == [bool(p90), bool(p99), bool(p999)]


def test_no_values_are_an_error_and_not_zero():
    with pytest.raises(ValueError, match="no values"):
        st.distribution(of([]))


@given(some.integers(min_value=1, max_value=5_000))
def test_the_curve_holds_the_extremes_and_every_one_of_the_slowest(n):
    values = of(np.random.default_rng(n).integers(1, 10**9, size=n))
    curve = st.curve(values)
    shares, latencies = zip(*curve, strict=True)
    assert latencies[0] * 1e6 == pytest.approx(values[0])
    assert curve[-1] == (1.0, values[-1] / 1e6)
    assert list(shares) == sorted(set(shares))
    slowest = values[-200:] / 1e6
    assert list(latencies[-slowest.size :]) == pytest.approx(slowest.tolist())
    assert len(curve) <= 500


RUNS = 200
FEW = 0.05 + 3 * (0.05 * 0.95 / RUNS) ** 0.5  # 5 % and three standard errors of so many runs


SIZES = [(stacks, blocks) for stacks in (2, 3, 6) for blocks in (3, 5, 10)]
USUAL = (3, 5)
CASES = [  # every noise with the usual size and, in turn, with a third of the others
    (noise, *size)
    for turn, noise in enumerate(coverage.NOISES)
    for place, size in enumerate(SIZES)
    if size == USUAL or (place + turn) % 3 == 0
]


@pytest.mark.parametrize(("noise", "stacks", "blocks"), others_slow(CASES, lambda _, *size: tuple(size) == USUAL))
def test_equal_stacks_get_no_winner_more_often_than_promised(noise, stacks, blocks):
    simulated = coverage.simulate(coverage.NOISES[noise], stacks=stacks, blocks=blocks, runs=RUNS)
    assert simulated.false_winners <= FEW
    assert simulated.coverage >= 1 - FEW


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


def _spreading(sds: Sequence[float], blocks: int) -> list[intervals.LogMean]:
    """Comparisons whose blocks spread by exactly so much."""
    steps = np.arange(blocks) - (blocks - 1) / 2
    return [intervals.log_mean(0.1 + sd * steps / steps.std(ddof=1)) for sd in sds]


def test_alike_spreads_lend_freedom_and_keep_their_errors():
    own = _spreading([0.02] * 10, 6)
    shared = intervals.moderated(own)
    assert {round(result.freedom, 1) for result in shared} == {15.4}
    assert [result.se for result in shared] == pytest.approx([result.se * 1.06 for result in own], rel=0.05)
    assert all(a.p_value < b.p_value for a, b in zip(shared, own, strict=True))


def test_blocks_that_agree_by_chance_get_the_spread_of_the_others():
    own = _spreading([0.002, 0.02, 0.02, 0.03, 0.03], 3)
    shared = intervals.moderated(own)
    assert shared[0].se > 3 * own[0].se
    assert shared[0].mean == own[0].mean
    assert shared[0].p_value == pytest.approx(intervals.two_sided_p(own[0].mean / shared[0].se, shared[0].freedom))


def test_spreads_that_differ_widely_lend_nothing():
    own = _spreading([0.0001, 0.01, 1.0], 6)
    shared = intervals.moderated(own)
    assert all(result.lent < 1 for result in shared)
    assert shared[1].se == pytest.approx(own[1].se, rel=0.02)
    assert shared[2].se == pytest.approx(own[2].se, rel=0.03)


def test_what_has_no_spread_is_left_as_it_is():
    lone, alike = intervals.log_mean([0.5, 0.6]), _spreading([0.02], 5)
    assert intervals.moderated([None, lone, *alike]) == [None, lone, *alike]
