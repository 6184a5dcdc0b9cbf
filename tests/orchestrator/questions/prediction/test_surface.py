"""The grid of a decision map says of each place what `orch predict` says of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from orchestrator.questions.prediction.answer import Asked, answer
from orchestrator.questions.prediction.shapes import Modelled
from orchestrator.questions.prediction.surface import EVEN, NONE, UNSURE, Surface, round_surface, surface, ways
from tests.support.modelled import NEW, Lab, Truth, fitted

NEW_SETTING = "a new connection for each request"
STACKS = (
    Truth(name="rest"),
    Truth(name="grpc", own=0.4, per_kb=0.003),
    Truth(name="cbor", own=0.45, per_kb=0.0028),
)
NEW_STACKS = tuple(
    replace(truth, setting=NEW_SETTING, opening=1 + (truth.name == "grpc"), windows=NEW) for truth in STACKS
)


@pytest.fixture(scope="module")
def modelled() -> Modelled:
    return fitted(Lab(truths=(*STACKS, *NEW_STACKS), in_flight=(1, 8)))


def by_answer(modelled: Modelled, of: Surface, column: int, line: int) -> tuple[int, dict[str, float]]:
    """The code and the latencies that `answer` gives a place."""
    asked = Asked(
        rtt=float(of.rtts[column]),
        size=int(of.sizes[line]),
        rate_mbit=of.way.rate_mbit,
        connection=of.way.connection,
        in_flight=of.way.in_flight,
    )
    settings = answer(modelled, asked, of.way.matters).settings
    if not settings:
        return NONE, {}
    (setting,) = settings
    near = [row.predicted.series for row in setting.rows if row.standing != "slower"]
    bits = sum(1 << place for place, series in enumerate(of.series) if series.id in near)
    code = {"alone": NONE, "does not matter": EVEN}.get(setting.outcome, bits)
    code = UNSURE if code > 0 and len(near) == len(setting.rows) else code
    return code, {row.predicted.series: row.predicted.latency for row in setting.rows}


def require_alike(modelled: Modelled, of: Surface) -> None:
    random = np.random.default_rng(1)
    for column, line in zip(
        random.integers(of.rtts.size, size=40), random.integers(of.sizes.size, size=40), strict=True
    ):
        code, latencies = by_answer(modelled, of, column, line)
        assert of.codes[column, line] == code
        found = {series.id: of.latency[place, column, line] for place, series in enumerate(of.series)}
        assert {name: value for name, value in found.items() if not np.isnan(value)} == pytest.approx(latencies)
        if code not in (NONE,):
            assert (
                sum(values[:, column, line] for values in of.causes.values())
                == pytest.approx(of.latency[:, column, line], nan_ok=True)
                or not of.causes
            )


def test_every_place_is_what_predict_says_of_it(modelled: Modelled) -> None:
    found = ways(modelled, 0.1)
    assert [(way.setting, way.in_flight) for way in found] == [
        ("connections kept open", 1),
        ("connections kept open", 8),
        (NEW_SETTING, 1),
        (NEW_SETTING, 8),
    ]
    for way in found:
        require_alike(modelled, round_surface(way))


def test_beyond_twice_what_was_measured_of_a_stack_it_is_not_there() -> None:
    near = fitted(Lab(truths=STACKS[:1], rtts=(1.0, 5.0, 20.0)), is_sealed=False)
    far = fitted(Lab(truths=STACKS[1:2]), is_sealed=False)
    both = replace(near, series=(*near.series, *far.series), fits=(*near.fits, *far.fits))
    (way,) = ways(both, 0.1)
    of = surface(way, np.array([39.0, 45.0]), np.array([1_000.0]))
    assert not np.isnan(of.latency[:, 0]).any()
    assert of.codes[1, 0] == NONE
    assert np.isnan(of.apart[1, 0])
