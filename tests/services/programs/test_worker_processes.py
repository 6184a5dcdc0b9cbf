"""A responder with several worker processes: one port, one nonce, exact sums, and nothing left however it ends."""

from __future__ import annotations

import os
import signal
import socket
import struct
import time
from pathlib import Path

import pytest

from orchestrator.hosts.processes import started_at
from services.python.contract.counters import HostCounters
from services.python.contract.offers import find_protocol
from services.python.contract.responder_lines import EventsSent, Serve, Stats
from services.python.programs.workers import added_up
from tests.support.ends import program, responder

pytestmark = pytest.mark.busy

THREE = {"workers": "3"}
QUICK = "starlette-granian"  # the one that starts first
POST = (
    b"POST /add HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 13\r\n\r\n" + b'{"a":1,"b":2}'
)


def workers_of(head: int) -> list[int]:
    """The processes that this one has started."""
    return [int(pid) for pid in Path(f"/proc/{head}/task/{head}/children").read_text().split()]


def assert_gone(pids: list[int]) -> None:
    deadline = time.monotonic() + 30
    while alive := [pid for pid in pids if started_at(pid)]:
        assert time.monotonic() < deadline, f"still running: {alive}"
        time.sleep(0.02)


@pytest.mark.slow
def test_a_peer_that_comes_back_to_another_worker_is_one_peer() -> None:
    port = 0
    with responder("rest", implementation=QUICK, knobs=THREE) as (started, ready):
        for _ in range(60):  # from one port; they meet more than one worker
            with socket.socket() as again:
                again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                again.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # no TIME_WAIT
                again.bind(("127.0.0.1", port))
                port = again.getsockname()[1]
                again.connect(("127.0.0.1", ready["port"]))
                again.sendall(POST)
                assert b'{"sum":3}' in again.recv(1000)
        told = started.stats()
    assert (told["answered"], told["peers"]) == (60, 1)
    assert sum(worker["peers"] for worker in told["workers"]) > 1


@pytest.mark.slow
def test_a_worker_that_hangs_before_it_is_ready_does_not_keep_the_others() -> None:
    with program("services.python.programs.respond") as started:
        started.send(Serve(protocol="rest", identity="nonce", implementation=QUICK, knobs=THREE).to_json())
        while len(pids := workers_of(started.process.pid)) < 3:
            time.sleep(0.01)
        os.kill(pids[0], signal.SIGSTOP)
        started.send("stats")
        status, lines, words = started.ended()
    assert (status, lines) == (0, [])
    assert "workers that did not end were killed: 1 of 3" in words
    assert_gone(pids)


@pytest.mark.parametrize(
    ("protocol", "implementation", "workers", "why"),
    [
        ("tcp", None, "3", "tcp cannot do workers: 3: each of its responders is one process"),
        ("rest", "flask", "3", "Flask's development server is one process; flask-gunicorn has workers"),
        ("rest", None, "65", "rest cannot do workers: 65"),
        ("grpc", None, "0", "grpc cannot do workers: 0"),
        ("grpc", None, "64", None),
    ],
)
def test_who_has_no_workers_says_so(protocol: str, implementation: str | None, workers: str, why: str | None) -> None:
    of = find_protocol(protocol)
    words = of.refusal_of({"workers": workers}, of.responder(implementation))
    assert words is None if why is None else why in (words or "")


def test_what_workers_count_is_added_up() -> None:
    host = HostCounters(monotonic_ns=5, process={"cpu_s": 1.0, "max_rss": 10.0})
    one = Stats(
        answered=3,
        peers=2,
        cpu_s=0.5,
        memory_bytes=100,
        memory_since="phase",
        host=HostCounters(process={"cpu_s": 0.75, "max_rss": 20.0}),
        events=EventsSent(offered=4, sent=3, worst_late_ns=7),
    )
    other = Stats(answered=5, peers=2, cpu_s=0.25, memory_bytes=50, memory_since="phase")
    both = added_up([one, other], 3, 0.125, (7, "phase"), host)
    assert (both.answered, both.peers, both.cpu_s, both.memory_bytes) == (8, 3, 0.875, 157)
    assert both.memory_since == "phase"
    assert both.events == EventsSent(offered=4, sent=3, worst_late_ns=7)
    assert both.host.process == {"cpu_s": 1.75, "max_rss": 30.0}
    assert both.host.monotonic_ns == 5
    assert [(worker.answered, worker.peers) for worker in both.workers] == [(3, 2), (5, 2)]
    unknown = added_up(
        [one, Stats(answered=0, peers=0, cpu_s=None, memory_since="process")], 2, 0.1, (7, "phase"), host
    )
    assert (unknown.cpu_s, unknown.memory_bytes, unknown.memory_since) == (None, None, "process")
