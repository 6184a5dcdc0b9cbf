"""Streams of events between both ends as programs: every transport, what is lost on the way, and ends that go away."""

from __future__ import annotations

import json
import socket
import time
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import connect

from services.python.contract.lines import Load, Payload, Target, Trial, Warmup
from services.python.load.record import CLOCKS, KINDS, Row, read_record
from tests.support.ends import Program, make_trial, responder
from tests.support.event_relay import CHUNKS, FRAMES, GRPC, Faults, Framing, event_relay

pytestmark = pytest.mark.busy

EVENT, SENDER = KINDS.index("event"), CLOCKS.index("responder-monotonic")
PAIRS = [
    ("websocket", "uvicorn", "aiohttp"),
    ("websocket", "uvicorn", "websockets"),
    ("sse", "uvicorn", "aiohttp"),
    ("sse", "starlette", "aiohttp"),
    ("grpc", "grpc-aio", "grpc-aio"),
    ("grpc", "grpcio", "grpc-aio"),
    pytest.param("socketio", "python-socketio", "socketio", marks=pytest.mark.slow),
    pytest.param("graphqlws", "strawberry", "aiohttp", marks=pytest.mark.slow),
]
PATIENCE_S = 30


def trial(protocol: str, client: str, port: int, record: Path, **changes: Any) -> Trial:
    asked: dict[str, Any] = {
        "operation": "events",
        "payload": Payload(kind="events", size=50, per_second=200.0),
        "load": Load(concurrency=2, duration_s=0.1),
        "warmup": Warmup(requests=0, at_least_s=0.0),
        "timeout_s": 20.0,
        **changes,
    }
    target = Target(host="127.0.0.1", port=port, identity="nonce")
    return Trial(target=target, protocol=protocol, client=client, record=str(record), **asked)


def stats(started: Program) -> dict[str, Any]:
    started.send("stats")
    return started.read()


def stats_of_the_end(started: Program) -> dict[str, Any]:
    """The responder's word on its events, once it has noticed that a client left."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        if events := stats(started)["events"]:
            return dict(events)
        time.sleep(0.02)
    raise AssertionError("the responder did not notice that its client had left")


@pytest.mark.parametrize(("protocol", "implementation", "client"), PAIRS)
def test_every_event_comes_once_in_order_and_has_a_row(
    protocol: str, implementation: str, client: str, tmp_path: Path
) -> None:
    record = tmp_path / "record"
    with responder(protocol, implementation=implementation) as (started, ready):
        lines = make_trial(trial(protocol, client, ready["port"], record))
        said = stats(started)
    done = lines[-1]
    assert done["type"] == "done", lines
    counts = {"offered": 40, "delivered": 40, "dropped": 0, "duplicated": 0, "reordered": 0, "wrong": 0}
    assert done["events"] == counts
    assert (done["requests"], done["warmup_requests"], done["errors"], done["verified"]) == (2, 2, {}, 40)
    rows = list(read_record(record))
    assert done["rows"] == len(rows) == 2 + 2 * 1 + 2 + 40
    measured = [row for row in rows if row.kind == EVENT and row.phase == 1]
    of = {row.sequence: row for row in rows if row.kind == 0}
    for parent in (3, 4):
        assert [row.sequence for row in measured if row.parent == parent] == list(range(1, 21))
    for row in measured:
        assert (row.status, row.sender_clock, row.connection) == (0, SENDER, of[row.parent].connection)
        assert of[row.parent].sent_ns == row.sent_ns <= row.sender_ns <= row.received_ns <= of[row.parent].received_ns
    # The check's event, one of each client's warm-up, and those that were measured.
    assert (said["events"]["offered"], said["events"]["sent"]) == (43, 43)
    assert said["answered"] == 1 + 1 + 2 + 2


TABLES = [
    ("websocket", "uvicorn", "websockets", "none"),
    pytest.param("grpc", "grpcio", "grpc-aio", "none", marks=pytest.mark.slow),
    *(
        pytest.param(*pair, "sqlite", marks=pytest.mark.slow)
        for pair in (
            ("websocket", "uvicorn", "aiohttp"),
            ("sse", "uvicorn", "aiohttp"),
            ("sse", "starlette", "aiohttp"),
            ("grpc", "grpc-aio", "grpc-aio"),
            ("grpc", "grpcio", "grpc-aio"),
            ("socketio", "python-socketio", "socketio"),
            ("graphqlws", "strawberry", "aiohttp"),
        )
    ),
]


@pytest.mark.parametrize(("protocol", "implementation", "client", "store"), TABLES)
def test_every_row_of_a_table_comes_once_and_the_store_tells_where_its_time_went(
    protocol: str, implementation: str, client: str, store: str, tmp_path: Path
) -> None:
    record = tmp_path / "record"
    kept = {"store": store, "database": str(tmp_path / "store.sqlite3")} if store == "sqlite" else {"store": store}
    asked = {"operation": "activity", "payload": Payload(kind="events", per_second=2000.0)}
    with responder(protocol, implementation=implementation, operations=["activity"], resources=kept) as (
        started,
        ready,
    ):
        lines = make_trial(trial(protocol, client, ready["port"], record, **asked))
        said = stats(started)
    done = lines[-1]
    assert done["type"] == "done", lines
    counts = {"offered": 400, "delivered": 400, "dropped": 0, "duplicated": 0, "reordered": 0, "wrong": 0}
    assert (done["events"], done["errors"], done["verified"]) == (counts, {}, 400)
    told = said["store"]
    assert (said["events"]["sent"], told["requests"]) == (403, 403)
    # The check, the warm-up of two clients, and two pages of each that is measured: a third where the table ends within.
    assert told["queries"] in ((7, 9) if store == "sqlite" else (0,))
    parts = sum(told[f"{name}_s"] for name in ("queue", "pool", "database", "service"))
    assert 0 < parts <= told["handling_s"]
    assert (told["database_s"] > 0) is (store == "sqlite")


def is_as_scheduled(rows: list[Row], interval_ns: int) -> bool:
    """Whether no event was sent before it was due, counted from the first."""
    first = min(row.sender_ns - (row.sequence - 1) * interval_ns for row in rows)
    return all(row.sender_ns >= first + (row.sequence - 1) * interval_ns for row in rows)


RELAYED = [
    pytest.param("websocket", None, "aiohttp", FRAMES, id="websocket"),
    pytest.param("sse", None, "aiohttp", CHUNKS, id="sse"),
    pytest.param("grpc", "grpc-aio", "grpc-aio", GRPC, id="grpc"),
    pytest.param("socketio", None, "socketio", FRAMES, id="socketio", marks=pytest.mark.slow),
    pytest.param("graphqlws", None, "aiohttp", FRAMES, id="graphqlws", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("protocol", "implementation", "client", "framing"), RELAYED)
def test_what_a_relay_drops_repeats_and_reorders_is_counted_exactly(
    protocol: str, implementation: str | None, client: str, framing: Framing, tmp_path: Path
) -> None:
    faults = Faults(dropped=frozenset({7, 8, 20}), repeated=frozenset({9}), held=frozenset({5, 12}))
    record = tmp_path / "record"
    started = responder(protocol, implementation=implementation)
    with started as (_, ready), event_relay(ready["port"], faults, framing) as port:
        done = make_trial(trial(protocol, client, port, record))[-1]
    assert done["type"] == "done", done
    counts = {"offered": 40, "delivered": 34, "dropped": 6, "duplicated": 2, "reordered": 4, "wrong": 0}
    assert done["events"] == counts
    assert done["errors"] == {}
    measured = [row for row in read_record(record) if row.kind == EVENT and row.phase == 1]
    assert [row.sequence for row in measured if row.parent == 3] == [
        1, 2, 3, 4, 6, 5, 9, 9, 10, 11, 13, 12, 14, 15, 16, 17, 18, 19,
    ]  # fmt: skip
    assert is_as_scheduled(measured, 5_000_000)


@pytest.mark.parametrize("implementation", ["uvicorn", "starlette"])
def test_a_reader_that_is_slow_holds_its_sender_back(implementation: str) -> None:
    with responder("sse", implementation=implementation) as (started, ready):
        with socket.create_connection(("127.0.0.1", ready["port"])) as client:
            query = "interval_ns=1000&count=2000&size=100000&seed=1"  # 200 MB: beyond what sockets hold
            client.sendall(f"GET /events?{query} HTTP/1.1\r\nHost: orch\r\n\r\n".encode())
            assert client.recv(12) == b"HTTP/1.1 200"
            stats(started)  # answered: the event loop is not kept from it
            time.sleep(0.3)
        events = stats_of_the_end(started)
        assert events["sent"] < events["offered"] == 2000


@pytest.mark.slow
def test_a_client_that_reads_slowly_by_socketio_does_not_hold_its_sender_back(tmp_path: Path) -> None:
    record = tmp_path / "record"
    slow = {"load": Load(concurrency=1, duration_s=0.1), "knobs": {"read_rate": "50"}}
    with responder("socketio", knobs={"read_rate": "50"}) as (_, ready):
        done = make_trial(trial("socketio", "socketio", ready["port"], record, **slow))[-1]
    assert done["events"]["delivered"] == 20
    rows = sorted((row.received_ns, row.sender_ns) for row in read_record(record) if row.kind == EVENT and row.phase)
    assert all(came - rows[0][0] >= place * 20_000_000 for place, (came, _) in enumerate(rows))
    assert rows[-1][0] - rows[-1][1] > 20_000_000  # sent long ago, and queued since


@pytest.mark.slow
@pytest.mark.busy
def test_what_a_reader_does_not_take_by_socketio_is_queued_in_its_senders_memory() -> None:
    asked = {"interval_ns": 1000, "count": 200, "size": 500_000, "seed": 1}  # 100 MB: beyond what sockets hold
    with responder("socketio") as (started, ready):
        url = f"ws://127.0.0.1:{ready['port']}/socket.io/?EIO=4&transport=websocket"
        with connect(url, max_queue=1, max_size=None, close_timeout=1) as client:  # stops reading when one is waiting
            assert str(client.recv()).startswith("0")
            client.send("40")
            assert str(client.recv()).startswith("40")
            before = stats(started)["memory_bytes"]
            client.send("42" + json.dumps(["events", asked]))
            events = stats_of_the_end(started)  # its stream is over, and hardly anything of it was read
            assert (events["sent"], events["offered"]) == (200, 200)
            assert stats(started)["memory_bytes"] - before > 50_000_000
