"""Connect's errors on both ends, held against the table of its specification, and what a client takes for a reply."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from services.python.codecs.protobuf import method_named
from services.python.contract.offers import find_protocol
from services.python.load.client import CallFailed
from services.python.protocols.connect import wire as connect
from services.python.protocols.connect.application import application
from services.python.serve.dispatcher import Dispatcher
from tests.support import wire
from tests.support.servers import listening

pytestmark = pytest.mark.busy

CLIENTS = [client.name for client in find_protocol("connect").clients]
ADD = method_named("add").pack_request({"a": 1, "b": 2}).SerializeToString()
SUM = method_named("add").pack_reply({"sum": 3}).SerializeToString()
PROTO = {"Content-Type": "application/proto", "Connect-Protocol-Version": "1"}


def asked(path: str, body: bytes = ADD, *, method: str = "POST", fields: dict[str, str] = PROTO) -> httpx.Response:
    """What the application answers, without a server."""
    app = application(Dispatcher(identity="nonce"))

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(app=app, client=("127.0.0.1", 7))
        async with httpx.AsyncClient(transport=transport, base_url="http://orch") as client:
            return await client.request(method, path, content=body, headers=fields)

    return asyncio.run(ask())


NO_PICTURE = method_named("image").pack_request({"data": b"no picture", "full_decode": False}).SerializeToString()


@pytest.mark.parametrize(
    ("changes", "status", "code"),
    [
        ({"path": "/orch.v1.Orch/Subtract"}, 404, "unimplemented"),
        ({"method": "GET"}, 405, "unimplemented"),
        ({"fields": {**PROTO, "Content-Type": "application/json"}}, 415, "unknown"),
        ({"fields": {"Content-Type": "application/protobuf"}}, 415, "unknown"),
        ({"fields": {**PROTO, "Connect-Protocol-Version": "2"}}, 400, "invalid_argument"),
        ({"fields": {**PROTO, "Content-Encoding": "br"}}, 501, "unimplemented"),
        ({"body": b"\xff\xff"}, 400, "invalid_argument"),
        ({"path": "/orch.v1.Orch/Image", "body": NO_PICTURE}, 400, "invalid_argument"),
    ],
)
def test_an_error_is_json_with_its_code_under_its_status(changes: dict[str, Any], status: int, code: str) -> None:
    reply = asked(**{"path": "/orch.v1.Orch/Add", **changes})
    assert (reply.status_code, reply.headers["content-type"]) == (status, "application/json")
    told = reply.json()
    assert told["code"] == code
    assert told["message"]
    assert connect.read_error(status, reply.content) == (code, told["message"])


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (404, b"<html>", "unimplemented"),
        (429, b"", "unavailable"),
        (502, b"[]", "unavailable"),
        (418, b"{}", "unknown"),
        (400, b'{"code": "no such code"}', "internal"),
        (400, b'{"code": ["canceled"]}', "internal"),
        (500, b'{"code": "data_loss"}', "data_loss"),
    ],
)
def test_an_error_that_is_none_of_connects_has_the_code_of_its_status(status: int, body: bytes, code: str) -> None:
    assert connect.read_error(status, body)[0] == code


@contextlib.contextmanager
def replying(status: str, media_type: str, body: bytes) -> Iterator[tuple[int, list[bytes]]]:
    """A server that gives this reply to whatever is asked, and the requests that it was sent."""
    heads: list[bytes] = []
    fields = f"Content-Type: {media_type}\r\n" if media_type else ""
    reply = f"HTTP/1.1 {status}\r\n{fields}Content-Length: {len(body)}\r\n\r\n".encode() + body

    def converse(connection: socket.socket) -> None:
        data = b""
        while not data.endswith(ADD) and (more := connection.recv(65_536)):
            data += more
        heads.append(data)
        connection.sendall(reply)
        connection.recv(1)

    with listening(converse) as port:
        yield port, heads


def ask(client: str, port: int) -> Any:
    [(value, _)] = wire.ask("connect", client, port, "add", {"a": 1, "b": 2})
    return value


@pytest.mark.parametrize("client", CLIENTS)
def test_a_request_says_that_it_is_connects(client: str) -> None:
    with replying("200 OK", "application/proto", SUM) as (port, heads):
        assert ask(client, port) == {"sum": 3}
    [request] = heads
    lines = [line.lower() for line in request.split(b"\r\n")]
    assert request.startswith(b"POST /orch.v1.Orch/Add HTTP/1.1\r\n")
    assert b"content-type: application/proto" in lines
    assert b"connect-protocol-version: 1" in lines


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("media_type", ["application/json", "application/protobuf", ""])
def test_a_reply_of_another_type_is_none(client: str, media_type: str) -> None:
    with replying("200 OK", media_type, SUM) as (port, _), pytest.raises(CallFailed) as failed:
        ask(client, port)
    assert failed.value.status == "undecodable"
    assert "not application/proto" in failed.value.detail


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize(
    ("status", "body", "ends", "detail"),
    [
        ("400 Bad Request", b'{"code": "invalid_argument", "message": "no"}', "protocol", "invalid_argument: no"),
        ("504 Gateway Timeout", b'{"code": "deadline_exceeded"}', "timeout", "deadline_exceeded: "),
        ("499 Gone", b'{"code": "canceled", "message": "by us"}', "cancelled", "canceled: by us"),
        ("503 Busy", b"try later", "protocol", "unavailable: HTTP 503: b'try later'"),
    ],
)
def test_an_error_ends_a_call_as_its_code_says(client: str, status: str, body: bytes, ends: str, detail: str) -> None:
    with replying(status, "application/json", body) as (port, _), pytest.raises(CallFailed) as failed:
        ask(client, port)
    assert (failed.value.status, failed.value.detail) == (ends, detail)
