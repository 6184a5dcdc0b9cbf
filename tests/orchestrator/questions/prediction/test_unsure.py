"""What the fit of the cost model does not know: its intervals say how exactly cells tell the hosts' time and round trips."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from orchestrator.questions.prediction.fit import fit_all
from orchestrator.questions.prediction.judged import judged
from orchestrator.questions.prediction.shapes import Fit, Predicted
from tests.support.modelled import PACED_SIZES, Lab, Truth, paced, predicted, sealed_as_planned


def without(truth: Truth, lab: Lab, *places: tuple[float, int]) -> Fit:
    """The fit of a lab some of whose cells are kept from it."""
    cells = replace(lab, sealed=frozenset(places)).cells()
    found, refused = fit_all([truth.series], cells)
    assert refused == {}
    return found[0]


NOISY = Truth(opening=1, own=0.8, per_kb=0.003, windows=paced(1, 2.2, 9.3), noise=0.05, network_noise=0.004)
FEW = Lab((NOISY,), rtts=(1.0, 10.0, 30.0, 80.0), sizes=PACED_SIZES, blocks=3, rate=200.0)


def test_hosts_time_that_no_near_cell_tells_is_less_certain() -> None:
    with_near, without_near = without(NOISY, FEW), without(NOISY, FEW, (1.0, 20_000))
    assert without_near.unsure[1].hosts > 3 * with_near.unsure[1].hosts
    assert without_near.unsure[2].hosts == pytest.approx(with_near.unsure[2].hosts, rel=0.5)
    near, far = ([predicted(fit, rtt, 20_000, 200.0) for fit in (with_near, without_near)] for rtt in (1.0, 30.0))
    assert _width(near[1]) > 2 * _width(near[0])
    assert _width(far[1]) < 1.5 * _width(far[0])


def test_a_size_without_a_near_cell_leaves_the_intervals_of_the_others() -> None:
    """Its hosts' time is what is left of much longer ones: as a share of it, blocks may differ by any factor."""
    widths = [_width(predicted(without(NOISY, FEW, *sealed), 2.0, 100, 200.0)) for sealed in ((), ((1.0, 20_000),))]
    assert widths[1] < 1.5 * widths[0]


def _width(of: Predicted) -> float:
    return of.interval[1] / of.interval[0] - 1


@pytest.mark.parametrize("blocks", [3, 5])
def test_intervals_hold_for_cells_that_a_plan_seals_on_few_distances_and_sizes(blocks: int) -> None:
    covered = []
    for seed in range(20):
        lab = replace(FEW, seed=seed, blocks=blocks)
        cells = sealed_as_planned(lab.cells(), 0.2, seed)
        fits, _ = fit_all([NOISY.series], cells)
        found = judged(fits, cells)
        assert found is not None
        covered += [cell.is_covered for cell in found.cells]
    assert 0.82 <= np.mean(covered) <= 0.99, f"{np.mean(covered):.1%} of {len(covered)}"
