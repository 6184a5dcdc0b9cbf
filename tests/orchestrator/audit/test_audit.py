"""`orch audit`: what published figures can and cannot be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from orchestrator.audit import AuditFile, examine
from orchestrator.audit.assessment import Assessment
from orchestrator.audit.model import KINDS, Row, Test, json_schema_text, read
from orchestrator.experiment.plan.plan import Link, Placement
from orchestrator.experiment.read.problems import ExperimentError
from orchestrator.findings.summary import RunSummary
from orchestrator.summarise import summarise
from services.python.contract.lines import Load
from tests.support.runs import a_run

AUDITS = Path(__file__).parents[3] / "experiments" / "audits"


def examined(name: str) -> dict[str, list[Assessment]]:
    """The assessments of a shipped file: by claim text, and by row name for single figures."""
    result = examine(read(AUDITS / f"{name}.yaml"))
    found: dict[str, list[Assessment]] = {}
    for assessment in result.claims:
        found.setdefault(assessment.claim, []).append(assessment)
    for assessment in result.figures:
        for row in assessment.rows:
            found.setdefault(row, []).append(assessment)
    return found


def rules(assessments: list[Assessment], verdict: str) -> set[str]:
    return {f.rule for f in assessments if f.verdict == verdict}


@pytest.mark.parametrize("row", ["rest-add-local", "rest-add-same-zone", "rest-add-cross-region", "rest-img-same-zone"])
def test_honest_rest_figures_come_out_clean(row: str) -> None:
    found = examined("flask-grpc-placements")[row]
    assert {f.verdict for f in found} <= {"supported", "undetermined"}
    assert rules(found, "supported")


def test_a_claim_that_rests_on_impossible_figures_is_not_supported() -> None:
    (claim,) = examined("flask-grpc-placements")["gRPC is faster than REST in individual calls and in bulk calls"]
    assert claim.verdict == "contradicted"
    assert "rests on impossible figures" in claim.arithmetic


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
    verdicts = {text: assessments[0].verdict for text, assessments in found.items() if " " in text}
    assert verdicts == {
        "gRPC is 40 % faster than REST": "contradicted",
        "CBOR and Avro beat REST by 15 to 20 %": "contradicted",
        "Socket.IO has the lowest variance of all": "contradicted",
        "a CBOR timestamp message is 30 bytes where JSON takes 42": "impossible",
        "one GraphQL query replaces three REST calls, 3.0 ms + 1 RTT against 3.6 ms + 3 RTT": "supported",
        "pooling connections makes REST 20 to 30 % faster": "undetermined",
    }
    assert "30.5 % less time, 43.9 % more speed" in found["gRPC is 40 % faster than REST"][0].arithmetic
    assert all("tail template" in rules(found[row], "contradicted") for row in ("grpc", "rest", "socketio"))


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
        ("SD within its bounds", {"samples": 100, "min": 1, "mean": 2, "max": 9, "sd": 6}, "impossible"),
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
            "undetermined",
        ),
        ("delivered against offered", {"offered_per_s": 100, "delivered_per_s": 130}, "impossible"),
        ("in flight", {"mode": "sequential", "batch": 1}, "supported"),
    ],
)
def test_single_rules(rule: str, figures: dict[str, object], verdict: str) -> None:
    assert only(rule, **figures) == verdict


def published(rows: list[dict[str, object]], **stated: object) -> AuditFile:
    return AuditFile.model_validate({"title": "t", **stated, "results": rows})


def accusations(file: AuditFile) -> list[Assessment]:
    return [f for f in examine(file).assessments if f.verdict in ("impossible", "contradicted")]


FAR = {
    "placements": [{"name": "here", "ping_ms": 0.03}, {"name": "zone", "ping_ms": 1.5}, {"name": "far", "ping_ms": 35}]
}
ON_BOTH = {"protocol": "grpc", "operation": "img", "connection": "reuse"}
HONEST: dict[str, AuditFile] = {
    "both ends fought for one CPU where they shared a host": published(
        [
            {"name": "here", "placement": "here", "mean": 40, **ON_BOTH},
            {"name": "far", "placement": "far", "mean": 55, **ON_BOTH},
        ],
        **FAR,
    ),
    "a ping whose first packet was slow": published(
        [{"name": "zone", "placement": "zone", "min": 0.41, "mean": 0.55, **ON_BOTH}], **FAR
    ),
    "a larger initial window": published(
        [
            {
                "name": "here",
                "placement": "here",
                "mean": 3,
                **ON_BOTH,
                "connection": "per-request",
                "request_bytes": 90_000,
            },
            {
                "name": "far",
                "placement": "far",
                "mean": 75,
                **ON_BOTH,
                "connection": "per-request",
                "request_bytes": 90_000,
            },
        ],
        **FAR,
    ),
    "figures rounded to other digits": published([{"name": "r", "min": 1.2, "median": 1.15, "mean": 1.2, "max": 1.19}]),
    "a client that works between calls": published(
        [{"name": "r", "mean": 0.3, "throughput_per_s": 1900}], stated={"mode": "sequential"}
    ),
    "a mean of all requests beside a median of the runs' throughputs": published(
        [{"name": "r", "mean": 5.4, "concurrency": 16, "throughput_per_s": 6000}],
        stated={"mode": "closed loop", "repeats": 5},
    ),
    "an open loop": published(
        [{"name": "r", "mean": 80, "concurrency": 10, "throughput_per_s": 1000}], stated={"mode": "open loop"}
    ),
    "events lost under overload, and told": published([{"name": "r", "offered_per_s": 1000, "delivered_per_s": 700}]),
    "thin tails of a hundred requests": published(
        [
            {"name": f"r{i}", "samples": 100, "mean": i, "sd": 0.35 * i, "p99": 1.9 * i, "max": 2 * i}
            for i in (1, 2, 3, 4)
        ]
    ),
    "one network's jitter under every stack": published(
        [
            {"name": f"r{i}", "samples": 1000, "mean": 30 + i, "sd": 9, "p99": 55 + i, "max": 62 + i}
            for i in (1, 2, 3, 4)
        ]
    ),
    "an echo whose two directions overlap": published(
        [{"name": "far", "placement": "far", "mean": 100, "request_bytes": 1_000_000, "reply_bytes": 1_000_000}],
        placements=[{"name": "far", "ping_ms": 5, "link_mbit": 100}],
    ),
}


@pytest.mark.parametrize("file", HONEST.values(), ids=HONEST.keys())
def test_an_honest_publication_is_not_accused(file: AuditFile) -> None:
    assert accusations(file) == []


def as_published(summary: RunSummary) -> AuditFile:
    """A run of ours as someone would publish it: rounded figures, the pings, and what is known of each row."""
    pings = {c.placement: c.ping_floor for c in summary.cells if c.ping_floor}
    rows = [
        {
            "name": f"{c.stack} {c.operation} {c.placement}",
            "protocol": c.stack,
            "operation": c.operation,
            "placement": c.placement,
            "connection": c.connection,
            "concurrency": c.factors["concurrency"],
            "samples": c.distribution.n,
            "throughput_per_s": round(c.throughput_per_s or 0, 1),
            "request_bytes": round(c.body_bytes[0]) if c.body_bytes else None,
            "reply_bytes": round(c.body_bytes[1]) if c.body_bytes else None,
            **{
                name: round(value, 3)
                for name, value in {
                    "min": c.distribution.minimum,
                    "mean": c.distribution.mean,
                    "median": c.distribution.median,
                    "p95": c.distribution.p95,
                    "p99": c.distribution.p99,
                    "max": c.distribution.maximum,
                    "sd": c.distribution.sd,
                }.items()
                if value
            },
        }
        for c in summary.cells
        if c.distribution
    ]
    return published(
        rows,
        stated={"mode": "closed loop"},
        placements=[{"name": name, "ping_ms": round(ping, 3)} for name, ping in pings.items()],
    )


@pytest.mark.parametrize("connection", ["reuse", "per-request"])
@pytest.mark.parametrize("concurrency", [1, 8])
def test_a_clean_run_of_our_own_comes_out_of_the_audit_clean(connection: str, concurrency: int) -> None:
    places = [
        Placement(id="local", name="local", kind="local"),
        Placement(id="zone", name="zone", kind="same-zone", link=Link(rtt_ms=1.5)),
        Placement(id="far", name="far", kind="cross-region", link=Link(rtt_ms=35.0)),
    ]
    load = Load(concurrency=concurrency, requests=2000)
    file = as_published(summarise(a_run(placements=places, connection=connection, load=load)))
    assert accusations(file) == []
    assert {f.rule for f in examine(file).figures} >= {
        "below the ping",
        "round trips",
        "Little's law",
        "order of percentiles",
    }


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
    assert (AUDITS / "schema.json").read_text() == json_schema_text()


def test_every_kind_of_test_is_known_by_name() -> None:
    from typing import get_args

    models = get_args(get_args(Test)[0])
    assert {get_args(m.model_fields["kind"].annotation)[0] for m in models} == KINDS


def test_the_json_document_carries_its_version_and_every_verdict() -> None:
    document = examine(read(AUDITS / "six-protocols-article.yaml")).to_dict()
    assert document["schema_version"] == 2
    assert {"claim", "verdict", "rule", "arithmetic"} <= set(document["claims"][0])
    assert sum(document["summary"].values()) == len(document["claims"])
    json.dumps(document)
