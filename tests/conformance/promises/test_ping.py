"""What `protos/process.md` promises of a ping, of `describe`, of knobs of bodies, and of a codec alone."""

from __future__ import annotations

import itertools
import socket
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.bad_lines import OTHER_VERSION
from tests.conformance.kit import Implementation, Trial, validated
from tests.conformance.reference.contract import STATUS, VERSION
from tests.conformance.reference.record import rows_of

pytestmark = pytest.mark.busy


def ping(pinging: Implementation, line: dict[str, Any] | str) -> tuple[dict[str, Any], int]:
    with pinging.start("ping") as program:
        program.send(line)
        (printed,) = [validated(text, "ping-done", "failed") for text in program.rest()]
        return printed, program.status()


def test_a_ping_counts_and_records_its_echoes(pinging: Implementation, tmp_path: Path):
    record = tmp_path / "record"
    line = {"type": "ping", "contract": VERSION, "address": "127.0.0.1", "record": str(record), "count": 3, "size": 40}
    done, status = ping(pinging, line)
    if done["type"] == "failed":
        assert (done["kind"], status) == ("unavailable", 1)
        pytest.skip(f"no ping from here: {done['message']}")
    rows = sorted(rows_of(record))
    assert (status, done["sent"], len(rows)) == (0, 3, 3)
    assert done["received"] == sum(row.status != STATUS["timeout"] for row in rows)
    assert [(row.sequence, row.phase, row.connection, row.bytes_sent) for row in rows] == [
        (number, 1, 0, 40) for number in (1, 2, 3)
    ]
    assert all(row.sent_ns <= row.received_ns for row in rows)


def test_a_line_that_is_no_ping_is_refused(pinging: Implementation, tmp_path: Path):
    line = {"type": "ping", "contract": VERSION, "address": "127.0.0.1", "record": str(tmp_path / "record")}
    changed = ({"colour": "red"}, {"count": True}, {"count": 0}, {"contract": OTHER_VERSION})
    for wrong in ("garbage", "", "[]", *(line | change for change in changed)):
        failed, status = ping(pinging, wrong)
        assert (failed["type"], failed["kind"], status) == ("failed", "trial", 1)


def test_describe_prints_one_line(describing: Implementation):
    with describing.start("describe") as program:
        program.close_stdin()
        (line,) = program.rest()
        assert validated(line, "describe")["contract"] == VERSION
        assert program.status() == 0


RECORDS = {"operation": "echo", "payload": {"kind": "records", "count": 200}}
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))
INITIAL_WINDOW_SIZE = 4  # of SETTINGS
WINDOW = 131_072

Pair = tuple[str, str, str]


def made(ends: Implementation, pair: Pair, folder: Path, knobs: dict[str, str], **more: Any) -> tuple[Trial, Any]:
    """A trial, and what the responder counted."""
    if not ends.keeps_connections(*pair[:2]):
        more = {"connection": "per-request", **more}
    return ends.meet(pair, folder / "record", serve={"knobs": knobs}, knobs=knobs, **more)


def carrying(ends: Implementation, pair: Pair) -> dict[str, str]:
    """The version of HTTP that carries several requests on a connection, where a protocol leaves it open."""
    [client] = [client for client in ends.protocol(pair[0])["clients"] if client["name"] == pair[2]]
    return {"http": "2"} if "http" in client["knobs"] else {}


def test_bodies_are_compressed_both_ways_and_counted_so(ends: Implementation, packing_pair: Pair, tmp_path: Path):
    plain, _ = made(ends, packing_pair, tmp_path, {}, **RECORDS)
    packed, _ = made(ends, packing_pair, tmp_path, {"compression": "gzip"}, **RECORDS)
    for way in ("body_bytes_sent", "body_bytes_received"):
        assert 0 < packed.done[way] < 0.7 * plain.done[way]
    assert (packed.done["verified"], packed.done["errors"]) == (10, {})
    assert packed.lines[0]["body_bytes_sent"] * 10 == packed.done["body_bytes_sent"]


def test_requests_in_flight_share_so_many_connections(ends: Implementation, multiplexing_pair: Pair, tmp_path: Path):
    knobs = {**carrying(ends, multiplexing_pair), "connections": "2"}
    trial, stats = made(ends, multiplexing_pair, tmp_path, knobs, load={"requests": 60, "concurrency": 6})
    assert (trial.done["verified"], trial.done["errors"]) == (60, {})
    assert stats["peers"] == 2 + 2
    assert len({row.connection for row in trial.phase(1)}) == 2
    first = sorted(row for row in trial.phase(1) if row.connection == trial.phase(1)[0].connection)
    waited = [one.received_ns <= other.sent_ns for one, other in itertools.pairwise(first)]
    assert not all(waited), "requests on one connection wait for one another"


def test_a_window_is_said_when_a_connection_opens_and_large_bodies_pass_it(
    ends: Implementation, window_pair: Pair, tmp_path: Path
):
    protocol, implementation, _ = window_pair
    knobs = {**carrying(ends, window_pair), "flow_window": str(WINDOW)}
    with (
        ends.respond(protocol, implementation, knobs=knobs) as responder,
        socket.create_connection(("127.0.0.1", responder.ready["port"]), timeout=ends.patience_s) as connection,
        connection.makefile("rb") as came,
    ):
        connection.sendall(PREFACE)
        head = came.read(9)
        told = came.read(int.from_bytes(head[:3], "big"))
    settings = {int.from_bytes(told[at : at + 2], "big"): told[at + 2 : at + 6] for at in range(0, len(told), 6)}
    assert int.from_bytes(settings[INITIAL_WINDOW_SIZE], "big") == WINDOW
    asked = {"operation": "echo", "payload": {"kind": "bytes", "size": 5 * WINDOW}}
    trial, _ = made(ends, window_pair, tmp_path, knobs, **asked)
    assert (trial.done["verified"], trial.done["errors"]) == (10, {})


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
