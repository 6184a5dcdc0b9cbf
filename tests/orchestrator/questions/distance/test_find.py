"""The slope of latency over distance: round trips, on runs whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest

from orchestrator.questions.distance.find import fit

DISTANCES = {"near": 1.0, "mid": 20.0, "far": 50.0, "farther": 100.0}


def measured(trips: float, blocks: int = 5, *, noise: float = 0.0, seed: int = 1, base: float = 0.4):
    random = np.random.default_rng(seed)
    floors = {
        name: {block: rtt + float(random.normal(0, noise / 4)) for block in range(blocks)}
        for name, rtt in DISTANCES.items()
    }
    drift = random.normal(0, noise, blocks)
    medians = {
        name: {
            block: base + trips * floors[name][block] + drift[block] + float(random.normal(0, noise))
            for block in range(blocks)
        }
        for name in DISTANCES
    }
    return medians, floors


@pytest.mark.parametrize("trips", [1.0, 2.0, 3.0])
def test_without_noise_the_slope_is_the_number_of_round_trips(trips: float) -> None:
    found = fit(*measured(trips))
    assert found is not None
    assert found.round_trips == pytest.approx(trips)
    assert found.interval == pytest.approx((trips, trips))
    assert (found.at_zero, found.off_line) == pytest.approx((0.4, 0.0), abs=1e-9)
    assert (found.distances, found.blocks) == (4, 5)


@pytest.mark.parametrize("blocks", [3, 5])
def test_95_of_100_intervals_hold_the_true_number(blocks: int) -> None:
    fits = [fit(*measured(2.0, blocks, noise=0.3, seed=seed)) for seed in range(600)]
    held = [f is not None and f.interval is not None and f.interval[0] <= 2.0 <= f.interval[1] for f in fits]
    assert 0.92 <= sum(held) / len(held) <= 0.98


def test_what_is_no_straight_line_is_told() -> None:
    medians, floors = measured(1.0)
    medians["far"] = {block: value + 30.0 for block, value in medians["far"].items()}
    found = fit(medians, floors)
    assert found is not None
    assert found.off_line > 10


def test_a_block_without_all_distances_is_left_out() -> None:
    medians, floors = measured(2.0)
    del medians["far"][3]
    found = fit(medians, floors)
    assert found is not None
    assert found.blocks == 4


def test_distances_within_a_millisecond_say_nothing_of_round_trips() -> None:
    close = {name: dict.fromkeys(range(5), 1.0 + 0.1 * number) for number, name in enumerate(DISTANCES)}
    assert fit(close, close) is None
