"""What a publication says in its favour counts where it says it, and no further."""

import pytest

from orchestrator.audit.examine import examine
from orchestrator.audit.model import AuditFile

ROW = {"name": "rest", "protocol": "rest", "samples": 1000, "min": 0.946, "mean": 2.167, "median": 2.075, "p99": 3.916}
FAST = ROW | {"throughput_per_s": 1200.0}


def accusations(**parts):
    assessments = examine(AuditFile.model_validate({"title": "t", **parts})).assessments
    return {(f.rule, f.verdict) for f in assessments if f.verdict in ("contradicted", "impossible")}


@pytest.mark.parametrize(
    "stated",
    [
        {"mode": "sequential"},
        {"mode": "sequential", "notes": ["the rate is the median of five runs"]},
        {"mode": "sequential", "repeats": 1},
    ],
)
def test_one_in_flight_bounds_the_rate_where_no_runs_were_put_together(stated):
    assert accusations(stated=stated, results=[FAST]) == {("Little's law", "contradicted")}


@pytest.mark.parametrize(
    "stated",
    [
        {"mode": "sequential", "repeats": 5},
        {"mode": "sequential", "aggregate": "median of runs"},
        {"mode": "sequential", "spread": "runs"},
    ],
)
def test_runs_put_together_in_two_ways_are_left_open_where_they_are_stated(stated):
    assert not accusations(stated=stated, results=[FAST])


def test_no_round_trip_is_quicker_than_light_in_fibre():
    row = ROW | {"min": 22.06, "mean": 23.46, "median": 23.36, "p99": 25.48}
    impossible = {("distance", "impossible")}
    assert accusations(results=[row | {"distance_km": 16500}]) == impossible
    place = {"name": "sydney", "distance_km": 16500}
    assert accusations(placements=[place], results=[row | {"placement": "sydney"}]) == impossible
    assert not accusations(results=[row | {"distance_km": 2100}])
    assert accusations(results=[row | {"distance_km": 2500}]) == impossible


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


@pytest.mark.parametrize("stated", [{"mode": "open loop"}, {"mode": "closed loop"}])
def test_loads_of_one_stack_are_no_template_and_stacks_of_one_load_are(stated):
    shape = {"min": 0.62, "mean": 1.0, "median": 0.98, "sd": 0.21, "p95": 1.36, "p99": 1.49, "max": 1.71}
    rows = [
        {"name": f"r{n}", "samples": 5000, **{name: round(value * n * 3.1, 3) for name, value in shape.items()}}
        for n in (1, 2, 4, 8)
    ]
    loads = [row | {"protocol": "rest", "concurrency": n} for n, row in zip((16, 32, 64, 128), rows, strict=True)]
    stacks = [row | {"protocol": name, "concurrency": 16} for name, row in zip("abcd", rows, strict=True)]
    assert not accusations(stated=stated, results=loads)
    assert ("tail template", "contradicted") in accusations(stated=stated, results=stacks)


def test_pollers_of_several_periods_are_ramps_and_no_template():
    periods = (10.0, 50.0, 100.0, 500.0)
    shares = {"min": 0.001, "mean": 0.5, "median": 0.501, "sd": 0.288, "p95": 0.951, "p99": 0.99, "max": 1.0}
    rows = [
        {"name": f"r{p}", "protocol": f"p{p}", "samples": 5000, **{n: round(s * p, 3) for n, s in shares.items()}}
        for p in periods
    ]
    assert not accusations(stated={"mode": "open loop"}, results=rows)
