"""The simulation of disturbed runs: what bursts do to a trial, and that the second judgement names no false winner."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import disturbed
from benchmarks.disturbed import Bursts


def seen(pattern: str, truth: float) -> list[list[bool]]:
    """Of 20 runs of 5 blocks, what is found without the held-up shares, and with them."""
    made = disturbed.comparisons(disturbed.PATTERNS[pattern], blocks=5, runs=20, truth=truth, seed=2)
    return [[disturbed.is_seen(found, truth) for found in versions] for versions in zip(*made, strict=True)]


def test_stacks_that_are_disturbed_unequally_win_falsely_as_measured_and_not_once_corrected() -> None:
    as_measured, with_shares = seen("half of the stacks, 70 %", 1.0)
    assert sum(as_measured) >= 5
    assert sum(with_shares) <= 1


def test_where_nobody_disturbs_the_two_say_the_same() -> None:
    as_measured, with_shares = seen("none", 1.5)
    assert as_measured == with_shares
    assert all(with_shares)


def test_a_burst_over_all_of_a_trial_slows_its_median_by_what_it_takes() -> None:
    always = Bursts(cover=1.0, length_s=(20.0, 20.0), taken=(0.5, 0.5))
    factor, share = disturbed.trial(np.random.default_rng(1), always)
    assert share == pytest.approx(0.5, abs=0.05)
    assert factor == pytest.approx(2.0, rel=0.05)
