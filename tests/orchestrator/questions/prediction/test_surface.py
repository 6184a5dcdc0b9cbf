"""The decision map, and what the fit of the cost model does not know."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from orchestrator.questions.prediction.answer import Row, answer
from orchestrator.questions.prediction.fit import fit_all
from orchestrator.questions.prediction.judged import judged
from orchestrator.questions.prediction.refusals import Reader
from orchestrator.questions.prediction.shapes import Fit, Modelled
from orchestrator.questions.prediction.surface import NONE, round_surface, surface, ways
from tests.support.modelled import NEW, PACED_SIZES, Lab, Truth, fitted, paced, predicted, sealed_at

READER = Reader(rtt=30.0, size=50_000, rate_mbit=1000.0)
NEW_SETTING = "a new connection for each request"
STACKS = (Truth(name="rest"), Truth(name="grpc", own=0.4, per_kb=0.003), Truth(name="cbor", own=0.45, per_kb=0.0028))
NEW_STACKS = tuple(
    replace(truth, setting=NEW_SETTING, opening=1 + (truth.name == "grpc"), windows=NEW) for truth in STACKS
)


@pytest.fixture(scope="module")
def modelled() -> Modelled:
    return fitted(Lab(truths=(*STACKS, *NEW_STACKS)))


def test_each_way_to_make_requests_has_a_map_whose_causes_add_up(modelled: Modelled) -> None:
    every = ways(modelled, 0.1)
    assert [way.setting for way in every] == ["connections kept open", NEW_SETTING]
    for way in every:
        grid = round_surface(way)
        assert sum(grid.causes.values()) == pytest.approx(grid.latency, nan_ok=True)


def test_the_stack_of_a_single_bit_is_ahead_and_where_all_are_within_the_margin_none_is(modelled: Modelled) -> None:
    far, near = (answer(modelled, replace(READER, rtt=rtt, size=100), 0.1).settings[0] for rtt in (150.0, 1.0))
    assert (far.outcome, far.winner, {row.standing for row in far.rows}) == (
        "does not matter",
        "",
        {"reference", "tie"},
    )
    assert [row.latency for row in near.rows] == sorted(row.latency for row in near.rows)
    assert near.rows[-1].standing == "slower"


def test_beyond_twice_what_was_measured_of_a_stack_it_is_not_there() -> None:
    near = fitted(Lab(truths=STACKS[:1], rtts=(1.0, 5.0, 20.0)), is_sealed=False)
    far = fitted(Lab(truths=STACKS[1:2]), is_sealed=False)
    both = replace(near, series=(*near.series, *far.series), fits=(*near.fits, *far.fits))
    (way,) = ways(both, 0.1)
    place = surface(way, np.array([39.0, 45.0]), np.array([1_000.0]))
    assert not np.isnan(place.latency[:, 0]).any()
    assert place.codes[1, 0] == NONE
    assert np.isnan(place.apart[1, 0])


def without(truth: Truth, lab: Lab, *places: tuple[float, int]) -> Fit:
    """The fit of a lab some of whose cells are kept from it."""
    cells = replace(lab, sealed=frozenset(places)).cells()
    fits, refused = fit_all([truth.series], cells)
    assert refused == {}
    return fits[0]


NOISY = Truth(opening=1, own=0.8, per_kb=0.003, windows=paced(1, 2.2, 9.3), noise=0.05, network_noise=0.004)
FEW = Lab((NOISY,), rtts=(1.0, 10.0, 30.0, 80.0), sizes=PACED_SIZES, blocks=3, rate=200.0)


def test_hosts_time_that_no_near_cell_tells_is_less_certain() -> None:
    with_near, without_near = without(NOISY, FEW), without(NOISY, FEW, (1.0, 20_000))
    assert without_near.unsure[1].hosts > 3 * with_near.unsure[1].hosts
    assert without_near.unsure[2].hosts == pytest.approx(with_near.unsure[2].hosts, rel=0.5)
    near, far = ([predicted(fit, rtt, 20_000, 200.0) for fit in (with_near, without_near)] for rtt in (1.0, 30.0))
    assert _width(near[1]) > 2 * _width(near[0])
    assert _width(far[1]) < 1.5 * _width(far[0])


def _width(row: Row) -> float:
    return row.interval[1] / row.interval[0] - 1


LAB = Lab(truths=(Truth(name="rest"), Truth(name="grpc", own=1.6)), rtts=(1.0, 5.0, 20.0, 50.0))


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
    (row,) = (row for setting in answer(modelled, READER, 0.1).settings for row in setting.rows if row.label == stack)
    low, high = row.interval
    return high / low - 1


def test_intervals_of_a_series_whose_sealed_cells_were_missed_are_wider() -> None:
    honest, off = fitted(LAB), with_sealed_off(0.08)
    assert off.judged is not None
    assert off.judged.widened["grpc connections kept open"] > 2
    assert width(off, "grpc") > 2 * width(honest, "grpc")
    assert width(off, "rest") < width(off, "grpc")
