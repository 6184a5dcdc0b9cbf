"""Responder and requester as programs: the process contract, end to end over `tcp`."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from services.python.contract.lines import STATUSES, Load, Payload, Target, Trial, Warmup
from services.python.contract.responder_lines import Serve, Tls
from services.python.load.record import read_record
from services.python.load.recorder import Tally
from services.python.protocols.tcp.frames import ERROR, EXCHANGE, IDENTITY, decode_request
from services.python.protocols.tcp.stream import FrameReader, send_frame
from services.python.trial.run import not_sent_reason
from tests.support.ends import PATIENCE_S, make_trial, program, responder

pytestmark = pytest.mark.busy

SHORT = Warmup(requests=20, at_least_s=0, at_most_s=30)


def a_trial(port: int, record: Path, **changes: Any) -> Trial:
    told: dict[str, Any] = {
        "target": Target(host="127.0.0.1", port=port, identity="nonce"),
        "protocol": "tcp",
        "client": "socket",
        "operation": "timestamp",
        "record": str(record),
        "warmup": SHORT,
        "load": Load(requests=50),
    }
    return Trial(**{**told, **changes})


@pytest.mark.parametrize("client", ["socket", "uvloop"])
@pytest.mark.parametrize("connection", ["reuse", "per-request"])
@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_trial_from_check_to_done(tmp_path: Path, client: str, connection: Any, concurrency: int):
    record = tmp_path / "record"
    with responder("tcp") as (answering, ready):
        load = Load(requests=50, concurrency=concurrency)
        lines = make_trial(a_trial(ready["port"], record, client=client, connection=connection, load=load))
        answering.send("stats")
        stats = answering.read()
    assert [line["type"] for line in lines if line["type"] != "progress"] == ["checked", "start", "done"]
    done = lines[-1]
    rows = list(read_record(record))
    assert (done["rows"], done["warmup_requests"], done["requests"]) == (70, 20, 50)
    assert sorted(row.sequence for row in rows) == list(range(1, 71))
    assert [row.phase for row in sorted(rows)] == [0] * 20 + [1] * 50
    assert {row.status for row in rows} == {0}
    assert all(row.sent_ns < row.received_ns for row in rows)
    assert max(row.received_ns for row in rows if row.phase == 0) < min(row.sent_ns for row in rows if row.phase == 1)
    assert done["errors"] == {}
    assert (done["identity"], done["verified"]) == ("nonce", 50)
    assert done["verified_in_flight"] <= (0 if concurrency == 1 else 50)
    assert 0 < done["paused_s"] < done["measured_s"]
    assert done["connections_opened"] == (0 if connection == "reuse" else 50)
    assert done["body_bytes_sent"] == 50 * lines[0]["body_bytes_sent"]
    assert stats["answered"] == 72  # the two of the check among them
    assert 2 < stats["peers"] <= (2 + concurrency if connection == "reuse" else 72)


def test_bytes_and_packets_are_those_of_the_measured_phase(tmp_path: Path):
    load, payload = Load(requests=10), Payload(kind="exchange", size=1000, reply_size=3000)
    with responder("tcp") as (_, ready):
        done = make_trial(
            a_trial(ready["port"], tmp_path / "record", operation="exchange", payload=payload, load=load)
        )[-1]
    if done["wire"] is None:
        pytest.skip("this system has no TCP_INFO")
    assert done["wire"]["bytes_sent"] == 10 * (1000 + 4 + 5)
    assert done["wire"]["bytes_received"] == 10 * (3000 + 5)
    assert done["min_rtt_us"] > 0


@contextmanager
def strange_responder(answer: Callable[[int, int, bytes], tuple[int, bytes] | None]) -> Iterator[int]:
    """Frames answered as told; `answer` gets the number of the request, from 1 without identity. None: no answer."""
    listener = socket.create_server(("127.0.0.1", 0))
    count = 0

    def converse(connection: socket.socket) -> None:
        nonlocal count
        reader = FrameReader(connection)
        with connection:
            while (frame := reader.read()) is not None:
                code, body = frame
                if code == IDENTITY:
                    send_frame(connection, code, b"nonce")
                    continue
                count += 1
                reply = answer(count, code, body)
                if reply is not None:
                    send_frame(connection, *reply)

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=converse, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    with listener:
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


def exchanged(code: int, body: bytes) -> tuple[int, bytes]:
    from services.python.operations import OPERATIONS

    return code, OPERATIONS["exchange"].answer(decode_request(code, body), lambda: 0)["data"]


@pytest.mark.parametrize("client", ["socket", "uvloop"])
def test_wrong_replies_errors_and_silence_are_counted_by_kind_and_never_a_latency(tmp_path: Path, client: str):
    def answer(number: int, code: int, body: bytes) -> tuple[int, bytes] | None:
        # Request 1 is the check, 2 to 21 the warm-up.
        return {25: (EXCHANGE, b"not it"), 28: (ERROR, b"out of order"), 30: None, 33: (77, b"")}.get(
            number, exchanged(code, body)
        )

    record = tmp_path / "record"
    with strange_responder(answer) as port:
        trial = a_trial(
            port,
            record,
            client=client,
            operation="exchange",
            payload=Payload(kind="exchange", size=10, reply_size=10),
            load=Load(requests=30),
            timeout_s=1.0,
        )
        done = make_trial(trial)[-1]
    assert done["type"] == "done"
    assert done["errors"] == {"wrong-reply": 1, "protocol": 1, "timeout": 1, "undecodable": 1}
    assert done["error_examples"]["protocol"] == "out of order"
    assert done["requests"] == 30
    statuses = [STATUSES[row.status] for row in read_record(record) if row.phase == 1]
    assert statuses.count("ok") == 26
    assert done["body_bytes_received"] == 26 * 10
    assert done["connections_opened"] == 2  # after the silence, and after what could not be decoded


@pytest.mark.slow
@pytest.mark.parametrize("client", ["socket", "uvloop"])
def test_a_requester_that_is_killed_with_several_in_flight_leaves_verified_rows_alone(tmp_path: Path, client: str):
    record = tmp_path / "record"
    load = Load(duration_s=60, concurrency=4)
    with responder("tcp") as (_, ready), program("services.python.programs.request") as requester:
        requester.send(a_trial(ready["port"], record, client=client, load=load).to_json())
        while requester.read().get("phase") != "measured":
            pass
        requester.process.kill()
        requester.process.wait(PATIENCE_S)
    rows = list(read_record(record))
    assert {STATUSES[row.status] for row in rows} == {"ok"}
    assert sum(row.phase == 0 for row in rows) >= 20  # the warm-up
    assert sum(row.phase == 1 for row in rows) >= 1  # one a second is looked at at once
    assert all(row.sent_ns < row.received_ns and row.bytes_received > 0 for row in rows)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"protocol": "nope"}, "unknown protocol or implementation 'nope'"),
        ({"protocol": "harness"}, "unknown protocol or implementation 'harness'"),
        ({"implementation": "fast"}, "'fast'"),
        ({"host": "198.51.100.7"}, "cannot listen on 198.51.100.7:0"),
        ({"knobs": {"threads": "4"}}, "tcp cannot do threads: 4: it has no such knob"),
        ({"knobs": {"workers": "4"}}, "tcp cannot do workers: 4: each of its responders is one process"),
        ({"knobs": {"workers": 4}}, "knobs.workers must be text, not 4"),
        ({"resources": {"store": "db:5432"}}, "tcp/threads: resources that no operation asked here takes: store"),
        ({"tls": Tls(certificate="c.pem", key="k.pem")}, "tls: none, and files for it"),
    ],
)
def test_a_responder_that_cannot_start_says_so_in_one_line(changes: dict[str, Any], words: str):
    serve = Serve(**{"protocol": "tcp", "identity": "x", **changes})
    with program("services.python.programs.respond") as refused:
        refused.send(serve.to_json())
        status, lines, stderr = refused.ended_by_itself()
    assert (status, lines) == (1, [])
    assert words in stderr
    assert stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", "stdin ended before a line came"),
        ("serve tcp", "not a serve line on stdin"),
        ('{"type": "serve", "contract": 1, "flags": 3}', "this responder speaks contract 2; the orchestrator speaks 1"),
        (
            '{"type": "serve", "protocol": "tcp"}',
            "this responder speaks contract 2; the orchestrator does not say which",
        ),
        ('{"type": "serve", "contract": 2, "protocol": "tcp"}', "identity is missing"),
        (
            '{"type": "serve", "contract": 2, "protocol": "tcp", "identity": "x", "prot": 1}',
            "prot is not a key of Serve",
        ),
        ('{"type": "trial", "contract": 2}', 'has type "trial"; known here: serve'),
    ],
)
def test_a_responder_that_is_told_something_else_says_what_is_wrong_and_ends(line: str, words: str):
    with program("services.python.programs.respond") as refused:
        refused.send(line)
        status, lines, stderr = refused.ended()
    assert (status, lines) == (1, [])
    assert words in stderr
    assert stderr.count("\n") == 1


_NOISY = """
import os, sys
from services.python.contract.requester_lines import Failed
from services.python.programs.lines import Lines
lines = Lines()
print("a banner by print")
os.write(1, b"a banner by write\\n")
os.system("echo a banner by a child")
lines.write(Failed(kind="trial", message="no"))
sys.stdout.flush()
"""


def test_what_a_library_prints_does_not_reach_stdout():
    ended = subprocess.run([sys.executable, "-c", _NOISY], capture_output=True, text=True, timeout=PATIENCE_S)
    assert ended.stdout == '{"kind":"trial","message":"no","type":"failed"}\n'
    assert sorted(ended.stderr.splitlines()) == ["a banner by a child", "a banner by print", "a banner by write"]


@pytest.mark.parametrize(
    ("not_sent", "busy_s", "cpu_s", "reason"),
    [
        (0, 4.0, 0.1, None),
        (3, 3.9, 0.1, "connections-busy"),
        (3, 3.9, 0.95, "requester-behind"),  # its own core was full: the connections waited for it
        (3, 2.0, 0.1, "requester-behind"),  # something held it up
    ],
)
def test_why_requests_were_not_sent(not_sent: int, busy_s: float, cpu_s: float, reason: str | None):
    tally = Tally(not_sent=not_sent, busy_ns=int(busy_s * 1e9), first_sent_ns=0, last_received_ns=1_000_000_000)
    assert not_sent_reason(tally, concurrency=4, cpu_s=cpu_s) == reason
