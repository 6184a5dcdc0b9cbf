"""What the benchmark against wrk rests on: the latencies as they were measured, equal requests, replies from memory."""

from __future__ import annotations

import socket
import threading
from pathlib import Path
from typing import Any

import pytest

from benchmarks import wrk
from benchmarks.harness import generators, replay
from orchestrator.referee.tools import TOOLS, Found

REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


def test_wrk_sends_the_requesters_path_fields_and_body() -> None:
    asked = wrk.request_of(wrk.trial_of("pycurl-multi", 1, 50, 3, Path("x"), 117))
    assert (asked.path, [len(body) for body in asked.bodies]) == ("/echo/data", [117])
    assert asked.fields["User-Agent"] == "orch"


def test_without_wrk_the_benchmark_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generators, "find", lambda name: Found(tool=TOOLS[name], why="there is none"))
    monkeypatch.setattr("sys.argv", ["benchmarks.wrk"])
    with pytest.raises(SystemExit, match=r"there is none. What to do: apt-get install wrk"):
        wrk.main()


def test_a_goal_is_met_missed_or_open_by_median_and_interval() -> None:
    good = (1.0, 0.9, 1.1)
    assert wrk.verdict(wrk.QUIET, 50, (1.01, 0.99, 1.02), (1.1, 1.0, 1.3)) == "ok"
    assert wrk.verdict(wrk.QUIET, 50, (0.9, 0.85, 0.95), good) == "MISSED"
    assert wrk.verdict(wrk.QUIET, 50, (1.01, 0.99, 1.02), (1.4, 1.25, 1.5)) == "MISSED"
    assert wrk.verdict(wrk.QUIET, 50, (0.99, 0.9, 1.02), good) == "unclear"
    assert wrk.verdict(wrk.BESIDE, 50, (0.86, 0.8, 0.9), (9.0, 9.0, 9.0)) == "ok"
    assert wrk.verdict(wrk.BESIDE, 10, (0.1, 0.1, 0.1), good) == ""


@pytest.mark.parametrize("has_goals", [True, False])
def test_a_line_shows_the_ratios_of_the_rounds_and_goals_for_the_real_responder_alone(has_goals: bool) -> None:
    figures = {"p50_ms": 1.0, "cpu_us": 20.0, "cpu_share": 0.2, "machine_cpus": 1.1}
    rounds = [
        {
            "wrk": {**figures, "rate_per_s": 1000.0, "p99_ms": 2.0},
            "pycurl": {**figures, "rate_per_s": 1000.0 * ratio, "p99_ms": 2.0},
        }
        for ratio in (0.7, 0.8, 0.9)
    ]
    of_wrk, of_client = wrk.lines(wrk.QUIET, 50, rounds, ["wrk", "pycurl"], has_goals=has_goals)
    assert "0.800 (0.700-0.900)" in of_client
    assert "0.800" not in of_wrk
    assert ("MISSED" in of_client) is has_goals


class _Transport:
    def __init__(self) -> None:
        self.written: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.written.append(data)


def test_a_replayed_reply_is_the_real_responders_and_is_asked_for_once() -> None:
    request = b"POST /echo HTTP/1.1\r\nContent-Length: 4\r\n\r\nbody"
    came: list[bytes] = []

    def answer(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            while not replay.is_whole(b"".join(came)):
                came.append(connection.recv(1000))
            connection.sendall(REPLY[:20])
            connection.sendall(REPLY[20:])

    with socket.create_server(("127.0.0.1", 0)) as listener:
        real = threading.Thread(target=answer, args=(listener,))
        real.start()
        answering: Any = replay.Replaying(listener.getsockname()[1], {})
        answering._transport = transport = _Transport()
        answering.data_received(request[:30])
        assert transport.written == []
        answering.data_received(request[30:])
        answering.data_received(request)  # the listener accepts no second connection
        real.join(timeout=30)
    assert transport.written == [REPLY, REPLY]
    assert b"".join(came) == request
