"""What the descriptive statistics are, checked against numpy and scipy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from scipy import stats

from orchestrator.statistics import quantiles as st

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


def test_a_small_spread_around_a_large_value_keeps_its_sd():
    values = of([10**15, 10**15 + 1, 10**15 + 2])
    assert st.distribution(values).sd * 1e6 == pytest.approx(1.0)


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


def test_bins_follow_time_and_leave_out_the_empty_ones():
    sent = np.array([0, 1, 2, 9_000_000_000], dtype=np.int64)
    latency = np.array([1_000_000, 3_000_000, 2_000_000, 7_000_000], dtype=np.int64)
    bins = st.time_bins(sent, latency, 9)
    assert [(round(at, 3), low, middle) for at, low, middle, _ in bins] == [(0.5, 1.0, 2.0), (8.5, 7.0, 7.0)]


def test_the_slowest_come_in_time_order():
    sent = np.arange(5, dtype=np.int64) * 1_000_000_000
    latency = np.array([5, 1, 4, 2, 3], dtype=np.int64) * 1_000_000
    assert st.slowest(sent, latency, count=3) == [(0.0, 5.0), (2.0, 4.0), (4.0, 3.0)]


def test_a_window_without_length_has_no_rate():
    assert st.per_second(10, 0.0) is None
    assert st.megabits_per_second(1_000_000, 2.0) == 4.0
