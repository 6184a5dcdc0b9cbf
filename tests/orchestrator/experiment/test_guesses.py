"""What people write without looking it up is understood."""

from __future__ import annotations

import jsonschema
import pytest
import yaml

from orchestrator.experiment.model.json_schema import json_schema
from orchestrator.experiment.plan.planning import make_plan
from tests.support.experiments import MINIMAL, Write


def test_versions_of_http_may_be_numbers(write: Write) -> None:
    stack = "{protocol: http+json, responder: asgi-granian, client: pycurl-multi, http: [1.1, 2]}"
    plan = make_plan(write(f"name: x\nquestion: Which?\nstacks: {stack}\noperations: add\nrepeats: 1\n"))
    assert {cell.factors["http"] for cell in plan.cells} == {"1.1", "2"}


@pytest.mark.parametrize(("written", "rtts"), [("80ms", {80.0}), ("[1ms, 80ms]", {1.0, 80.0})])
def test_a_distance_may_be_its_round_trip_alone(write: Write, written: str, rtts: set[float]) -> None:
    text = f"{MINIMAL}provider: lab\nmachine: lab\ndistance: {written}\n"
    assert {place.link.rtt_ms for place in make_plan(write(text)).placements} == rtts
    jsonschema.validate(yaml.safe_load(text), json_schema())


def test_true_is_no_version_of_http(write: Write) -> None:
    with pytest.raises(Exception, match=r"'true' is not one of 1\.1, 2, 3"):
        make_plan(write(f"{MINIMAL}http: true\n"))
