"""One /24 per deployment, and names that split in one way only."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from orchlab import layout, network
from orchlab.errors import LabError


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
