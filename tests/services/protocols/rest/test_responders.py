"""What is particular to REST's responders; that they answer rightly is shown in tests/services/http."""

from __future__ import annotations

import asyncio
import socket
import threading

import httpx
import pytest
from werkzeug.serving import make_server

from services.python.protocols.rest import PROTOCOL, flask_app, responder, starlette_responder
from services.python.serve.dispatcher import Dispatcher

pytestmark = pytest.mark.busy

BAD_BODIES = ["not json", "[1, 2]", "{}", '{"a": 1}']


@pytest.mark.parametrize("body", BAD_BODIES)
def test_fastapi_refuses_a_body_that_is_no_addition(body: str) -> None:
    dispatcher = Dispatcher(identity="me")

    async def ask() -> int:
        transport = httpx.ASGITransport(app=responder.application(dispatcher))
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
            reply = await client.post("/add", content=body, headers={"Content-Type": "application/json"})
        return reply.status_code

    assert asyncio.run(ask()) == 422
    assert dispatcher.answered == 0


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


def test_every_responder_has_the_same_paths() -> None:
    dispatcher = Dispatcher(identity="me")
    fastapi = {
        route.path for route in responder.application(dispatcher).routes if "POST" in getattr(route, "methods", ())
    }
    starlette = {route.path for route in starlette_responder.application(dispatcher).routes if hasattr(route, "path")}
    assert starlette == fastapi
    flask = {
        rule.rule for rule in flask_app.application(dispatcher).url_map.iter_rules() if "POST" in (rule.methods or ())
    }
    assert fastapi == {
        "/identity",
        "/timestamp",
        "/add",
        "/echo/data",
        "/echo/records",
        "/echo/document",
        "/image",
        "/transfer",
        "/balance",
        "/payment",
        "/transactions",
        "/accounts",
        "/user",
        "/posts",
        "/comments",
        "/feed",
    }
    assert flask - {"/echo/<any(records, document):form>"} == fastapi - {"/echo/records", "/echo/document"}
