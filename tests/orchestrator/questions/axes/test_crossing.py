"""Where a difference changes its sign: on differences whose crossing is known."""

from __future__ import annotations

import numpy as np
import pytest

from orchestrator.questions.axes.crossing import crossing

RUNS = 60
PLACES = (1.0, 5.0, 20.0, 50.0, 100.0)


def line(*, at: float, slope: float = 0.1) -> np.ndarray:
    """Differences that cross zero there."""
    return slope * (np.array(PLACES) - at)


def test_without_noise_the_crossing_is_where_the_line_is_zero() -> None:
    crossed = crossing(PLACES, np.tile(line(at=31.0), (4, 1)))
    assert crossed is not None
    assert (crossed.at, crossed.low, crossed.high) == pytest.approx((31.0, 31.0, 31.0))


def test_the_interval_is_where_the_t_interval_holds_zero() -> None:
    """The same by brute force: the t-interval of the interpolated differences at each of many places."""
    random = np.random.default_rng(5)
    by_block = line(at=31.0) + random.normal(0, 0.6, (6, len(PLACES)))
    crossed = crossing(PLACES, by_block)
    assert crossed is not None
    grid = np.linspace(1, 100, 20_001)
    rows = np.array([np.interp(grid, PLACES, row) for row in by_block])
    t = 2.570581835636314  # 97.5 % of Student's t with five degrees of freedom
    held = grid[np.abs(rows.mean(axis=0)) <= t * rows.std(axis=0, ddof=1) / np.sqrt(6)]
    around = held[np.abs(held - crossed.at) < 40]
    assert (crossed.low, crossed.high) == pytest.approx((around.min(), around.max()), abs=0.02)


@pytest.mark.parametrize("share", [0.01, 0.2])
@pytest.mark.parametrize("grows_with", ["place", "logarithm"])
def test_along_a_logarithmic_axis_the_interval_holds_both_ways_to_grow(grows_with: str, share: float) -> None:
    """A time for each byte is a curve between two sizes of such an axis, and crosses later than its chord."""
    places, true = (1e2, 1e3, 1e4, 1e5, 1e6), 30_000.0
    differences = np.array(places) / true - 1 if grows_with == "place" else np.log(np.array(places) / true)
    random = np.random.default_rng(7)
    runs = [crossing(places, differences + random.normal(0, share, (5, len(places))), "log") for _ in range(200)]
    held = [each.low <= true <= each.high for each in runs if each is not None]
    assert len(held) > 150
    assert sum(held) >= 0.92 * len(held)


def test_a_sign_that_is_nowhere_known_does_not_change() -> None:
    by_block = np.tile(np.array([-0.05, 0.05, 2.0, 5.0, 10.0]), (5, 1))
    by_block[:, 0] = [-0.5, 0.4, -0.5, 0.4, -0.05]
    assert by_block[:, 0].mean() < 0
    assert crossing(PLACES, by_block) is None
    by_block[:, 0] = [-0.06, -0.05, -0.05, -0.05, -0.04]
    assert crossing(PLACES, by_block) is not None


def test_two_blocks_say_nothing() -> None:
    assert crossing(PLACES, np.tile(line(at=31.0), (2, 1))) is None
