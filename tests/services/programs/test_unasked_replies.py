"""A responder that sends replies nobody asked for: whoever reads frames without ids takes each for the next one's."""

from __future__ import annotations

import socket
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from services.python.contract.lines import Load, Payload, Warmup
from tests.support.ends import make_trial, responder, trial_of
from tests.support.matrix import others_slow
from tests.support.servers import HOST, listening

pytestmark = pytest.mark.busy

CLIENTS = [
    ("tcp", "socket"),
    ("tcp", "uvloop"),
    ("websocket", "websocket-client"),
    ("websocket", "websockets"),
    ("websocket", "aiohttp"),
    ("rest", "raw"),
]
IDLE_S = 0.01


def _is_light(protocol: str, client: str) -> bool:
    return (protocol, client) in {("tcp", "socket"), ("websocket", "aiohttp"), ("rest", "raw")}


def whole(server: socket.socket) -> bytes:
    """A reply, whatever segments it comes in."""
    server.settimeout(None)
    reply = server.recv(65536)
    server.settimeout(IDLE_S)
    with suppress(TimeoutError):
        while more := server.recv(65536):
            reply += more
    return reply


class Between:
    """`again`: the first reply comes twice, and each later one late. `at_last`: what comes when all are answered."""

    def __init__(self, protocol: str, *, again: bool = False, at_last: bytes = b"") -> None:
        self._first = 2 if protocol == "websocket" else 1  # after the upgrade
        self._again, self._at_last = again, at_last

    def __call__(self, client: socket.socket, server: socket.socket) -> None:
        count, held = 0, b""
        client.settimeout(IDLE_S)
        while True:
            try:
                request = client.recv(65536)
            except TimeoutError:
                if count > self._first and (held or self._at_last):
                    client.sendall(held or self._at_last)
                    held = b""
                    if self._at_last:
                        return self._listen(client)
                continue
            if not request:
                return None
            server.sendall(request)
            reply = whole(server)
            count += 1
            if held:
                held, reply = reply, held
            elif self._again and count == self._first:
                held = reply
            client.sendall(reply)

    @staticmethod
    def _listen(client: socket.socket) -> None:
        client.settimeout(None)
        while client.recv(65536):
            pass


def last_line(tmp_path: Path, protocol: str, client: str, converse: Between, **changes: Any) -> dict[str, Any]:
    """Of a trial whose requests `converse` carries to the responder, and their replies back."""
    with responder(protocol) as (_, ready):

        def carry(near: socket.socket) -> None:
            with socket.create_connection((HOST, ready["port"])) as server:
                for end in (near, server):
                    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                converse(near, server)

        with listening(carry) as port:
            usual = {"operation": "echo", "payload": Payload(kind="bytes", size=100)}
            usual |= {"warmup": Warmup(requests=4, at_least_s=0), "load": Load(requests=8, concurrency=2)}
            return make_trial(trial_of(protocol, client, port, tmp_path / "record", **{**usual, **changes}))[-1]


@pytest.mark.busy  # a connection that gets no CPU time holds nothing
@pytest.mark.parametrize(("protocol", "client"), others_slow(CLIENTS, _is_light))
@pytest.mark.parametrize("calls", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_reply_that_came_twice_fails_the_trial(tmp_path: Path, protocol: str, client: str, calls: int):
    failed = last_line(tmp_path, protocol, client, Between(protocol, again=True), calls=calls)
    assert (failed["type"], failed.get("kind")) == ("failed", "wrong-reply")
    assert failed["message"] == (
        "2 of 2 connections held replies that nobody asked for: latencies may be of earlier requests"
    )


@pytest.mark.parametrize(("protocol", "client"), others_slow(CLIENTS, _is_light))
def test_an_honest_responder_is_not_accused(tmp_path: Path, protocol: str, client: str):
    done = last_line(tmp_path, protocol, client, Between(protocol))
    assert (done["type"], done.get("errors")) == ("done", {})
