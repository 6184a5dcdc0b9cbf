"""Streams whose reader is slow: who holds whom back."""

from __future__ import annotations

import socket
import time
from pathlib import Path
from typing import Any

import pytest

from services.python.contract.lines import Load, Payload, Warmup
from services.python.load.record import KINDS, read_record
from tests.support.ends import Program, make_trial, responder, trial_of

pytestmark = pytest.mark.busy

EVENT = KINDS.index("event")
PATIENCE_S = 30


def stats_of_the_end(started: Program) -> dict[str, Any]:
    """The responder's word on its events, once it has noticed that a client left."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        if events := started.stats()["events"]:
            return dict(events)
        time.sleep(0.02)
    raise AssertionError("the responder did not notice that its client had left")


def test_a_reader_that_is_slow_holds_its_sender_back() -> None:
    with responder("sse") as (started, ready):
        with socket.create_connection(("127.0.0.1", ready["port"])) as client:
            query = "interval_ns=1000&count=2000&size=100000&seed=1"  # 200 MB: beyond what sockets hold
            client.sendall(f"GET /events?{query} HTTP/1.1\r\nHost: orch\r\n\r\n".encode())
            assert client.recv(12) == b"HTTP/1.1 200"
            started.stats()  # answered: the event loop is not kept from it
            time.sleep(0.3)
        events = stats_of_the_end(started)
        assert events["sent"] < events["offered"] == 2000


@pytest.mark.slow
def test_a_client_that_reads_slowly_by_socketio_does_not_hold_its_sender_back(tmp_path: Path) -> None:
    record = tmp_path / "record"
    knobs = {"read_rate": "50"}
    asked = {"operation": "events", "payload": Payload(kind="events", size=50, per_second=200.0), "knobs": knobs}
    asked |= {"load": Load(concurrency=1, duration_s=0.1), "warmup": Warmup(requests=0, at_least_s=0.0)}
    with responder("socketio", knobs=knobs) as (_, ready):
        done = make_trial(trial_of("socketio", "socketio", ready["port"], record, timeout_s=20.0, **asked))[-1]
    assert done["events"]["delivered"] == 20
    rows = sorted((row.received_ns, row.sender_ns) for row in read_record(record) if row.kind == EVENT and row.phase)
    assert all(came - rows[0][0] >= place * 20_000_000 for place, (came, _) in enumerate(rows))
    assert rows[-1][0] - rows[-1][1] > 20_000_000  # sent long ago, and queued since
