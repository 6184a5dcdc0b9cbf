"""What any requester sends, reads and times, as a relay between both ends sees it: also where no counterpart is written."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.kit import Implementation, Trial
from tests.conformance.reference.generator import stream
from tests.conformance.reference.record import Row
from tests.conformance.relay import Relay

pytestmark = [pytest.mark.slow, pytest.mark.busy]

Meeting = tuple[str, str, str, bool]
SEED, SIZE = 11, 900
MASKED = {"websocket", "socketio", "graphqlws"}  # what their clients send is masked, so that nobody knows it on the way


def measured(
    ends: Implementation, meeting: Meeting, folder: Path, *, hold_s: float = 0.0, altered: int = 0, **changes: Any
) -> tuple[Trial, Relay]:
    """A trial of echoed bytes after the check's request and three to warm up, all of which pass the relay."""
    protocol, implementation, client, _ = meeting
    content = stream(f"bytes/{SEED}", SIZE)
    with (
        ends.respond(protocol, implementation) as responder,
        Relay(responder.ready["port"], content, hold_s, altered) as relay,
    ):
        asked = {"operation": "echo", "payload": {"kind": "bytes", "size": SIZE}, "seed": SEED, **changes}
        return ends.request(ends.trial(protocol, client, relay.port, folder / "record", **asked)), relay


def policy(meeting: Meeting) -> str:
    return "reuse" if meeting[3] else "per-request"


def test_replies_are_read_to_the_end_before_the_clock_stops_and_the_next_request_is_sent(
    ends: Implementation, meeting: Meeting, tmp_path: Path
):
    trial, relay = measured(ends, meeting, tmp_path, hold_s=0.01, connection=policy(meeting))
    rows = sorted(trial.rows)
    assert trial.done["verified"] == 10
    assert len(relay.answered) == 1 + len(rows) == 14
    for row, answered in zip(rows, relay.answered[1:], strict=True):
        assert row.sent_ns < answered.at_ns < row.received_ns, row
    if meeting[0] in MASKED:
        return
    assert len(relay.asked) == 14, "the request is not the one that the seed gives"
    for row, asked in zip(rows, relay.asked[1:], strict=True):
        assert row.sent_ns < asked.at_ns, row
    for answered, asked in zip(relay.answered, relay.asked[1:], strict=False):
        assert answered.at_ns < asked.at_ns, "a request was sent before the reply to the one before was there"


def test_bytes_that_are_reported_are_those_that_travelled(ends: Implementation, meeting: Meeting, tmp_path: Path):
    trial, relay = measured(ends, meeting, tmp_path, hold_s=0.001, connection=policy(meeting), load={"requests": 40})
    done, begun_ns = trial.done, trial.phase(1)[0].sent_ns
    for way, passed in (("sent", relay.sent), ("received", relay.received)):
        travelled = sum(count for at, count in passed if at.at_ns > begun_ns)
        bodies = done[f"body_bytes_{way}"]
        assert 40 * SIZE <= bodies <= travelled, way
        if done.get("wire"):
            assert done["wire"][f"bytes_{way}"] == pytest.approx(travelled, rel=0.05), way


def test_a_reply_with_one_byte_altered_is_wrong(ends: Implementation, meeting: Meeting, tmp_path: Path):
    trial, _ = measured(ends, meeting, tmp_path, altered=1 + 3 + 4, connection=policy(meeting))
    assert trial.done["errors"] == {"wrong-reply": 1}
    assert trial.done["verified"] == 9
    assert [row.sequence for row in trial.rows if row.status] == [7]


def test_several_in_flight_are_verified_too(ends: Implementation, meeting: Meeting, tmp_path: Path):
    load = {"requests": 60, "concurrency": 3}
    trial, _ = measured(ends, meeting, tmp_path, altered=40, connection=policy(meeting), load=load)
    assert trial.done["errors"] == {"wrong-reply": 1}
    assert trial.done["verified"] == 59


def test_kept_connections_are_kept_and_no_others_are_opened(ends: Implementation, meeting: Meeting, tmp_path: Path):
    if not meeting[3]:
        pytest.skip("its responder keeps no connections")
    trial, relay = measured(ends, meeting, tmp_path, load={"requests": 30, "concurrency": 3}, hold_s=0.002)
    assert len(relay.opened_ns) == 2 + 3
    carried = Counter(answered.connection for answered in relay.answered)
    assert set(carried) == {1, 2, 3, 4}
    assert carried[1] == 1, "the check has a connection of its own"
    assert trial.done["connections_opened"] == 0


def test_a_connection_per_request_is_opened_after_its_clock_began(
    ends: Implementation, meeting: Meeting, tmp_path: Path
):
    trial, relay = measured(ends, meeting, tmp_path, connection="per-request")
    rows: list[Row] = sorted(trial.rows)
    assert Counter(answered.connection for answered in relay.answered) == dict.fromkeys(range(1, 15), 1)
    assert trial.done["connections_opened"] == 10
    for row, opened_ns in zip(rows, relay.opened_ns[2:], strict=True):
        assert row.sent_ns < opened_ns < row.received_ns, row
    assert all(one.received_ns <= other.sent_ns for one, other in itertools.pairwise(rows))
