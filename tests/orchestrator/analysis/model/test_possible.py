"""A model that travels in a summary is held against what a fit can leave; none that it leaves is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from orchestrator.analysis.model.answer import answer
from orchestrator.analysis.model.possible import require_possible
from orchestrator.analysis.model.refusals import Asked
from orchestrator.analysis.model.rivals import interpolation, one_round_trip
from orchestrator.analysis.model.shapes import INTERPOLATION, Modelled
from orchestrator.analysis.model.surface import ways
from orchestrator.shapes import decode_json
from tests.support.modelled import NEW, Lab, Truth, fitted

STACKS = {"rest", "grpc"}


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    new = Truth(name="grpc", opening=1, windows=NEW, setting="a new connection for each request")
    found: dict[str, Any] = json.loads(json.dumps(fitted(Lab(truths=(Truth(), new))).to_dict()))
    return found


def read(document: dict[str, Any]) -> Modelled:
    found: Modelled = decode_json(Modelled, document)
    return found


def changed(document: dict[str, Any], path: tuple[Any, ...], value: object) -> Modelled:
    copy = holder = json.loads(json.dumps(document))
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    return read(copy)


def test_what_a_fit_leaves_is_possible(document: dict[str, Any]) -> None:
    require_possible(read(document), STACKS)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("series", 0, "stack"), "another"),
        (("fits", 0, "in_flight_range"), [1, 10**18]),
        (("fits", 0, "in_flight_range"), [0, 1]),
        (("fits", 0, "rtt_range"), [0.0, 1.0]),
        (("fits", 0, "rtt_range"), [-5.0, 1.0]),
        (("fits", 0, "rtt_range"), [2.0, 1.0]),
        (("fits", 0, "size_range"), [1.0, 1e308]),
        (("fits", 0, "rate_range"), [0.0, 0.0]),
        (("fits", 0, "sizes"), []),
        (("fits", 0, "sizes"), [5, 4, 3, 2, 1]),
        (("fits", 0, "hosts"), [1e308] * 5),
        (("fits", 0, "hosts"), [1.0]),
        (("fits", 0, "by_block"), []),
        (("fits", 0, "by_block"), [[1.0]]),
        (("fits", 0, "freedom"), 0.0),
        (("fits", 0, "opening"), 10**9),
        (("fits", 0, "windows", "growth"), 0.0),
        (("fits", 0, "windows", "rounds"), [[2.0, 1.0], [1.0, 1.0]]),
        (("fits", 0, "cells"), []),
        (("fits", 0, "cells", 0, "rtt"), []),
        (("fits", 0, "cells", 0, "median"), [0.0] * 5),
        (("fits", 0, "series", "label"), "of another series"),
        (("judged", "cells"), []),
        (("judged", "cells", 0, "measured"), 0.0),
        (("judged", "cells", 0, "in_flight"), 10**9),
        (("judged", "cells", 0, "series"), "another"),
        (("judged", "cells", 0, "errors"), {}),
        (("judged", "scores"), []),
        (("not_fitted",), {"another": "why"}),
    ],
)
def test_what_no_fit_leaves_is_refused(document: dict[str, Any], path: tuple[Any, ...], value: object) -> None:
    forged = changed(document, path, value)
    with pytest.raises(ValueError, match="prediction: "):
        require_possible(forged, STACKS)


def test_an_error_of_any_size_leaves_an_interval_of_numbers(document: dict[str, Any]) -> None:
    """Of a stack none of whose cells is sealed, all errors count; one of 80,000 % is beyond every exponential."""
    judged = {
        **document["judged"],
        "used": INTERPOLATION,
        "by_series": {},
        "cells": [
            {**cell, "series": "rest connections kept open", "errors": dict.fromkeys(cell["errors"], 1e4)}
            for cell in document["judged"]["cells"]
        ],
    }
    found = answer(changed(document, ("judged",), judged), Asked(rtt=30.0, size=10_000), 0.1)
    assert found.settings
    json.dumps(found.to_dict(), allow_nan=False)


def test_of_many_numbers_in_flight_there_are_maps_of_a_few(document: dict[str, Any]) -> None:
    cells = [{**cell, "in_flight": n} for n, cell in enumerate(document["judged"]["cells"] * 3, start=2)]
    forged = json.loads(json.dumps({**document, "judged": {**document["judged"], "cells": cells, "by_series": {}}}))
    for fit in forged["fits"]:
        fit["in_flight_range"] = [1, 10_000]
    found = [way.in_flight for way in ways(read(forged), 0.1) if way.connection == "reuse"]
    assert len(found) <= 8
    assert found[0] == 1
    assert found[-1] == 10_000


def test_rivals_say_a_latency_of_every_payload(document: dict[str, Any]) -> None:
    cells = read(document).fits[0].cells
    for rival in (interpolation, one_round_trip):
        assert rival(cells, 30.0, 0) > 0
    forged = changed(document, ("fits", 0, "cells", 0, "median"), [1e-3] * 5).fits[0].cells
    assert one_round_trip(forged, 1.0, 50) > 0
