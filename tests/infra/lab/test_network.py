"""Networks of a lab and its user-space link."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from orchlab import layout, network, paths
from orchlab.emulator import Direction
from orchlab.errors import LabError
from orchlab.paths import End, Wanted


@pytest.fixture
def own_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "orch-lab"
    monkeypatch.setattr(layout, "ROOT", root)
    return root


def test_networks_fill_the_range_set_aside_for_benchmarks() -> None:
    assert network.prefix(0) == "198.18.0"
    assert network.prefix(255) == "198.18.255"
    assert network.prefix(256) == "198.19.0"
    assert network.prefix(511) == "198.19.255"


@given(st.text("abcdefghijklmnopqrstuvwxyz0123456789", min_size=1, max_size=20))
def test_a_taken_network_is_passed_over(run_id: str) -> None:
    favourite = network.choose(run_id, set())
    assert network.choose(run_id, {favourite}) != favourite


def test_when_all_are_taken_the_message_says_what_to_do() -> None:
    everything = {network.prefix(index) for index in range(512)}
    with pytest.raises(LabError, match="all 512 networks") as caught:
        network.choose("x", everything)
    assert "sweep" in (caught.value.hint or "")


def test_a_claim_is_kept_until_it_is_released(own_root: Path) -> None:
    first = network.claim("one")
    assert network.claim("one") == first
    assert (own_root / "one" / "network.json").exists()
    network.release("one")
    network.release("one")
    assert not own_root.exists()


def test_claims_at_the_same_time_differ(own_root: Path) -> None:
    claimed: list[str] = []
    threads = [
        threading.Thread(target=lambda name=f"run{index}": claimed.append(network.claim(name))) for index in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(claimed)) == 20


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("orch-a1b2-requester-1", ("a1b2", "requester-1")),
        ("orch-a1b2-link", ("a1b2", "link")),
        ("orch-a1b2", None),
        ("orchestra-a-b", None),
        ("orch-A-b", None),
        ("docker0", None),
    ],
)
def test_only_our_own_names_are_taken_for_ours(name: str, parts: tuple[str, str] | None) -> None:
    assert layout.split_name(name) == parts


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


def path(**settings: float) -> Direction:
    made = Direction(out=-1, order=0)
    made.set(**{"delay_ns": 0, "jitter_ns": 0, "ns_per_byte": 8.0, "buffer_ns": 1_000_000, "loss": 0.0} | settings)  # type: ignore[arg-type]
    return made


def test_a_path_that_nobody_set_loses_everything() -> None:
    assert Direction(out=-1, order=0).due_ns(0, 100) is None


def test_a_packet_takes_its_time_on_the_wire_and_the_delay() -> None:
    assert path(delay_ns=17_500_000).due_ns(1000, 1460) == 1000 + 1460 * 8 + 17_500_000


def test_packets_queue_for_the_wire_but_not_for_the_delay() -> None:
    way = path(delay_ns=1_000_000)
    first, second = way.due_ns(0, 1000), way.due_ns(0, 1000)
    assert (first, second) == (1_008_000, 1_016_000)


def test_an_idle_wire_is_free_at_once() -> None:
    way = path()
    way.due_ns(0, 1000)
    assert way.due_ns(1_000_000_000, 1000) == 1_000_008_000


def test_a_full_buffer_drops() -> None:
    way = path(buffer_ns=10_000)
    arrivals = [way.due_ns(0, 1000) for _ in range(5)]
    assert arrivals == [8_000, 16_000, None, None, None]


def test_jitter_stays_in_bounds_and_packets_in_order() -> None:
    way = path(delay_ns=10_000_000, jitter_ns=5_000_000, ns_per_byte=0.0)
    due = [way.due_ns(sent_ns, 100) for sent_ns in range(0, 100_000_000, 100_000)]
    arrivals = [time_ns for time_ns in due if time_ns is not None]
    assert len(arrivals) == 1000
    assert arrivals == sorted(arrivals)
    late = [arrival - 100_000 * index for index, arrival in enumerate(arrivals)]
    assert min(late) >= 5_000_000
    assert max(late) <= 15_000_000
    assert max(late) > min(late)
