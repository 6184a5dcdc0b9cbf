"""The sentence of a decision map, held against runs whose truth is known."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from orchestrator.questions.prediction.fit import fit_all
from orchestrator.questions.prediction.shapes import Modelled
from orchestrator.questions.prediction.words import rules, trust
from tests.support.modelled import Lab, Truth, fitted


def rules_of(*truths: Truth, matters: float = 0.1, **lab: object) -> tuple[str, ...]:
    return rules(fitted(Lab(truths=truths, **lab), is_sealed=False), matters)  # type: ignore[arg-type]


def test_two_alike_do_not_matter_anywhere() -> None:
    assert rules_of(Truth(name="rest"), Truth(name="grpc", own=0.81)) == (
        "connections kept open: at every distance and payload of the map it does not matter which one (all within 10 %).",
    )


def test_one_that_is_always_twice_as_fast_is_ahead_everywhere() -> None:
    near = rules_of(
        Truth(name="rest", own=60.0), Truth(name="grpc", own=10.0), rtts=(1.0, 3.0, 9.0), sizes=(100, 1_000, 9_000)
    )
    assert near == ("connections kept open: at every distance and payload of the map grpc is fastest.",)


def test_what_hosts_take_matters_near_and_not_far() -> None:
    """2 ms of difference are more than 10 % up to a round trip of about 19 ms."""
    (sentence,) = rules_of(
        Truth(name="rest", own=3.0, per_kb=0.0), Truth(name="grpc", own=1.0, per_kb=0.0), rate=10_000.0
    )
    from_to = re.fullmatch(
        r"connections kept open: up to a round trip of (\d+) ms grpc is fastest, from a round trip of (\d+) ms to .* it does"
        r" not matter which one \(all within 10 %\)(?:, elsewhere it depends on payload)?\.",
        sentence,
    )
    assert from_to is not None, sentence
    assert 12 <= int(from_to[1]) <= 20
    assert 15 <= int(from_to[2]) <= 25


def test_what_bytes_take_is_said_by_payload() -> None:
    """With hosts alike but for each byte, the larger messages tell."""
    (sentence,) = rules_of(
        Truth(name="rest", own=1.0, per_kb=0.2, noise=1e-3),
        Truth(name="grpc", own=1.0, per_kb=0.02, noise=1e-3),
        rtts=(1.0, 3.0, 9.0),
    )
    assert re.search(r"up to [\d.]+ k?B it does not matter .*, from \d+ kB to 2 MB grpc is fastest", sentence), sentence


def test_a_claim_ends_where_fewer_than_two_stacks_are_predicted() -> None:
    """grpc was measured up to 20 ms, and is predicted up to 40; the map of rest goes to 200."""
    truths = Truth(name="rest"), Truth(name="grpc", own=1.4)
    cells = [
        cell for cell in Lab(truths=truths).cells() if not cell.series.startswith("grpc") or np.mean(cell.rtt) < 30
    ]
    series = tuple(truth.series for truth in truths)
    fits, not_fitted = fit_all(series, cells)
    modelled = Modelled(series=series, fits=fits, judged=None, refusals=(), not_fitted=not_fitted)
    (sentence,) = rules(modelled, 0.1)
    assert not re.search(r"(5\d|[6-9]\d|\d{3}) ms", sentence), sentence


def test_noise_claims_nothing() -> None:
    loud = {"noise": 0.5, "network_noise": 0.2}
    for sentence in rules_of(Truth(name="rest", **loud), Truth(name="grpc", own=0.9, **loud), blocks=3):  # type: ignore[arg-type]
        assert "there is no significant difference" in sentence or "at " in sentence


def test_a_wider_margin_makes_more_of_it_not_matter() -> None:
    pair = Truth(name="rest", own=1.0, per_kb=0.0), Truth(name="grpc", own=0.8, per_kb=0.0)
    assert "it does not matter" in rules_of(*pair, matters=0.5)[0]
    assert "at every distance" in rules_of(*pair, matters=0.5)[0]
    assert "at every distance" not in rules_of(*pair, matters=0.05)[0]


def test_the_trust_in_predictions_is_by_the_held_out_cells() -> None:
    judged = fitted(Lab(truths=(Truth(name="rest"), Truth(name="grpc", own=0.4)))).judged
    assert judged is not None
    assert trust(judged).startswith("10 held-out cells: the model was off by ")
    missed = replace(judged, by_series=dict.fromkeys(judged.by_series, 0.2), widened={"rest": 3.0}, not_judged=2)
    assert "Not predicted, as missed by more than 10 %: rest, connections kept open; grpc" in trust(missed)
    assert "up to 3.00 times as wide" in trust(missed)
    assert "2 more held-out cells" in trust(missed)
    assert trust(None).startswith("No cell was held out")
