"""Changes in a balanced matrix: on logs whose decomposition is known, and by simulation."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import language_effects as simulated
from orchestrator.questions.languages.estimates import decompose

RUNS = 300


def without_noise(blocks: int = 4) -> np.ndarray:
    """Protocol, responder and requester add 0.3, 0.2 and 0.1 either way, and both languages together another 0.05."""
    signs = np.array([-1.0, 1.0])
    p, r, q = signs[:, None, None], signs[None, :, None], signs[None, None, :]
    cells = 0.3 * p + 0.2 * r + 0.1 * q + 0.05 * r * q
    return np.array([cells + block for block in range(blocks)])  # what a whole block has in common cancels


def test_of_logs_without_noise_the_changes_are_exact() -> None:
    parts = decompose(without_noise())
    assert parts is not None
    assert parts.variance.value == pytest.approx(0.09 + 0.04 + 0.01 + 0.0025)
    assert [change.value for change in parts.changes] == pytest.approx([0.36, 0.16, 0.04])
    assert parts.beyond(1, 0).value == pytest.approx(-0.2 / (2 * 0.1425))


@pytest.mark.parametrize(
    ("logs", "why"),
    [
        (np.zeros((2, 2, 2)), "two blocks"),
        (np.random.default_rng(1).normal(size=(5, 1, 3)), "a factor of one level"),
        (np.zeros((5,)), "no factor"),
    ],
)
def test_nothing_is_known_of(logs: np.ndarray, why: str) -> None:
    assert decompose(logs) is None, why


def test_a_matrix_with_gaps_is_refused() -> None:
    logs = without_noise()
    logs[1, 0, 1, 0] = np.nan
    with pytest.raises(ValueError, match="gaps"):
        decompose(logs)


@pytest.mark.parametrize("noise", ["even", "uneven", "together"])
def test_intervals_hold_the_truth_as_often_as_they_say(noise: str) -> None:
    """With 300 runs the share that holds it has an SD of 1.3 points (docs/validation/language-effects.csv)."""
    assert 0.89 <= simulated.coverage(simulated.MIXED, blocks=3, noise=noise, sd=0.1, runs=RUNS) <= 0.99


@pytest.mark.parametrize("noise", ["even", "two groups"])
def test_where_nothing_matters_nothing_is_claimed(noise: str) -> None:
    claims = simulated.claims(simulated.NOTHING, blocks=5, noise=noise, sd=0.1, runs=RUNS)
    assert claims.apart <= 0.03
    assert max(claims.responder_more, claims.responder_less, claims.requester_more, claims.requester_less) <= 0.01


def test_what_matters_is_detected() -> None:
    """The responder's language does more than the protocol, the requester's less; both less where the protocol is all."""
    both = simulated.claims(simulated.MIXED, blocks=10, noise="even", sd=0.03, runs=100)
    assert (both.responder_more, both.responder_less) == (1.0, 0.0)
    assert (both.requester_more, both.requester_less) == (0.0, 1.0)
    alone = simulated.claims(simulated.ALONE, blocks=5, noise="even", sd=0.1, runs=100)
    assert (alone.responder_more, alone.requester_more) == (0.0, 0.0)
    assert min(alone.responder_less, alone.requester_less) >= 0.95
