"""How a wanted distance becomes what happens to packets."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from orchlab import paths
from orchlab.paths import End, Wanted


def end(name: str, zone: str) -> End:
    return End(name=name, netns=f"orch-x-{name}", address="198.18.0.10", zone=zone, role="both")


def test_a_link_counts_in_both_directions() -> None:
    table = paths.wanted_by_zones([{"from_zone": "us-west1-a", "to_zone": "us-central1-a", "rtt_ms": 35}])
    assert table == {("us-central1-a", "us-west1-a"): Wanted(rtt_ms=35)}


def test_half_a_round_trip_each_way_less_half_the_links_own_share() -> None:
    way = paths.one_way(Wanted(rtt_ms=35, jitter_ms=4, rate_mbit=100, loss=0.01), bias_ms=0.6)
    assert way.delay_ns == 17_200_000
    assert way.jitter_ns == 2_000_000
    assert way.ns_per_byte == 80.0
    assert way.loss == 0.01


@given(st.floats(0, 1000), st.floats(0, 1), st.floats(-5, 1000), st.floats(0.1, 10_000))
def test_no_packet_arrives_before_it_was_sent(rtt_ms: float, jitter: float, bias_ms: float, rate_mbit: float) -> None:
    way = paths.one_way(Wanted(rtt_ms=rtt_ms, jitter_ms=jitter * rtt_ms, rate_mbit=rate_mbit), bias_ms=bias_ms)
    assert way.delay_ns >= way.jitter_ns >= 0
    assert way.queue_packets >= 1


def test_one_pair_of_hosts_speaks_for_each_pair_of_zones() -> None:
    a, b, c = end("a", "near"), end("b", "near"), end("c", "far")
    assert paths.representatives([a, b, c]) == {("near", "near"): (a, b), ("far", "near"): (a, c)}


def test_no_two_requesters_speak_for_their_zones() -> None:
    asks, also = (replace(end(name, name), role="requester") for name in ("a", "b"))
    answers = replace(end("c", "c"), role="responder")
    assert set(paths.representatives([asks, also, answers])) == {("a", "c"), ("b", "c")}


@pytest.mark.parametrize(
    ("achieved_ms", "wanted_ms", "near"),
    [
        (0.5, 0.0, True),
        (0.51, 0.0, False),
        (10.5, 10.0, True),
        (36.75, 35.0, True),
        (36.8, 35.0, False),
        (33.0, 35.0, False),
    ],
)
def test_near_is_five_percent_or_half_a_millisecond(achieved_ms: float, wanted_ms: float, near: bool) -> None:
    assert paths.is_near(achieved_ms, wanted_ms) is near


def test_initial_windows_are_set_on_the_routes_of_both_ends_that_ask_for_one() -> None:
    ends = [
        paths.End(name=name, netns=f"orch-x-{name}", address=f"198.18.0.1{place}", zone=zone, role="both")
        for place, (name, zone) in enumerate((("a", "z"), ("b", "y"), ("c", "x")))
    ]
    links = [
        {"from_zone": "z", "to_zone": "y", "rtt_ms": 10, "initial_window": 20},
        {"from_zone": "z", "to_zone": "x", "rtt_ms": 10, "initial_window": None},
    ]
    table = paths.wanted_by_zones(links)
    assert [" ".join(command) for command in paths.initial_windows(ends, table)] == [
        "ip -n orch-x-a route replace 198.18.0.11/32 dev wan0 initcwnd 20",
        "ip -n orch-x-b route replace 198.18.0.10/32 dev wan0 initcwnd 20",
    ]
    assert paths.to_dict(table["y", "z"])["initial_window"] == 20
    assert "initial_window" not in paths.to_dict(table["x", "z"])
