"""What a publication says in its favour counts where it says it, and no further."""

import pytest

from orchestrator.audit.examine import examine
from orchestrator.audit.model import AuditFile

ROW = {"name": "rest", "protocol": "rest", "samples": 1000, "min": 0.946, "mean": 2.167, "median": 2.075, "p99": 3.916}
FAST = ROW | {"throughput_per_s": 1200.0}


def accusations(**parts):
    found = examine(AuditFile.model_validate({"title": "t", **parts})).assessments
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


def test_far_more_than_was_offered_is_so_many_times_as_many():
    row = {"name": "a", "offered_per_s": 10.0, "delivered_per_s": 1737.0}
    claim = {"text": "all", "tests": [{"kind": "delivers-all", "rows": ["a"]}]}
    found = examine(AuditFile.model_validate({"title": "t", "results": [row], "claims": [claim]}))
    assert "174 times as many" in found.claims[0].arithmetic


FAR = ROW | {"placement": "far"}
PLACE = {"name": "far", "ping_ms": 88.1, "distance_km": 8_000}
NEAR = {"name": "far", "ping_ms": 0.5, "link_mbit": 100}
LARGE = ROW | {"placement": "far", "reply_bytes": 1_000_000}
TOTAL = ROW | {"samples": 9000, "duration_s": 10, "throughput_per_s": 500.0}
BUSY = ROW | {"concurrency": 10, "throughput_per_s": 12_000.0}
ORDERED = {"name": "a", "mean": 9.1, "median": 8.2, "p99": 41.7, "max": 40.2}
COARSE = {"name": "a", "mean": 20, "concurrency": 10, "throughput_per_s": 661.2}


@pytest.mark.parametrize(
    ("field", "note", "denied", "row", "place"),
    [
        ({"replies": "nearer"}, "an edge server answers", "nothing came from a cache", FAR, PLACE),
        ({"failures": "counted"}, "failed calls are counted", "failed calls are not counted", FAR, PLACE),
        ({"compressed": True}, "bodies are gzipped", "gzip was off", LARGE, NEAR),
        ({"clients": 3}, "three load generators", "one of the three generators was not used", BUSY, NEAR),
        (
            {"percentiles": {"source": "averaged"}},
            "averaged over two hosts",
            "never averaged over hosts",
            ORDERED,
            NEAR,
        ),
        ({"resolution_ms": 10}, "seconds with two decimals", "no hundredths of a second", COARSE, NEAR),
        ({"failures": "counted"}, "errors are included", "errors are never included", TOTAL, NEAR),
    ],
)
def test_an_honest_explanation_is_heard_as_a_field_and_in_words_and_not_where_it_is_denied(
    field, note, denied, row, place
):
    method = {"mode": "closed loop", "repeats": 1}
    assert accusations(placements=[place], stated=method, results=[row])
    assert not accusations(placements=[place], stated=method | field, results=[row])
    assert not accusations(placements=[place], stated=method | {"notes": [note]}, results=[row])
    assert accusations(placements=[place], stated=method | {"notes": [denied]}, results=[row])


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


@pytest.mark.parametrize("protocol", ["dns", "udp", "CoAP"])
def test_without_connections_there_is_none_to_open(protocol):
    row = {"name": "a", "placement": "far", "connection": "per-request", "mean": 89.9, "median": 89.4}
    assert accusations(placements=[PLACE], results=[row | {"protocol": "rest"}]) == {("round trips", "contradicted")}
    assert not accusations(placements=[PLACE], results=[row | {"protocol": protocol}])
    assert not accusations(placements=[PLACE], stated={"handshake": "saved"}, results=[row | {"protocol": "rest"}])


def test_what_wrk_corrects_still_belongs_together():
    row = {"name": "a", "mean": 8, "median": 4.1, "p90": 40, "p99": 61, "max": 90, "sd": 2.2, "samples": 50_000}
    assert accusations(stated={"tool": "wrk"}, results=[row]) == {("SD within its bounds", "impossible")}
    assert not accusations(stated={"corrected": True}, results=[row])


def test_a_page_cache_and_a_warm_one_are_not_on_the_way():
    for note in ("the page cache was warm", "caches were warm", "a warm cache"):
        assert accusations(placements=[PLACE], stated={"notes": [note]}, results=[FAR])


@pytest.mark.parametrize("note", ["pipelined not " * 17_000, "sd over over of of " * 12_000, "five aaaa " * 20_000])
def test_long_notes_are_read_to_their_end(note):
    """Each took minutes while every word was held against all words before it."""
    assert accusations(stated={"mode": "sequential", "notes": [note + " not pipelined"]}, results=[FAST])


def test_fewer_requests_than_rate_and_duration_are_no_fault():
    assert ("total against rate", "contradicted") in accusations(results=[TOTAL])
    assert not accusations(results=[TOTAL | {"samples": 3000}])
    assert not accusations(stated={"repeats": 2}, results=[TOTAL])


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
