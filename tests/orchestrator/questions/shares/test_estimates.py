"""Shares of a balanced matrix: on logs whose decomposition is known, and by simulation."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import shares as simulated
from benchmarks.shares import PROTOCOL, REQUESTER, RESPONDER
from orchestrator.questions.shares.estimates import Effect, decompose

RUNS = 300
PRODUCT = RESPONDER | REQUESTER


def without_noise(blocks: int = 4) -> np.ndarray:
    """Protocol, responder and requester add 0.3, 0.2 and 0.1 either way, and both languages together another 0.05."""
    signs = np.array([-1.0, 1.0])
    p, r, q = signs[:, None, None], signs[None, :, None], signs[None, None, :]
    cells = 0.3 * p + 0.2 * r + 0.1 * q + 0.05 * r * q
    return np.array([cells + block for block in range(blocks)])  # what a whole block has in common cancels


def test_of_logs_without_noise_the_shares_are_exact() -> None:
    found = decompose(without_noise())
    assert found is not None
    total = 0.09 + 0.04 + 0.01 + 0.0025
    true: dict[Effect, float] = {PROTOCOL: 0.09, RESPONDER: 0.04, REQUESTER: 0.01, PRODUCT: 0.0025}
    assert found.variance.value == pytest.approx(total)
    for effect in found.effects:
        assert found.share([effect]).value == pytest.approx(true.get(effect, 0.0) / total, abs=1e-12)
    assert found.share([RESPONDER, REQUESTER, PRODUCT]).value == pytest.approx(0.0525 / total)


def test_shares_add_up_to_one_whatever_the_noise() -> None:
    logs = np.random.default_rng(1).normal(size=(5, 2, 3, 4)) + np.random.default_rng(2).normal(size=(2, 3, 4))
    found = decompose(logs)
    assert found is not None
    assert [len(effect) for effect in found.effects] == [1, 1, 1, 2, 2, 2, 3]
    assert sum(found.share([effect]).value for effect in found.effects) == pytest.approx(1.0)
    everything = found.share(found.effects)
    assert everything.value == pytest.approx(1.0)
    assert everything.se == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    ("logs", "why"),
    [
        (np.zeros((2, 2, 2)), "two blocks"),
        (np.random.default_rng(1).normal(size=(5, 1, 3)), "a factor of one level"),
        (np.zeros((5,)), "no factor"),
    ],
)
def test_nothing_is_told_of(logs: np.ndarray, why: str) -> None:
    assert decompose(logs) is None, why


def test_a_matrix_with_gaps_is_refused() -> None:
    logs = without_noise()
    logs[1, 0, 1, 0] = np.nan
    with pytest.raises(ValueError, match="gaps"):
        decompose(logs)


@pytest.mark.parametrize(("noise", "sd"), [("even", 0.1), ("uneven", 0.1), ("together", 0.1)])
@pytest.mark.parametrize(
    "blocks", [3, pytest.param(5, marks=pytest.mark.slow), pytest.param(10, marks=pytest.mark.slow)]
)
def test_intervals_hold_the_truth_as_often_as_they_say(noise: str, sd: float, blocks: int) -> None:
    """With 300 runs the share of 95 % intervals that hold the truth has an SD of 1.3 points (docs/validation/shares.csv)."""
    found = simulated.coverage(simulated.MIXED, blocks=blocks, noise=noise, sd=sd, runs=RUNS)
    assert 0.89 <= found.least <= found.greatest <= 0.99
    assert 0.89 <= found.difference <= 0.99
    assert abs(found.bias) < 0.02


def test_chance_is_no_factors_share() -> None:
    """The textbook's sum of squares gives interactions of nothing a share; this gives them none on average."""
    found = simulated.coverage(simulated.ALONE, blocks=3, noise="even", sd=0.1, runs=RUNS)
    assert found.absent is not None
    assert found.absent >= 0.95
    assert abs(found.bias) < 0.01


@pytest.mark.parametrize("noise", ["even", "two groups"])
def test_where_nothing_matters_nothing_is_claimed(noise: str) -> None:
    found = simulated.claims(simulated.NOTHING, blocks=5, noise=noise, sd=0.1, runs=RUNS)
    assert found.apart <= 0.03
    assert max(found.responder_more, found.responder_less, found.requester_more, found.requester_less) <= 0.01


def test_what_matters_is_found() -> None:
    """The responder's language does more than the protocol, the requester's less; both less where the protocol is all."""
    both = simulated.claims(simulated.MIXED, blocks=10, noise="even", sd=0.03, runs=100)
    assert (both.responder_more, both.responder_less) == (1.0, 0.0)
    assert (both.requester_more, both.requester_less) == (0.0, 1.0)
    alone = simulated.claims(simulated.ALONE, blocks=5, noise="even", sd=0.1, runs=100)
    assert (alone.responder_more, alone.requester_more) == (0.0, 0.0)
    assert min(alone.responder_less, alone.requester_less) >= 0.95
