"""A message that comes in pieces, and what is no message, on every framework that answers raw bodies."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from services.python.codecs.json import CODEC
from services.python.protocols.bodies.paths import paths
from services.python.serve.dispatcher import Dispatcher
from services.python.transports.http.frameworks import asgi, fastapi, starlette

FRAMEWORKS = [asgi, starlette, fastapi]


def asked(module: Any, path: str, *pieces: bytes, method: str = "POST") -> tuple[int, bytes]:
    """Status and body of the reply to a request whose body comes in these pieces."""
    events = [
        {"type": "http.request", "body": piece, "more_body": number < len(pieces)}
        for number, piece in enumerate(pieces, start=1)
    ]
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return events.pop(0)

    async def send(event: dict[str, Any]) -> None:
        sent.append(event)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": [],
        "client": ("127.0.0.1", 7),
        "server": ("127.0.0.1", 80),
        "state": {},
    }
    asyncio.run(module.application(Dispatcher(identity="me"), paths(CODEC))(scope, receive, send))
    body = b"".join(event.get("body", b"") for event in sent if event["type"] == "http.response.body")
    return sent[0]["status"], body


@pytest.mark.parametrize("module", FRAMEWORKS)
def test_a_body_may_come_in_pieces(module: Any) -> None:
    assert asked(module, "/add", b'{"a": 1', b', "b"', b": 2}") == (200, b'{"sum":3}')


@pytest.mark.parametrize("module", FRAMEWORKS)
@pytest.mark.parametrize("body", [b"not json", b"[1, 2]", b"{}", b'{"a": 1}'])
def test_a_body_that_is_no_addition_is_refused(module: Any, body: bytes) -> None:
    assert asked(module, "/add", body)[0] == 400
