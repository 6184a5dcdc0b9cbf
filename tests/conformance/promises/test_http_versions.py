"""`http: 2`: both ends speak it to each other, and a responder that is told so answers nothing else."""

from __future__ import annotations

import contextlib
import socket
from pathlib import Path

import pytest

from tests.conformance.kit import Implementation

pytestmark = pytest.mark.busy

TWO = {"http": "2"}
SETTINGS = 4  # the type of a frame
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, SETTINGS, 0, 0, 0, 0, 0))
OLDER = b"POST /identity HTTP/1.1\r\nHost: orch\r\nContent-Length: 0\r\n\r\n"


def answer(port: int, sent: bytes) -> bytes:
    """The first bytes that come back; fewer than nine where the connection ended before."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(sent)
        came = b""
        with contextlib.suppress(ConnectionError):
            while len(came) < 9 and (more := connection.recv(9 - len(came))):
                came += more
        return came


def test_both_ends_meet_over_http_2(ends: Implementation, version_pair: tuple[str, str, str], tmp_path: Path):
    protocol, implementation, client = version_pair
    with ends.respond(protocol, implementation, knobs=TWO) as responder:
        port = responder.ready["port"]
        trial = ends.request(
            ends.trial(
                protocol,
                client,
                port,
                tmp_path / "record",
                operation="echo",
                payload={"kind": "records", "count": 5},
                knobs=TWO,
            )
        )
        assert responder.stats()["answered"] == 13 + 2
        assert answer(port, PREFACE)[3] == SETTINGS
        assert not answer(port, OLDER).startswith(b"HTTP/1")
    assert (trial.done["requests"], trial.done["verified"], trial.done["errors"]) == (10, 10, {})


def test_who_is_told_nothing_speaks_http_1_1(ends: Implementation, version_pair: tuple[str, str, str]):
    protocol, implementation, _ = version_pair
    with ends.respond(protocol, implementation) as responder:
        assert answer(responder.ready["port"], OLDER).startswith(b"HTTP/1.1 ")
        assert answer(responder.ready["port"], PREFACE)[3:4] != bytes((SETTINGS,))
