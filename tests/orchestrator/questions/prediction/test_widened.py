"""Where sealed cells lie farther off than their intervals say, what is predicted elsewhere says so too."""

from __future__ import annotations

from dataclasses import replace

import pytest

from orchestrator.questions.prediction.answer import Asked, answer
from orchestrator.questions.prediction.fit import fit_all
from orchestrator.questions.prediction.judged import judged
from orchestrator.questions.prediction.shapes import Modelled
from tests.support.modelled import Lab, Truth, fitted, sealed_at

LAB = Lab(truths=(Truth(name="rest"), Truth(name="grpc", own=1.6)), rtts=(1.0, 5.0, 20.0, 50.0))
ASKED = Asked(rtt=30.0, size=50_000, rate_mbit=1000.0)


def with_sealed_off(by: float, stack: str = "grpc") -> Modelled:
    """A model whose sealed cells of one stack took longer by this share than what was fitted lets expect."""
    cells = [
        replace(cell, median=tuple(value * (1 + by) for value in cell.median))
        if cell.is_sealed and cell.cell.startswith(stack)
        else cell
        for cell in sealed_at(LAB.cells(), 0.2, 1)
    ]
    series = tuple(truth.series for truth in LAB.truths)
    fits, not_fitted = fit_all(series, cells)
    return Modelled(series=series, fits=fits, judged=judged(fits, cells, 0.1), refusals=(), not_fitted=not_fitted)


def width(modelled: Modelled, stack: str) -> float:
    """How many times its lower end the upper end of an interval is, between what was measured."""
    (row,) = (
        row for setting in answer(modelled, ASKED, 0.1).settings for row in setting.rows if row.predicted.label == stack
    )
    low, high = row.predicted.interval
    return high / low - 1


def test_intervals_of_a_series_whose_sealed_cells_were_missed_are_wider() -> None:
    honest, off = fitted(LAB), with_sealed_off(0.08)
    assert off.judged is not None
    assert off.judged.widened["grpc connections kept open"] > 2
    assert width(off, "grpc") > 2 * width(honest, "grpc")
    assert width(off, "rest") < width(off, "grpc")


@pytest.mark.parametrize("seed", range(5))
def test_chance_alone_widens_little(seed: int) -> None:
    found = fitted(replace(LAB, seed=seed))
    assert found.judged is not None
    assert all(1 <= times < 1.5 for times in found.judged.widened.values()), found.judged.widened
