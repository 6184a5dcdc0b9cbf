"""Clients that never end: of their request, of its head, of their number. The page goes on answering others."""

from __future__ import annotations

import socket
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from orchestrator.web import connections
from orchestrator.web.pages import runs
from tests.support.web import WITH_SAMPLES, served

HEAD = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"


@pytest.fixture
def place(shared) -> Iterator[tuple[str, int]]:
    with served(shared) as address:
        yield "127.0.0.1", int(address.rpartition(":")[2])


def answers(place: tuple[str, int]) -> bool:
    with urllib.request.urlopen(f"http://127.0.0.1:{place[1]}/", timeout=60) as answer:
        return bool(answer.status == 200)


def rest(client: socket.socket) -> bytes:
    """All that comes until the server closes; b"" where it does so without a word."""
    found = b""
    try:
        while more := client.recv(1 << 16):
            found += more
    except ConnectionResetError:
        pass
    return found


@pytest.mark.parametrize(
    "begun",
    [
        b"",
        b"GET / HT",
        HEAD + b"X-Slow: ",
        b"POST /start HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\na",
    ],
)
def test_a_request_that_never_ends_is_ended(place, monkeypatch, begun):
    monkeypatch.setattr(connections, "REQUEST_S", 0.3)
    with socket.create_connection(place, timeout=60) as client:
        client.sendall(begun)
        rest(client)  # it returns
    assert answers(place)


def test_a_head_without_an_end_is_refused_before_it_takes_memory(place):
    with socket.create_connection(place, timeout=60) as client:
        client.sendall(HEAD)
        sent = 0
        try:
            while sent < 64 * connections.MOST_HEAD:
                client.sendall(b"X-More: " + b"x" * 8000 + b"\r\n")
                sent += 8010
        except (BrokenPipeError, ConnectionResetError):
            pass
        assert sent < 64 * connections.MOST_HEAD
    assert answers(place)


def test_more_connections_than_there_may_be_are_told_so_and_closed_at_once(place, monkeypatch):
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 20)
    with ExitStack() as stack:
        clients = [stack.enter_context(socket.create_connection(place, timeout=60)) for _ in range(40)]
        for client in clients[20:]:
            said = rest(client)
            assert said.startswith(b"HTTP/1.1 503 ")
            assert b"\r\nretry-after: 10\r\n" in said
            assert b"too many connections" in said
    assert answers(place)


def test_who_takes_nothing_of_an_answer_leaves_room_for_others(place, monkeypatch):
    monkeypatch.setattr(connections, "TAKING_S", 0.3)
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 4)
    wish = b"GET /runs/" + WITH_SAMPLES.encode() + b"/report HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with ExitStack() as stack:
        for _ in range(4):
            client = stack.enter_context(socket.socket())
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect(place)
            client.sendall(wish * 20)  # more than the system keeps for it
        assert any(is_let_in(place) for _ in range(600))


def is_let_in(place: tuple[str, int]) -> bool:
    """Whether there is room; a moment later at the latest."""
    time.sleep(0.1)
    try:
        return answers(place)
    except OSError:
        return False


def test_an_answer_may_take_longer_than_a_request(place, monkeypatch):
    listing = runs.listing

    def slow(*words):
        time.sleep(0.6)
        return listing(*words)

    monkeypatch.setattr(connections, "REQUEST_S", 0.2)
    monkeypatch.setattr(runs, "listing", slow)
    assert answers(place)


def test_a_wish_for_a_websocket_is_not_granted(place):
    wish = b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AA==\r\n\r\n"
    with socket.create_connection(place, timeout=60) as client:
        client.sendall(HEAD + wish)
        assert b" 101 " not in client.recv(100)
