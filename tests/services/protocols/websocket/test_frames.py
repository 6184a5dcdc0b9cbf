"""How operations look in WebSocket frames, and replies that are none."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from websockets.sync.server import serve

from services.python.contract.offers import find_protocol
from services.python.load.client import CallFailed, CallSpec
from services.python.protocols.websocket import frames
from tests.support import wire

pytestmark = pytest.mark.busy

CLIENTS = [client.name for client in find_protocol("websocket").clients]


def spec(**example: Any) -> CallSpec:
    return CallSpec(host="::1", port=7, operation="echo", timeout_s=1, example=example)


def test_bytes_travel_as_they_are_and_all_else_as_compact_json() -> None:
    assert frames.encoder(spec(data=b"\0\1"))({"data": b"\0\1"}) == b"\0\1"
    assert frames.encoder(spec(document=0))({"document": {"é": [1, None]}}) == '{"document":{"é":[1,null]}}'


def test_the_operation_is_the_path_and_a_full_decode_the_query() -> None:
    assert frames.url(spec(data=b"", full_decode=False)) == "ws://[::1]:7/echo"
    assert frames.url(spec(data=b"", full_decode=True)) == "ws://[::1]:7/echo?full_decode=1"


def test_sizes_are_bytes_not_characters() -> None:
    exchange = frames.exchange('{"document":"é"}', b"123", frames.decode_reply)
    assert frames.ConnectionBase().sizes({}, exchange) == (17, 3)
    assert frames.exchange("{}", "{}", frames.decode_reply) == (2, 2, {})  # no frame is kept


def test_what_is_not_json_is_refused_before_anything_is_sent() -> None:
    with pytest.raises(CallFailed, match="cannot be encoded as JSON") as failed:
        frames.encoder(spec(document=math.nan))
    assert failed.value.status == "protocol"


@contextmanager
def answering(*reply: str | bytes) -> Iterator[int]:
    """The port of a WebSocket server with one answer to everything; without one it closes the connection."""

    def handle(connection: Any) -> None:
        for _ in connection:
            if not reply:
                return
            connection.send(reply[0])

    with serve(handle, wire.HOST, 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.socket.getsockname()[1]
        server.shutdown()


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize(
    ("reply", "status"),
    [
        (["{"], "undecodable"),
        (["[1]"], "undecodable"),
        ([json.dumps({"error": "not today"})], "protocol"),
        ([], "closed"),
    ],
    ids=["half an object", "not an object", "an error", "a close frame"],
)
def test_a_reply_that_is_none_is_told_by_its_kind(client: str, reply: list[str], status: str) -> None:
    with answering(*reply) as port, pytest.raises(CallFailed) as failed:
        wire.ask("websocket", client, port, "add", {"a": 1, "b": 2})
    assert failed.value.status == status


@pytest.fixture(scope="module")
def responder() -> Iterator[wire.Running]:
    with wire.responding("websocket", "uvicorn") as running:
        yield running


@pytest.mark.parametrize("client", CLIENTS)
def test_an_operation_that_it_does_not_carry_is_refused_at_the_upgrade(responder: wire.Running, client: str) -> None:
    with pytest.raises(CallFailed, match="403") as failed:
        wire.ask("websocket", client, responder.port, "exchange", {"data": b"", "reply_size": 2})
    assert failed.value.status == "protocol"


@pytest.mark.parametrize("request_", [{"a": 1}, {}], ids=["a field is missing", "all are"])
def test_a_request_that_lacks_a_field_is_told_which(responder: wire.Running, request_: dict[str, int]) -> None:
    with pytest.raises(CallFailed, match=r"the request lacks '[ab]'") as failed:
        wire.ask("websocket", CLIENTS[0], responder.port, "add", request_)
    assert failed.value.status == "protocol"
