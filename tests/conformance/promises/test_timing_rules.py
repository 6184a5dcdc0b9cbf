"""`timing_rules: misleading`: what six rules say of a request stands behind its row, and nowhere else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.conformance.kit import Implementation, Trial
from tests.conformance.reference.record import Row

pytestmark = [pytest.mark.busy, pytest.mark.slow]

REQUEST, MISLEADING = 0, 5
TOLD = {"timing_rules": "misleading"}
RULES = 6
SERVER, ONE_STAMP, EVENTS, AT_ENQUEUE, CPU_TIME, CONNECTING = range(1, 7)


def make(ends: Implementation, pair: tuple[str, str, str], folder: Path, **changes: Any) -> Trial:
    """A trial of `timestamp`, told of the rules unless `changes` say otherwise."""
    protocol, implementation, client = pair
    asked = {"operation": "timestamp", "knobs": TOLD, **changes}
    with ends.respond(protocol, implementation, knobs=asked["knobs"]) as responder:
        return ends.request(ends.trial(protocol, client, responder.ready["port"], folder / "record", **asked))


def by_request(rows: list[Row]) -> list[tuple[Row, list[Row]]]:
    whole = 1 + RULES
    return [(rows[at], rows[at + 1 : at + whole]) for at in range(0, len(rows), whole)]


def test_the_row_of_each_request_is_followed_by_what_each_rule_says(
    ends: Implementation, timing_pair: tuple[str, str, str], tmp_path: Path
):
    trial = make(ends, timing_pair, tmp_path)
    done = trial.done
    assert (done["rows"], done["warmup_requests"], done["requests"], done["verified"]) == (13 * (1 + RULES), 3, 10, 10)
    for request, said in by_request(trial.rows):
        assert (request.kind, request.parent, request.status) == (REQUEST, 0, 0)
        assert {row.kind for row in said} == {MISLEADING}
        assert [(row.sequence, row.parent) for row in said] == [(n, request.sequence) for n in range(1, RULES + 1)]
        assert {(row.phase, row.connection, row.status) for row in said} == {(request.phase, request.connection, 0)}
        assert {(row.bytes_sent, row.bytes_received) for row in said} == {(-1, -1)}
        assert all(row.intended_ns == row.sent_ns for row in said)


def test_stamps_are_those_that_the_rules_take(ends: Implementation, timing_pair: tuple[str, str, str], tmp_path: Path):
    found = by_request(make(ends, timing_pair, tmp_path).rows)
    for phase in (0, 1):
        of_phase = [(request, said) for request, said in found if request.phase == phase]
        first = of_phase[0][0]
        for rule in (ONE_STAMP, EVENTS):
            [stamp] = {said[rule - 1].sent_ns for _, said in of_phase}
            assert first.sent_ns <= stamp <= first.received_ns, "a batch begins with its phase"
    for request, said in found:
        for rule in (ONE_STAMP, EVENTS, AT_ENQUEUE, CONNECTING):
            assert request.sent_ns <= said[rule - 1].received_ns <= request.received_ns
        for rule in (SERVER, AT_ENQUEUE, CPU_TIME):
            assert request.sent_ns <= said[rule - 1].sent_ns <= request.received_ns
            assert said[rule - 1].received_ns >= said[rule - 1].sent_ns
    for rule in range(1, 1 + RULES):
        assert any(said[rule - 1].received_ns > said[rule - 1].sent_ns for _, said in found), "it measures something"
    before = [request.sent_ns - said[CONNECTING - 1].sent_ns for request, said in found]
    assert before[0] > 0 >= max(before[1:]), "the first request has the opening of its connection in it"


def test_who_is_told_nothing_records_requests_alone(
    ends: Implementation, timing_pair: tuple[str, str, str], tmp_path: Path
):
    trial = make(ends, timing_pair, tmp_path, knobs={})
    assert trial.done["rows"] == 13
    assert {row.kind for row in trial.rows} == {REQUEST}


@pytest.mark.parametrize(
    "changes",
    [
        {"operation": "add"},
        {"calls": 2},
        {"connection": "per-request"},
        {"load": {"requests": 10, "concurrency": 2}},
        {"load": {"requests": 10, "rate_per_s": 50.0}},
        {"load": {"requests": 10, "think_s": 0.01}},
    ],
)
def test_rules_are_refused_where_they_have_no_meaning(
    ends: Implementation, timing_pair: tuple[str, str, str], tmp_path: Path, changes: dict[str, Any]
):
    failed = make(ends, timing_pair, tmp_path, **changes).failed
    assert failed["kind"] == "trial"
    assert "timing_rules" in failed["message"]
