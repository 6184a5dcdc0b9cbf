"""granian as a responder's server, where that differs from the tests that all servers share."""

from __future__ import annotations

import signal
import socket
from typing import Any

import pytest

from services.python.contract.responder_lines import Serve
from services.python.serve.responder import CannotServe
from services.python.transports.http.granian import serve_granian
from tests.support.ends import program, responder

pytestmark = pytest.mark.busy

NAMES = {"protocol": "json", "implementation": "asgi-granian"}


def test_a_port_that_is_taken_is_said_before_anything_starts() -> None:
    def never(*_: Any) -> None:
        raise AssertionError("announced")

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CannotServe, match=f"cannot listen on 127.0.0.1:{port}"):
            serve_granian(None, "127.0.0.1", port, never)


def test_two_responders_never_share_a_port() -> None:
    with responder(**NAMES) as (_, ready), program("services.python.programs.respond") as second:
        second.send(Serve(**NAMES, identity="nonce", port=ready["port"]).to_json())
        status, lines, words = second.ended_by_itself()
    assert (status, lines) == (1, [])
    assert "cannot listen on" in words


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_when_it_is_told_to_and_says_nothing_of_its_own(sent: signal.Signals) -> None:
    with responder(**NAMES) as (running, _):
        running.process.send_signal(sent)
        status, lines, words = running.ended_by_itself()
    assert (status, lines, words) == (0, [], "")
