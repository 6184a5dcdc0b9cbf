"""The sentence of a decision map, held against runs whose truth is known."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from orchestrator.questions.prediction.fit import fit_all
from orchestrator.questions.prediction.rules import rules
from orchestrator.questions.prediction.shapes import Modelled
from tests.support.modelled import NEW, Lab, Truth, fitted

NEW_SETTING = "a new connection for each request"


def said(*truths: Truth, matters: float = 0.1, **lab: object) -> tuple[str, ...]:
    return rules(fitted(Lab(truths=truths, **lab), is_sealed=False), matters)  # type: ignore[arg-type]


def test_two_alike_do_not_matter_anywhere() -> None:
    assert said(Truth(name="rest"), Truth(name="grpc", own=0.81)) == (
        "connections kept open: at every distance and payload of the map it does not matter which one (all within 10 %).",
    )


def test_one_that_is_always_twice_as_fast_is_ahead_everywhere() -> None:
    near = said(
        Truth(name="rest", own=60.0), Truth(name="grpc", own=10.0), rtts=(1.0, 3.0, 9.0), sizes=(100, 1_000, 9_000)
    )
    assert near == ("connections kept open: at every distance and payload of the map grpc is fastest.",)


def test_what_hosts_take_matters_near_and_not_far() -> None:
    """2 ms of difference are more than 10 % up to a round trip of about 19 ms."""
    (found,) = said(Truth(name="rest", own=3.0, per_kb=0.0), Truth(name="grpc", own=1.0, per_kb=0.0), rate=10_000.0)
    from_to = re.fullmatch(
        r"connections kept open: up to a round trip of (\d+) ms grpc is fastest, (?:from (\d+) ms on|beyond it) it does not"
        r" matter which one \(all within 10 %\)(?:; between them it depends on the payload)?\.",
        found,
    )
    assert from_to is not None, found
    assert 12 <= int(from_to[1]) <= 20
    assert 15 <= int(from_to[2] or from_to[1]) <= 25


def test_what_bytes_take_is_said_by_payload() -> None:
    """With hosts alike but for each byte, the larger messages tell."""
    (found,) = said(
        Truth(name="rest", own=1.0, per_kb=0.2, noise=1e-3),
        Truth(name="grpc", own=1.0, per_kb=0.02, noise=1e-3),
        rtts=(1.0, 3.0, 9.0),
    )
    assert re.search(r"up to [\d.]+ k?B it does not matter which one .*, from \d+ kB on grpc is fastest", found), found


def test_new_connections_matter_more_than_the_stack_where_the_network_is_most_of_it() -> None:
    kept = Truth(name="rest"), Truth(name="grpc", own=0.6)
    new = tuple(replace(truth, setting=NEW_SETTING, opening=1, windows=NEW) for truth in kept)
    first, *others = said(*kept, *new)
    assert first.startswith("From a round trip of ")
    assert "on whether connections are kept matters more than which stack." in first
    assert [each.split(":")[0] for each in others] == ["connections kept open", NEW_SETTING]


@pytest.mark.parametrize("of", ["a new", "connections"])
def test_nothing_is_claimed_of_distances_at_which_fewer_than_two_stacks_are_predicted(of: str) -> None:
    """grpc was measured up to 20 ms, and is predicted up to 40; the map of rest goes to 200."""
    rest, grpc = Truth(name="rest"), Truth(name="grpc", own=1.4)
    truths = (rest, grpc, *(replace(truth, setting=NEW_SETTING, opening=1, windows=NEW) for truth in (rest, grpc)))
    cells = [
        cell
        for cell in Lab(truths=truths).cells()
        if not cell.series.startswith(f"grpc {of}") or np.mean(cell.rtt) < 30
    ]
    fits, refused = fit_all([truth.series for truth in truths], cells)
    assert refused == {}
    series = tuple(truth.series for truth in truths)
    found = rules(Modelled(series=series, fits=fits, judged=None, refusals=(), not_fitted={}), 0.1)
    assert re.match(r"From a round trip of \S+ ms to 40 ms whether connections are kept matters more", found[0]), found
    (about,) = (each for each in found[1:] if each.startswith(of))
    assert not re.search(r"from a round trip of \S+ ms on|beyond it", about), found


def test_noise_claims_nothing() -> None:
    loud = {"noise": 0.5, "network_noise": 0.2}
    for sentence in said(Truth(name="rest", **loud), Truth(name="grpc", own=0.9, **loud), blocks=3):  # type: ignore[arg-type]
        assert "none is told apart" in sentence or "it depends on" in sentence


def test_a_wider_margin_makes_more_of_it_not_matter() -> None:
    pair = Truth(name="rest", own=1.0, per_kb=0.0), Truth(name="grpc", own=0.8, per_kb=0.0)
    assert "it does not matter" in said(*pair, matters=0.5)[0]
    assert "at every distance" in said(*pair, matters=0.5)[0]
    assert "at every distance" not in said(*pair, matters=0.05)[0]
