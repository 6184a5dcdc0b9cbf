"""What is particular to REST's responders; that they answer rightly is shown in tests/services/http."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from werkzeug.serving import make_server

from services.python.protocols.rest import PROTOCOL, flask_app, responder
from services.python.protocols.rest.paths import paths
from services.python.serve.dispatcher import Dispatcher
from services.python.transports.http.frameworks import asgi, starlette

pytestmark = pytest.mark.busy

BAD_BODIES = ["not json", "[1, 2]", "{}", '{"a": 1}']


def fastapi_app() -> Any:
    return responder.application(Dispatcher(identity="me"))


def asgi_app() -> Any:
    return asgi.application(Dispatcher(identity="me"), paths())


def starlette_app() -> Any:
    return starlette.application(Dispatcher(identity="me"), paths())


def posted(make: Callable[[], Any], path: str, body: str) -> int:
    """The status of the reply to that JSON text."""

    async def ask() -> int:
        transport = httpx.ASGITransport(app=make())
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
            reply = await client.post(path, content=body, headers={"Content-Type": "application/json"})
        return reply.status_code

    return asyncio.run(ask())


@pytest.mark.parametrize(("make", "status"), [(fastapi_app, 422), (asgi_app, 400), (starlette_app, 400)])
@pytest.mark.parametrize("body", BAD_BODIES)
def test_a_body_that_is_no_addition_is_refused(make: Callable[[], Any], status: int, body: str) -> None:
    assert posted(make, "/add", body) == status


@pytest.mark.parametrize(("path", "body"), [("/transfer", ""), ("/transfer?reply_size=many", ""), ("/image", "no")])
def test_bare_asgi_refuses_what_its_query_or_body_does_not_say(path: str, body: str) -> None:
    assert posted(asgi_app, path, body) == 400


def test_flasks_development_server_closes_the_connection_after_every_reply() -> None:
    """The reason that the plan gives for refusing `reuse`; should Werkzeug learn to keep connections, it must go."""
    server = make_server("127.0.0.1", 0, flask_app.application(Dispatcher(identity="me")), threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
            connection.sendall(
                b"POST /identity HTTP/1.1\r\nHost: me\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n"
            )
            everything = b"".join(iter(lambda: connection.recv(65536), b""))
    finally:
        server.shutdown()
        thread.join(timeout=30)
        server.server_close()
    assert everything.startswith(b"HTTP/1.1 200 OK")
    assert b"\r\nConnection: close\r\n" in everything
    assert "closes the connection" in PROTOCOL.responder("flask").refuses["reuse"]
