"""What a publication says in its favour counts where it says it, and no further."""

import pytest

from orchestrator.audit.examine import examine
from orchestrator.audit.model import AuditFile

ROW = {"name": "rest", "protocol": "rest", "samples": 1000, "min": 0.946, "mean": 2.167, "median": 2.075, "p99": 3.916}


def accusations(**parts):
    assessments = examine(AuditFile.model_validate({"title": "t", **parts})).assessments
    return {(f.rule, f.verdict) for f in assessments if f.verdict in ("contradicted", "impossible")}


FAR = ROW | {"placement": "far"}
PLACE = {"name": "far", "ping_ms": 88.1, "distance_km": 8_000}
NEAR = {"name": "far", "ping_ms": 0.5, "link_mbit": 100}
LARGE = ROW | {"placement": "far", "reply_bytes": 1_000_000}
BUSY = ROW | {"concurrency": 10, "throughput_per_s": 12_000.0}
ORDERED = {"name": "a", "mean": 9.1, "median": 8.2, "p99": 41.7, "max": 40.2}
COARSE = {"name": "a", "mean": 20, "concurrency": 10, "throughput_per_s": 661.2}


@pytest.mark.parametrize(
    ("field", "row", "place"),
    [
        ({"replies": "nearer"}, FAR, PLACE),
        ({"failures": "counted"}, FAR, PLACE),
        ({"compressed": True}, LARGE, NEAR),
        ({"clients": 3}, BUSY, NEAR),
        ({"pipelined": True}, BUSY, NEAR),
        ({"percentiles": {"source": "averaged"}}, ORDERED, NEAR),
        ({"resolution_ms": 10}, COARSE, NEAR),
    ],
)
def test_an_honest_explanation_is_read_from_its_field_and_not_from_notes(field, row, place):
    method = {"mode": "closed loop", "repeats": 1}
    assert accusations(placements=[place], stated=method, results=[row])
    assert not accusations(placements=[place], stated=method | field, results=[row])
    words = "cached, failures counted, gzip, three load generators, pipelined, averaged percentiles, whole seconds"
    assert accusations(placements=[place], stated=method | {"notes": [words]}, results=[row])


@pytest.mark.parametrize("explanation", [{"links": 2}, {"clients": 2}, {"medium": "radio"}])
def test_an_explanation_reaches_as_far_as_its_figures_do(explanation):
    rate = ROW | {"placement": "far", "reply_bytes": 10_000, "throughput_per_s": 2200.0}
    light = FAR | {"min": 40.1, "mean": 60.1, "median": 60.0, "p99": 70.2}
    row, place = (light, PLACE | {"ping_ms": 60.5}) if "medium" in explanation else (rate, NEAR)
    beyond = {"throughput_per_s": 22_000.0} if row is rate else {"mean": 41.1, "median": 41.0, "p99": 43.1}
    assert accusations(placements=[place], results=[row])
    assert not accusations(
        placements=[place], stated=explanation, results=[row | {"min": 60.0} if row is light else row]
    )
    assert accusations(placements=[place], stated=explanation, results=[row | beyond])
