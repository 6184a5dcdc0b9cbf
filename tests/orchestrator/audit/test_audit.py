"""`orch audit`: what published figures can and cannot be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from orchestrator.audit.assessment import Assessment
from orchestrator.audit.examine import examine
from orchestrator.audit.model import AuditFile, json_schema, read
from orchestrator.experiment.read.problems import ExperimentError

AUDITS = Path(__file__).parents[3] / "experiments" / "audits"


def examined(name: str) -> dict[str, list[Assessment]]:
    """The assessments of a shipped file: by claim text, and by row name for single figures."""
    result = examine(read(AUDITS / f"{name}.yaml"))
    by_place: dict[str, list[Assessment]] = {}
    for assessment in result.claims:
        by_place.setdefault(assessment.claim, []).append(assessment)
    for assessment in result.figures:
        for row in assessment.rows:
            by_place.setdefault(row, []).append(assessment)
    return by_place


def rules(assessments: list[Assessment], verdict: str) -> set[str]:
    return {f.rule for f in assessments if f.verdict == verdict}


@pytest.mark.parametrize("row", ["rest-add-local", "rest-add-same-zone", "rest-add-cross-region", "rest-img-same-zone"])
def test_honest_rest_figures_come_out_clean(row: str) -> None:
    by_place = examined("flask-grpc-placements")[row]
    assert {f.verdict for f in by_place} <= {"supported", "undetermined"}
    assert rules(by_place, "supported")


def test_a_claim_that_rests_on_impossible_figures_is_not_supported() -> None:
    (claim,) = examined("flask-grpc-placements")["gRPC is faster than REST in individual calls and in bulk calls"]
    assert claim.verdict == "contradicted"
    assert "rests on impossible figures" in claim.arithmetic


def test_queue_positions_are_recognised_by_their_uniform_ramp() -> None:
    by_place = examined("six-protocols-measured")
    assert rules(by_place["socketio"], "contradicted") == {"uniform ramp"}
    assert rules(by_place["graphql"], "contradicted") == {"in flight"}
    for honest in ("rest", "avro", "cbor"):
        assert not rules(by_place[honest], "contradicted")
        assert not rules(by_place[honest], "impossible")
    (claim,) = by_place["Socket.IO is 42 times slower than REST"]
    assert claim.verdict == "contradicted"


def test_percentages_variance_and_sizes_are_recomputed() -> None:
    by_place = examined("six-protocols-article")
    verdicts = {text: assessments[0].verdict for text, assessments in by_place.items() if " " in text}
    assert verdicts == {
        "gRPC is 40 % faster than REST": "contradicted",
        "CBOR and Avro beat REST by 15 to 20 %": "contradicted",
        "Socket.IO has the lowest variance of all": "contradicted",
        "a CBOR timestamp message is 30 bytes where JSON takes 42": "impossible",
        "one GraphQL query replaces three REST calls, 3.0 ms + 1 RTT against 3.6 ms + 3 RTT": "supported",
        "pooling connections makes REST 20 to 30 % faster": "undetermined",
    }
    assert "30.5 % less time, 43.9 % more speed" in by_place["gRPC is 40 % faster than REST"][0].arithmetic
    assert all("tail template" in rules(by_place[row], "contradicted") for row in ("grpc", "rest", "socketio"))


def published(rows: list[dict[str, object]], **stated: object) -> AuditFile:
    return AuditFile.model_validate({"title": "t", **stated, "results": rows})


def accusations(file: AuditFile) -> list[Assessment]:
    return [f for f in examine(file).assessments if f.verdict in ("impossible", "contradicted")]


FAST, SLOW = (
    {"name": "fast", "mean": 1.02, "throughput_per_s": 900},
    {"name": "slow", "mean": 2.06, "throughput_per_s": 480},
)
FASTER = {"kind": "faster", "pairs": [["fast", "slow"]]}
FAR = {"name": "far", "placement": "far", "protocol": "rest", "operation": "add", "mean": 152}
HERE = FAR | {"name": "here", "placement": "local", "mean": 4}
SENT = {"name": "sent", "offered_per_s": 100}
ALL = {"kind": "delivers-all", "rows": ["sent"]}
TWICE = {"kind": "larger-effect", "second": ["slow", "slower"]}


def size(codec: str, message: object, count: int) -> dict[str, object]:
    return {"kind": "size", "codec": codec, "message": message, "bytes": count}


@pytest.mark.parametrize(
    ("rows", "test", "verdict"),
    [
        ([FAST, SLOW], FASTER, "supported"),
        ([FAST | {"failures": "counted"}, SLOW], FASTER, "undetermined"),
        ([FAST | {"failures": "counted", "errors": 0}, SLOW], FASTER, "supported"),
        ([FAST, SLOW | {"samples": 50_000, "errors": 50_000}], FASTER, "undetermined"),
        ([FAR], {"kind": "connections", "rows": ["far"], "policy": "reuse"}, "supported"),
        ([FAR], {"kind": "connections", "rows": ["far"], "policy": "per-request"}, "contradicted"),
        ([FAR | {"mean": 310}], {"kind": "connections", "rows": ["far"], "policy": "reuse"}, "undetermined"),
        ([FAR | {"mean": 310}, HERE], {"kind": "connections", "rows": ["far"], "policy": "per-request"}, "supported"),
        ([FAR | {"mean": None}], {"kind": "connections", "rows": ["far"], "policy": "reuse"}, "undetermined"),
        ([SENT | {"delivered_per_s": 17_400}], ALL, "contradicted"),
        ([SENT | {"delivered_per_s": 100}], ALL, "supported"),
        ([], size("msgpack", {"a": [102.0]}, 5), "supported"),
        ([], size("cbor", {"a": [102.0]}, 6), "supported"),
        ([], size("cbor", {"a": [102.5]}, 20), "contradicted"),
        ([], size("json", [1.0, 2.0], 5), "supported"),
        ([], size("cbor", ["abcdefgh"] * 9, 38), "supported"),
        ([], size("cbor", ["abcdefgh"] * 9, 5), "impossible"),
        ([FAST, SLOW, SLOW | {"name": "slower", "mean": 3.05}], TWICE | {"first": ["fast", "slow"], "statistic": "mean"},
         "supported"),
        ([FAST, SLOW, SLOW | {"name": "slower", "mean": 3.05}], TWICE | {"first": ["slow", "fast"], "statistic": "mean"},
         "contradicted"),
    ],
)  # fmt: skip
def test_single_claims(rows: list[dict[str, object]], test: dict[str, object], verdict: str) -> None:
    placements = [{"name": "far", "ping_ms": 152}, {"name": "local"}]
    claims = [{"text": "c", "tests": [test]}]
    (claim,) = examine(published(rows, placements=placements, claims=claims)).claims
    assert claim.verdict == verdict, claim.arithmetic


def write(folder: Path, text: str) -> Path:
    path = folder / "published.yaml"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("title: t\nresults:\n  - {name: a, mean: -1}\n", ":3:", "greater than or equal to 0"),
        ("title: t\nresults:\n  - {name: a, mean: .nan}\n", ":3:", "mean"),
        ("title: t\nresults:\n  - {name: a, mena: 1}\n", ":3:", "mena"),
        ("title: t\nresults:\n  - {name: a}\n  - {name: a}\n", ":4:", "two results are named a"),
        (
            "title: t\nclaims:\n  - {text: x, tests: [{kind: times, row: b, of: c, factor: 2}]}\n",
            ":3:",
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
    assert json.loads((AUDITS / "schema.json").read_text()) == json_schema()
