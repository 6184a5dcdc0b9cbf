"""`orch audit`: what published figures can and cannot be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from orchestrator.analysis.audit import AuditFile, examine
from orchestrator.analysis.audit.figures import implied_round_trips
from orchestrator.analysis.audit.finding import Finding
from orchestrator.analysis.audit.model import KINDS, Row, Test
from orchestrator.analysis.audit.read import json_schema_text, read
from orchestrator.experiment.problems import ExperimentError

AUDITS = Path(__file__).parents[3] / "experiments" / "audits"


def examined(name: str) -> dict[str, list[Finding]]:
    """The findings of a shipped file: by claim text, and by row name for single figures."""
    result = examine(read(AUDITS / f"{name}.yaml"))
    found: dict[str, list[Finding]] = {}
    for finding in result.claims:
        found.setdefault(finding.claim, []).append(finding)
    for finding in result.figures:
        for row in finding.rows:
            found.setdefault(row, []).append(finding)
    return found


def rules(findings: list[Finding], verdict: str) -> set[str]:
    return {f.rule for f in findings if f.verdict == verdict}


def test_a_call_quicker_than_the_ping_is_impossible() -> None:
    found = examined("flask-grpc-placements")
    assert rules(found["grpc-add-cross-region"], "impossible") == {"below the ping", "round trips"}
    assert "goodput" in rules(found["grpc-img-cross-region"], "impossible")


@pytest.mark.parametrize("row", ["rest-add-local", "rest-add-same-zone", "rest-add-cross-region", "rest-img-same-zone"])
def test_honest_rest_figures_come_out_clean(row: str) -> None:
    found = examined("flask-grpc-placements")[row]
    assert {f.verdict for f in found} <= {"supported", "cannot-tell"}
    assert rules(found, "supported")


def test_twice_the_ping_supports_a_connection_per_call() -> None:
    found = examined("flask-grpc-placements")
    (claim,) = found["REST opens a TCP connection for each call"]
    assert claim.verdict == "supported"
    assert "1.97 round trips" in claim.arithmetic


def test_a_claim_that_rests_on_impossible_figures_is_not_supported() -> None:
    (claim,) = examined("flask-grpc-placements")["gRPC is faster than REST in individual calls and in bulk calls"]
    assert claim.verdict == "contradicted"
    assert "the figures do not" in claim.arithmetic


def test_queue_positions_are_recognised_by_their_uniform_ramp() -> None:
    found = examined("six-protocols-measured")
    assert rules(found["socketio"], "contradicted") == {"uniform ramp"}
    assert rules(found["graphql"], "contradicted") == {"in flight"}
    for honest in ("rest", "avro", "cbor"):
        assert not rules(found[honest], "contradicted")
        assert not rules(found[honest], "impossible")
    (claim,) = found["Socket.IO is 42 times slower than REST"]
    assert claim.verdict == "contradicted"


def test_percentages_variance_and_sizes_are_recomputed() -> None:
    found = examined("six-protocols-article")
    verdicts = {text: findings[0].verdict for text, findings in found.items() if " " in text}
    assert verdicts == {
        "gRPC is 40 % faster than REST": "contradicted",
        "CBOR and Avro beat REST by 15 to 20 %": "contradicted",
        "Socket.IO has the lowest variance of all": "contradicted",
        "a CBOR timestamp message is 30 bytes where JSON takes 42": "impossible",
        "one GraphQL query replaces three REST calls, 3.0 ms + 1 RTT against 3.6 ms + 3 RTT": "supported",
        "pooling connections makes REST 20 to 30 % faster": "cannot-tell",
    }
    assert "30.5 % less time, 43.9 % more speed" in found["gRPC is 40 % faster than REST"][0].arithmetic
    assert all("tail template" in rules(found[row], "contradicted") for row in ("grpc", "rest", "socketio"))


def test_lost_events_gaps_and_split_winners_are_seen() -> None:
    found = examined("grpc-rest-database")
    assert found["streaming drops no events"][0].verdict == "contradicted"
    assert found["client language matters more than protocol"][0].verdict == "supported"
    assert rules(found["grpc-stream-100x1"], "cannot-tell") == {"gaps are no latencies"}
    assert rules(found["grpc-10"], "cannot-tell") == {"winner by p99 against winner by throughput"}
    assert "Little's law" in rules(found["client-python"], "supported")


def test_claims_without_figures_cannot_be_told() -> None:
    result = examine(read(AUDITS / "keep-alive.yaml"))
    assert {f.verdict for f in result.findings} == {"cannot-tell"}


def row(**figures: object) -> Row:
    return Row.model_validate({"name": "r", **figures})


def only(rule: str, **figures: object) -> str | None:
    """The verdict of one rule on a file with one row."""
    mode = figures.pop("mode", None)
    file = AuditFile.model_validate({"title": "t", "stated": {"mode": mode}, "results": [{"name": "r", **figures}]})
    return next((f.verdict for f in examine(file).figures if f.rule == rule), None)


@pytest.mark.parametrize(
    ("rule", "figures", "verdict"),
    [
        ("order of percentiles", {"min": 2, "median": 1}, "impossible"),
        ("order of percentiles", {"min": 1, "median": 2, "p99": 3, "max": 3}, "supported"),
        ("SD within its bounds", {"samples": 100, "min": 1, "mean": 2, "max": 9, "sd": 5}, "impossible"),
        ("SD within its bounds", {"samples": 100, "min": 1, "mean": 2, "max": 102, "sd": 1}, "impossible"),
        ("Little's law", {"mode": "closed loop", "concurrency": 10, "throughput_per_s": 1000, "mean": 10}, "supported"),
        (
            "Little's law",
            {"mode": "closed loop", "concurrency": 10, "throughput_per_s": 1000, "mean": 50},
            "contradicted",
        ),
        ("Little's law", {"mode": "sequential", "throughput_per_s": 1000, "mean": 1}, "supported"),
        (
            "Little's law",
            {"mode": "closed loop", "concurrency": 10, "throughput_per_s": 100, "p99": 50},
            "contradicted",
        ),
        ("delivered against offered", {"offered_per_s": 100, "delivered_per_s": 130}, "impossible"),
        ("in flight", {"mode": "sequential", "batch": 1}, "supported"),
    ],
)
def test_single_rules(rule: str, figures: dict[str, object], verdict: str) -> None:
    assert only(rule, **figures) == verdict


def test_a_payload_beyond_the_initial_window_implies_more_round_trips_on_a_new_connection() -> None:
    assert implied_round_trips(row(connection="reuse", request_bytes=1_580_000))[0] == 1
    assert implied_round_trips(row(connection="per-request"))[0] == 2
    assert implied_round_trips(row(connection="per-request", request_bytes=20_000))[0] == 3
    assert implied_round_trips(row(connection="per-request", request_bytes=1_580_000))[0] == 8


def write(folder: Path, text: str) -> Path:
    path = folder / "published.yaml"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("title: t\nresults:\n  - {name: a, mean: -1}\n", ":3:", "greater than 0"),
        ("title: t\nresults:\n  - {name: a, mean: .nan}\n", ":3:", "mean"),
        ("title: t\nresults:\n  - {name: a, mena: 1}\n", ":3:", "mena"),
        ("title: t\nresults:\n  - {name: a}\n  - {name: a}\n", ":1:", "two results are named a"),
        (
            "title: t\nclaims:\n  - {text: x, tests: [{kind: times, row: b, of: c, factor: 2}]}\n",
            ":1:",
            "names no result",
        ),
        ("title: t\nclaims:\n  - {text: x, tests: [{kind: times, row: b, factor: two, of: c}]}\n", ":3:", "factor"),
        ("results: []\n", ":1:", "title"),
    ],
)
def test_impossible_or_missing_numbers_are_refused_at_their_place(
    tmp_path: Path, text: str, place: str, said: str
) -> None:
    with pytest.raises(ExperimentError) as caught:
        read(write(tmp_path, text))
    assert f"published.yaml{place}" in caught.value.message
    assert said in caught.value.message
    assert caught.value.exit_code == 2


def test_the_schema_in_the_tree_is_current() -> None:
    assert (AUDITS / "schema.json").read_text() == json_schema_text()


def test_every_kind_of_test_is_known_by_name() -> None:
    from typing import get_args

    models = get_args(get_args(Test)[0])
    assert {get_args(m.model_fields["kind"].annotation)[0] for m in models} == KINDS


def test_the_json_document_carries_its_version_and_every_verdict() -> None:
    document = examine(read(AUDITS / "six-protocols-article.yaml")).to_dict()
    assert document["schema_version"] == 1
    assert {"claim", "verdict", "rule", "arithmetic"} <= set(document["claims"][0])
    assert sum(document["summary"].values()) == len(document["claims"])
    json.dumps(document)
