"""The cost model on cells whose truth is known: parameters come back, and what does not fit is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from orchestrator.questions.prediction.fit import fit_all
from orchestrator.questions.prediction.judged import judged
from orchestrator.questions.prediction.network import Grid, waits_ms
from orchestrator.questions.prediction.shapes import Fit, ModelCell, Windows
from orchestrator.questions.prediction.words import why
from tests.support.modelled import FIRST, KEPT, NEW, SIZES, Lab, Truth, predicted, sealed_at

REST = Truth()
REST_NEW = Truth(opening=1, windows=NEW, own=1.2, setting="a new connection for each request")
GRPC_NEW = replace(REST_NEW, name="grpc", opening=2, known=(1, 2), own=1.0)
HELD = Truth(name="h2", windows=Windows(first=None, growth=2.0, steady=65_536.0, is_stepped=True))


def fitted(truth: Truth, **lab: object) -> Fit:
    fits, refused = fit_all([truth.series], Lab((truth,), **lab).cells())  # type: ignore[arg-type]
    assert refused == {}
    return fits[0]


def why_not(truth: Truth, cells: list[ModelCell]) -> str:
    fits, refused = fit_all([truth.series], cells)
    assert fits == ()
    return why(refused[truth.series.id])


# ---- the network


@pytest.mark.parametrize(("segments", "rounds"), [(10, 0), (11, 1), (30, 1), (31, 2), (70, 2), (71, 3), (150, 3)])
def test_slow_start_doubles_in_each_round_trip(segments: int, rounds: int) -> None:
    size = segments * FIRST / 10
    assert float(waits_ms(size, 50.0, np.inf, Grid.of(NEW))) == pytest.approx(50.0 * rounds)


# ---- the fit


@pytest.mark.parametrize("truth", [REST, REST_NEW, GRPC_NEW, HELD], ids=lambda truth: f"{truth.name}-{truth.opening}")
def test_without_noise_the_truth_comes_back(truth: Truth) -> None:
    exact = replace(truth, noise=1e-6, network_noise=1e-6)
    fit = fitted(exact)
    assert fit.opening == truth.opening
    for rtt, size in ((3.0, 500.0), (70.0, 40_000.0), (150.0, 900_000.0)):
        exactly = float(truth.latency(np.array(rtt), size))
        assert predicted(fit, rtt, size, 1000.0).latency == pytest.approx(exactly, rel=0.01)


def test_round_trips_that_no_windows_describe_are_taken_as_they_are() -> None:
    """As a control that paces what it sends: 1.9 round trips for 20 kB, 2.3 for 300 kB, whatever the link has besides."""
    paced = Windows(
        first=None,
        growth=2.0,
        steady=None,
        is_stepped=True,
        rounds=((200.0, 1.0), (15_000.0, 1.0), (21_000.0, 1.9), (312_000.0, 2.3), (1_100_000.0, 3.1)),
    )
    truth = Truth(windows=paced)
    cells = sealed_at(Lab((truth,), sizes=(100, 20_000, 300_000, 1_000_000)).cells(), 0.15, 3)
    fits, refused = fit_all([truth.series], cells)
    assert refused == {}
    assert [trips for _, trips in fits[0].windows.rounds] == pytest.approx([1.0, 1.0, 1.9, 2.3, 3.1], rel=0.02)
    judgement = judged(fits, cells)
    assert judgement is not None
    assert judgement.p90 < 0.03
    small = predicted(fits[0], 60.0, 10_000, 1000.0)  # within the first window: nothing waits
    assert small.latency == pytest.approx(float(truth.latency(np.array(60.0), 10_000)), rel=0.02)


PACED = Truth(
    windows=replace(KEPT, rounds=((200.0, 1.0), (15_000.0, 1.0), (21_000.0, 1.9), (312_000.0, 2.3), (1_100_000.0, 3.1)))
)


@pytest.mark.parametrize("size", [30_000.0, 300_000.0, 1_900_000.0])
def test_round_trips_between_two_sizes_are_as_unsure_as_those_sizes_leave_them(size: float) -> None:
    """Between 10 kB and 100 kB round trips may grow anywhere: the interval holds a step as it holds a slope."""
    fit = fitted(PACED)
    assert fit.windows.rounds
    between = predicted(fit, 40.0, size, 1000.0)
    assert between.interval[0] <= float(PACED.latency(np.array(40.0), size)) <= between.interval[1]
    seen = predicted(fit, 40.0, 100_000.0, 1000.0)
    assert between.interval[1] / between.interval[0] - 1 > 3 * (seen.interval[1] / seen.interval[0] - 1)


# ---- sealed cells


def test_the_model_meets_sealed_cells_where_windows_and_distance_decide() -> None:
    truths = (REST, REST_NEW, GRPC_NEW)
    cells = sealed_at(Lab(truths).cells(), 0.2, 1)
    fits, _ = fit_all([truth.series for truth in truths], cells)
    judgement = judged(fits, cells)
    assert judgement is not None
    assert judgement.median < 0.01
    assert judgement.winners[0] == judgement.winners[1] > 0
    assert len(judgement.cells) == 15
    assert all(cell.is_sealed for cell in cells if cell.size == max(SIZES) and np.mean(cell.rtt) > 99)


# ---- what is refused


def test_too_few_payloads_are_refused_with_what_to_add() -> None:
    reason = why_not(REST, Lab((REST,), sizes=(100, 1_000)).cells())
    assert reason.startswith("2 payloads (100 B and 1,000 B) of at least 3 that are not held out: add sizes")


def test_too_few_distances_are_refused_with_what_to_add() -> None:
    reason = why_not(REST, Lab((REST,), rtts=(1.0, 50.0)).cells())
    assert "2 distances (" in reason
    assert "of at least 3 for the smallest payload" in reason
    assert "add them to `distance`" in reason


def test_more_round_trips_than_the_protocol_needs_are_refused() -> None:
    slow = replace(REST, opening=2, known=(0, 0))
    assert "takes 3.0" in (reason := why_not(slow, Lab((slow,)).cells()))
    assert "known to need 1" in reason


def test_two_links_with_different_windows_are_refused() -> None:
    """What passes over 50 ms has a window of 64 KiB, over the other links none."""
    free, held = Lab((REST,)).cells(), Lab((replace(HELD, name="rest"),)).cells()
    mixed = [theirs if "50ms" in theirs.placement else mine for mine, theirs in zip(free, held, strict=True)]
    reason = why_not(REST, mixed)
    assert "1.00 MB over distance-50ms" in reason
    assert "different windows" in reason


# ---- many simulated runs


@pytest.mark.slow
@pytest.mark.timeout(600)  # a minute of CPU time, beside other tests
@pytest.mark.parametrize(("blocks", "drift"), [(3, 0.03), (5, 0.0)])
def test_intervals_cover_what_they_promise(blocks: int, drift: float) -> None:
    truths = (REST, REST_NEW, GRPC_NEW, HELD)
    covered = []
    for seed in range(100):
        cells = sealed_at(Lab(truths, seed=seed, blocks=blocks, drift=drift).cells(), 0.2, seed)
        fits, refused = fit_all([truth.series for truth in truths], cells)
        assert refused == {}
        judgement = judged(fits, cells)
        assert judgement is not None
        covered += [cell.is_covered for cell in judgement.cells]
    assert 0.85 <= np.mean(covered) <= 0.95
