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
