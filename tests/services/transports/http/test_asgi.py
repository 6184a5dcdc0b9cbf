"""The one server configuration of the ASGI protocols."""

from __future__ import annotations

import asyncio
import socket
import threading
from typing import Any

import pytest

from services.python.contract.limits import MAX_MESSAGE_BYTES
from services.python.serve.dispatcher import Dispatcher
from services.python.serve.responder import CannotServe
from services.python.transports.http.asgi import WebSocketOptions, answer, peer_of, serve_asgi


class Watched(Dispatcher):
    """A dispatcher that notes which threads ask it."""

    def answer(self, operation: str, request: Any, peer: Any) -> dict[str, Any]:
        self.asked_by = threading.get_ident()
        return {"peer": peer}


@pytest.mark.parametrize(
    ("operation", "request_", "inline"),
    [
        ("add", {"a": 1, "b": 2}, True),
        ("image", {"data": b"", "full_decode": False}, True),
        ("image", {"data": b"", "full_decode": True}, False),
    ],
)
def test_only_a_full_decode_leaves_the_event_loop(operation: str, request_: dict[str, Any], inline: bool) -> None:
    dispatcher = Watched(identity="me")
    assert asyncio.run(answer(dispatcher, operation, request_, ("::1", 7))) == {"peer": ("::1", 7)}
    assert (dispatcher.asked_by == threading.get_ident()) is inline


def test_the_peer_is_the_connections_own() -> None:
    assert peer_of({"client": ["127.0.0.1", 12345]}) == ("127.0.0.1", 12345)


def test_messages_are_limited_as_everywhere() -> None:
    assert WebSocketOptions().max_message_bytes == MAX_MESSAGE_BYTES


def test_a_port_that_is_taken_is_said_before_anything_starts() -> None:
    def never(*_: Any) -> None:
        raise AssertionError("announced")

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CannotServe, match=f"cannot listen on 127.0.0.1:{port}"):
            serve_asgi(None, "127.0.0.1", port, never)
