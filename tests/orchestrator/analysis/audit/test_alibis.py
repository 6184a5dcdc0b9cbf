"""What a publication says in its favour counts where it says it, and no further."""

import pytest

from orchestrator.analysis.audit.examine import examine
from orchestrator.analysis.audit.model import AuditFile

ROW = {"name": "rest", "protocol": "rest", "samples": 1000, "min": 0.946, "mean": 2.167, "median": 2.075, "p99": 3.916}
FAST = ROW | {"throughput_per_s": 1200.0}


def accusations(**parts):
    found = examine(AuditFile.model_validate({"title": "t", **parts})).findings
    return {(f.rule, f.verdict) for f in found if f.verdict in ("contradicted", "impossible")}


@pytest.mark.parametrize(
    "stated",
    [
        {"mode": "sequential"},
        {"mode": "sequential", "notes": ["one run of ten seconds"]},
        {"mode": "sequential", "notes": ["not an average of five runs"]},
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
        {"mode": "sequential", "notes": ["the mean is of all requests, the rate the median of five runs"]},
    ],
)
def test_runs_put_together_in_two_ways_are_left_open_where_they_are_stated(stated):
    assert not accusations(stated=stated, results=[FAST])


@pytest.mark.parametrize(
    "note",
    [
        "we did not use pipelining or batches",
        "No batching.",
        "without multiplexing",
        "Pipelining was disabled",
        "batches were not used",
        "latencies are not corrected for coordinated omission",
    ],
)
def test_denied_words_are_no_alibi(note):
    row = ROW | {"throughput_per_s": 9000.0, "concurrency": 10}
    assert accusations(stated={"mode": "closed loop", "notes": [note]}, results=[row])


@pytest.mark.parametrize(
    "note",
    [
        "requests are pipelined",
        "We did not tune the kernel; requests go out in batches",
        "not only pipelining but multiplexing, too",
        "corrected for coordinated omission",
    ],
)
def test_words_that_stand_count(note):
    row = ROW | {"throughput_per_s": 9000.0, "concurrency": 10}
    assert not accusations(stated={"mode": "closed loop", "notes": [note]}, results=[row])


def test_no_round_trip_is_quicker_than_light_in_fibre():
    row = ROW | {"min": 22.06, "mean": 23.46, "median": 23.36, "p99": 25.48}
    impossible = {("distance", "impossible")}
    assert accusations(results=[row | {"distance_km": 16500}]) == impossible
    place = {"name": "sydney", "distance_km": 16500}
    assert accusations(placements=[place], results=[row | {"placement": "sydney"}]) == impossible
    assert not accusations(results=[row | {"distance_km": 2100}])
    assert accusations(results=[row | {"distance_km": 2500}]) == impossible


def test_a_ping_below_light_in_fibre_is_impossible_whatever_the_replies_took():
    row = ROW | {"min": 162.0, "mean": 165.0, "median": 164.0, "p99": 170.0, "placement": "far"}
    place = {"name": "far", "distance_km": 16500, "ping_ms": 21.3}
    assert ("distance", "impossible") in accusations(placements=[place], results=[row])
    assert not accusations(placements=[place | {"ping_ms": 161.9}], results=[row])


def test_a_row_copied_to_another_operation_is_found():
    copied = [ROW | {"operation": "add"}, ROW | {"name": "image", "operation": "image"}]
    assert accusations(results=copied) == {("repeated figures", "contradicted")}


@pytest.mark.parametrize(("one", "two", "accused"), [(1.03, 1.0, True), (20.6, 20.0, True), (1.0, 0.9, False)])
def test_zeros_at_the_end_are_digits_as_far_as_the_column_has_them(one, two, accused):
    rows = [{"name": "a", "mean": one}, {"name": "b", "mean": two}]
    claim = {"text": "9 %", "tests": [{"kind": "faster", "pairs": [["b", "a"]], "percent": [9, 9]}]}
    assert bool(accusations(results=rows, claims=[claim])) == accused


def test_three_significant_digits_are_no_decimals_of_large_figures():
    rows = [{"name": "a", "mean": 160.0}, {"name": "b", "mean": 150.0}, {"name": "c", "mean": 1.03}]
    claim = {"text": "7 %", "tests": [{"kind": "faster", "pairs": [["b", "a"]], "percent": [6, 6]}]}
    assert not accusations(results=rows, claims=[claim])


def test_more_than_was_offered_is_not_called_missing():
    row = {"name": "a", "offered_per_s": 1000.0, "delivered_per_s": 1008.0}
    claim = {"text": "all", "tests": [{"kind": "delivers-all", "rows": ["a"]}]}
    found = examine(AuditFile.model_validate({"title": "t", "results": [row], "claims": [claim]}))
    assert "0.8% more" in found.claims[0].arithmetic
