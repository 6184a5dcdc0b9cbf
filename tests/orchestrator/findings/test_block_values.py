"""Ratios of blocks: of two trials in turns, each turn beside its neighbours."""

from __future__ import annotations

import numpy as np
import pytest

from orchestrator.findings.block_values import of_turns

SLOW = 1.4


def trial(median: float, places: range) -> list[tuple[int, float]]:
    """Turns at these places of a block whose second half is slow."""
    return [(place, median * (SLOW if place >= 60 else 1.0)) for place in places]


def test_a_machine_that_is_slow_for_half_of_the_time_slows_both_sides_of_each_ratio() -> None:
    reference = trial(1.0, range(0, 120, 2))
    assert of_turns(trial(2.0, range(1, 120, 6)), reference) == pytest.approx(2.0)
    mostly_slow = trial(2.0, range(41, 120, 6))
    assert of_turns(mostly_slow, reference) == pytest.approx(2.0)


def test_a_few_turns_that_others_disturbed_move_nothing() -> None:
    reference = trial(1.0, range(0, 120, 2))
    turns = [(place, median * (5 if place < 12 else 1)) for place, median in trial(2.0, range(1, 120, 6))]
    assert of_turns(turns, reference) == pytest.approx(2.0)


def test_two_equal_trials_have_a_ratio_of_one() -> None:
    turns = trial(1.0, range(0, 120, 2))
    assert of_turns(turns, turns) == pytest.approx(1.0, abs=0.01)


def test_some_turns_that_are_slow_by_chance_do_not_set_equal_trials_apart() -> None:
    slow = np.random.default_rng(1).exponential(0.3, (2, 20_000))
    turns, reference = ([(3 * place, 1 + by) for place, by in enumerate(trial)] for trial in slow.tolist())
    assert of_turns(turns, reference) == pytest.approx(1.0, abs=0.005)
