"""Trials of a codec alone: nobody is asked, and each message is a sample with encoding and decoding as its parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.conformance.kit import Implementation

pytestmark = pytest.mark.busy

Coding = tuple[str, str]
CODEC, PART = 4, 2
PAYLOADS: dict[str, list[dict[str, Any]]] = {
    "add": [{"kind": "none"}],
    "timestamp": [{"kind": "none"}],
    "echo": [{"kind": "records", "count": 5}, {"kind": "bytes", "size": 1000}],
}


def a_trial(ends: Implementation, coding: Coding, folder: Path, **changes: Any) -> dict[str, Any]:
    trial = ends.trial(*coding, 1, folder / "record", **changes)
    if "target" not in changes:
        del trial["target"]
    return trial


@pytest.mark.parametrize("operation", PAYLOADS)
def test_each_message_is_encoded_and_decoded(ends: Implementation, coding: Coding, tmp_path: Path, operation: str):
    for payload in PAYLOADS[operation]:
        trial = ends.request(a_trial(ends, coding, tmp_path, operation=operation, payload=payload))
        done, rows = trial.done, trial.rows
        assert trial.types == ["checked", "start", "done"]
        assert (done["rows"], done["requests"], done["verified"], done["errors"]) == (3 * 13, 10, 10, {})
        assert done.get("identity") is done.get("wire") is done.get("min_rtt_us") is None
        assert [row.kind for row in rows] == [CODEC, PART, PART] * 13
        assert [row.sequence for row in rows[::3]] == list(range(1, 14))
        for sample, encode, decode in zip(rows[::3], rows[1::3], rows[2::3], strict=True):
            assert (sample.parent, encode.parent, decode.parent) == (0, sample.sequence, sample.sequence)
            assert (encode.sequence, decode.sequence) == (1, 2)
            assert sample.sent_ns <= encode.sent_ns <= encode.received_ns <= decode.sent_ns
            assert decode.sent_ns <= decode.received_ns <= sample.received_ns
            assert min(sample.bytes_sent, sample.bytes_received) > 0
            both = sample.bytes_sent + sample.bytes_received
            assert encode.bytes_sent == decode.bytes_received
            assert encode.bytes_sent == both


@pytest.mark.parametrize(
    "changes",
    [
        {"target": {"host": "127.0.0.1", "port": 1, "identity": "nonce"}},
        {"connection": "per-request"},
        {"load": {"requests": 10, "concurrency": 2}},
        {"load": {"requests": 10, "rate_per_s": 5.0}},
        {"load": {"requests": 10, "think_s": 0.01}},
        {"calls": 2},
    ],
    ids=["a target", "a connection", "several in flight", "a rate", "think time", "several calls"],
)
def test_what_only_a_call_has_is_refused(ends: Implementation, coding: Coding, tmp_path: Path, changes: dict[str, Any]):
    assert ends.request(a_trial(ends, coding, tmp_path, **changes)).failed["kind"] == "trial"
