"""What the benchmark against wrk rests on: the latencies as they were measured, equal requests, replies from memory."""

from __future__ import annotations

import random
import re
import socket
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from benchmarks import wrk
from benchmarks.harness import replay
from benchmarks.harness.wrk_program import Asked, as_measured, at_share, read_output, script

REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


def corrected(counts: Counter[int], expected: int) -> Counter[int]:
    """What wrk makes of latencies, by the rule that its source states: the copies are spaced by the mean."""
    found = Counter(counts)
    for value in sorted(counts):
        copies = range(value - expected, expected, -expected)
        if value >= 2 * expected:
            found.update(dict.fromkeys(copies, counts[value]))
    return found


def printed(latencies: Counter[int], *, requests: int, window_us: int, status: int = 0) -> str:
    head = (
        f'\norch {{"duration_us": {window_us}, "requests": {requests}, "bytes": 1, "errors": '
        f'{{"connect": 0, "read": 0, "write": 0, "status": {status}, "timeout": 0}}}}\n'
    )
    return "Running\n" + head + "".join(f"{value} {count}\n" for value, count in sorted(latencies.items()))


@pytest.mark.parametrize("seed", range(5))
def test_what_wrk_adds_to_long_latencies_is_taken_away_again(seed: int) -> None:
    rng = random.Random(seed)
    measured = Counter(int(rng.lognormvariate(8, 0.9)) + 50 for _ in range(3000))
    expected = sum(value * count for value, count in measured.items()) // 3000
    shown = corrected(measured, expected)
    assert sum(shown.values()) > 3000
    least = min(measured)  # wrk shows nothing below the shortest that it measured
    assert as_measured({v: c for v, c in shown.items() if v >= least}, expected) == dict(measured)


def test_figures_are_of_the_latencies_as_they_were_measured() -> None:
    measured = Counter({100: 97, 1000: 3})
    found = read_output(printed(corrected(measured, 120), requests=100, window_us=12_000), in_flight=1)
    assert (found["requests"], found["window_s"], found["p50_ms"], found["p99_ms"]) == (100, 0.012, 0.1, 1.0)
    assert found["printed"] == "Running\n"


@pytest.mark.parametrize("changed", [{"requests": 101}, {"status": 1}])
def test_requests_without_a_latency_or_a_right_status_are_refused(changed: dict[str, int]) -> None:
    told: dict[str, Any] = {"requests": 100, "window_us": 12_000, **changed}
    with pytest.raises(SystemExit):
        read_output(printed(Counter({100: 100}), **told), in_flight=1)


def test_the_value_at_a_share_is_the_smallest_that_it_does_not_exceed() -> None:
    counts = {1: 98, 7: 1, 9: 1}
    assert [at_share(counts, share) for share in (0.5, 0.98, 0.981, 0.99, 1.0)] == [1, 1, 7, 7, 9]


def test_wrk_sends_the_requesters_path_fields_and_body() -> None:
    trial = wrk.trial_of("pycurl-multi", 1, 50, 3, Path("x"), 117)
    asked = wrk.request_of(trial)
    assert (asked.port, asked.path, len(asked.body)) == (1, "/echo/data", 117)
    assert asked.fields["User-Agent"] == "orch"
    text = script(Asked(port=1, path="/", fields={'a"b': "c"}, body=b"\x00\n9"))
    assert 'wrk.body = "\\000\\010\\057"' in text
    assert 'wrk.headers["\\097\\034\\098"] = "\\099"' in text
    assert set(re.findall(r"summary\.(\w+)", text)) == {"errors", "duration", "requests", "bytes"}


def test_without_wrk_the_benchmark_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("sys.argv", ["benchmarks.wrk"])
    with pytest.raises(SystemExit, match="apt-get install wrk"):
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
