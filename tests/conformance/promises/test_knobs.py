"""What `protos/process.md` promises of knobs that change how bodies travel, at ends that can be told them."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.kit import Implementation, Trial

pytestmark = pytest.mark.busy

RECORDS = {"operation": "echo", "payload": {"kind": "records", "count": 200}}
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))
INITIAL_WINDOW_SIZE = 4  # of SETTINGS
WINDOW = 131_072

Pair = tuple[str, str, str]


def made(ends: Implementation, pair: Pair, folder: Path, knobs: dict[str, str], **more: Any) -> tuple[Trial, Any]:
    """A trial, and what the responder counted."""
    protocol, implementation, client = pair
    if not ends.keeps_connections(protocol, implementation):
        more = {"connection": "per-request", **more}
    with ends.respond(protocol, implementation, knobs=knobs) as responder:
        port = responder.ready["port"]
        trial = ends.request(ends.trial(protocol, client, port, folder / "record", knobs=knobs, **more))
        return trial, responder.stats()


def carrying(ends: Implementation, pair: Pair) -> dict[str, str]:
    """The version of HTTP that carries several requests on a connection, where a protocol leaves it open."""
    [client] = [one for one in ends.protocol(pair[0])["clients"] if one["name"] == pair[2]]
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
