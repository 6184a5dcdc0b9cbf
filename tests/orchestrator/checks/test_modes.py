"""Groups of latencies are found where there are any, and nowhere else."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.checks.latency.modes import causes_of, find_modes

MS = 1_000_000


def latencies(*groups):
    """Groups of (count, median in ms, sigma of the log), sorted."""
    random = np.random.default_rng(1)
    return np.sort(
        np.concatenate([(m * MS * random.lognormal(0, sigma, n)).astype(np.int64) for n, m, sigma in groups])
    )


@given(st.lists(st.integers(0, 10**13), max_size=200))
def test_every_latency_belongs_to_one_group(values):
    modes = find_modes(np.sort(np.array(values, dtype=np.int64)))
    assert sum(mode.share for mode in modes) == pytest.approx(1 if any(values) else 0)
    assert [mode.median_ns for mode in modes] == sorted(mode.median_ns for mode in modes)


@pytest.mark.parametrize("sigma", [0.05, 0.2, 0.5, 1.0])
@pytest.mark.parametrize("n", [100, 1_000, 100_000])
def test_one_skewed_group_is_one(n, sigma):
    assert len(find_modes(latencies((n, 0.3, sigma)))) == 1


def test_two_and_three_groups_are_told_apart_with_their_shares():
    two = find_modes(latencies((900, 0.1, 0.1), (100, 40.1, 0.02)))
    assert [mode.share for mode in two] == [0.9, 0.1]
    three = find_modes(latencies((800, 0.1, 0.1), (150, 40.1, 0.02), (50, 200.1, 0.02)))
    assert [round(mode.share, 2) for mode in three] == [0.8, 0.15, 0.05]


def test_a_distance_is_added_to_a_retransmission_time_out():
    assert "retransmission" in " ".join(causes_of(30 * MS + 285 * MS, 30 * MS))
    assert causes_of(120 * MS, 0.1 * MS) == ()


def test_where_a_duration_allows_two_causes_both_are_named():
    both = causes_of(500 * MS, 250 * MS)
    assert [("delayed" in text, "retransmission" in text) for text in both] == [(True, False), (False, True)]
