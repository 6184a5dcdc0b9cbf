"""A requester asks somebody whom nobody knows: whatever comes back ends as one clear line, within bounds."""

from __future__ import annotations

import contextlib
import json
import resource
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from services.python.contract.lines import Load, Target, Trial
from services.python.contract.offers import find_protocol
from services.python.load.unverified import LEAST_IN_ALL_BYTES, MOST_IN_ALL_BYTES
from tests.support.ends import PATIENCE_S, make_trial, program, trial_of
from tests.support.servers import misbehaving

pytestmark = pytest.mark.busy

OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


def a_trial(port: int, record: Path, *, protocol: str = "http+json", client: str = "raw", **changes: Any) -> Trial:
    usual = {"target": Target(host="127.0.0.1", port=port), "load": Load(requests=5), "timeout_s": 5.0}
    return trial_of(protocol, client, port, record, **{**usual, **changes})


def http(body: bytes) -> bytes:
    return OK + b"Content-Length: %d\r\n\r\n" % len(body) + body


REPLIES = {
    "another protocol": (b"220 mail.example ESMTP\r\n", "undecodable"),
    "garbage": (b"\x00\xff" * 5_000, "undecodable"),
    "silence": (b"", "closed"),
    "an error": (b"HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n", "protocol"),
    "another address": (
        b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n",
        "protocol",
    ),
    "a page": (http(b"<html>"), "undecodable"),
    "a list": (http(b"[1]"), "undecodable"),
    "a million brackets": (http(b"[" * 1_000_000), "undecodable"),
    "no name": (http(b"{}"), "wrong-reply"),
    "a number for a name": (http(b'{"identity": 1}'), "wrong-reply"),
    "a name without end": (http(json.dumps({"identity": "\x1b[31m" + "A" * 3_000_000}).encode()), "wrong-reply"),
    "half a character for a name": (http(b'{"identity": "\\ud800"}'), "wrong-reply"),
    "a body without end": (OK + b"Content-Length: 99999999999\r\n\r\n" + b"a" * 100_000, "host"),
}


@pytest.mark.parametrize("case", REPLIES)
def test_what_is_no_reply_ends_the_trial_with_its_kind_and_a_short_line(tmp_path: Path, case: str):
    answer, kind = REPLIES[case]
    with misbehaving(answer, then_close=True) as port:
        (line,) = make_trial(a_trial(port, tmp_path / "record"))
    assert (line["type"], line["kind"]) == ("failed", kind)
    assert len(line["message"]) < 1_000
    assert line["message"].isprintable()


@pytest.mark.parametrize("identity", [None, "nonce"])
def test_memory_is_bounded_where_nobody_knows_who_answers(tmp_path: Path, identity: str | None):
    with misbehaving(b"", then_close=False) as port, program("services.python.programs.request") as requester:
        target = Target(host="127.0.0.1", port=port, identity=identity)
        requester.send(a_trial(port, tmp_path / "record", target=target, timeout_s=PATIENCE_S).to_json())
        assert is_bounded(requester.process) is (identity is None)


def is_bounded(process: subprocess.Popen[str]) -> bool:
    """Whether the process may take so much memory and no more, once it has connected."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        with contextlib.suppress(FileNotFoundError):  # it was closed meanwhile
            if any("socket" in str(link.readlink()) for link in Path(f"/proc/{process.pid}/fd").iterdir()):
                most, _ = resource.prlimit(process.pid, resource.RLIMIT_DATA)
                return LEAST_IN_ALL_BYTES <= most <= MOST_IN_ALL_BYTES
        time.sleep(0.02)
    raise AssertionError("it has not connected")


WAYS = [(name, client.name) for name in ("rest", "websocket", "socketio") for client in find_protocol(name).clients]


@pytest.mark.parametrize("scheme", ["http", pytest.param("ws", marks=pytest.mark.slow)])
@pytest.mark.parametrize(("protocol", "client"), WAYS, ids=["-".join(way) for way in WAYS])
def test_nobody_else_is_asked_because_a_reply_names_him(tmp_path: Path, protocol: str, client: str, scheme: str):
    with socket.create_server(("127.0.0.1", 0)) as other:
        there = f"{scheme}://127.0.0.1:{other.getsockname()[1]}/elsewhere"
        answer = f"HTTP/1.1 307 There\r\nLocation: {there}\r\nContent-Length: 0\r\n\r\n".encode()
        with misbehaving(answer, then_close=True) as port:
            (line,) = make_trial(a_trial(port, tmp_path / "record", protocol=protocol, client=client))
        assert line["type"] == "failed"
        other.setblocking(False)
        with pytest.raises(BlockingIOError):
            other.accept()
