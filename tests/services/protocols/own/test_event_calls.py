"""Server-sent events of a real service, to their end or to a number, and events of Socket.IO with their acknowledgement."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import socketio
import uvicorn

from services.python.contract.offers import protocols
from services.python.load.client import CallFailed
from services.python.protocols.own.sse_requester import Events
from services.python.trial.parts import CannotTry
from tests.support.certificates import HOST
from tests.support.own_trials import checked, serving, step_of
from tests.support.wire import free_port

STREAM = (
    b': hello\r\nevent: order\r\ndata: {"id": 1,\r\ndata: "n": 0}\r\n\r\ndata:[DONE]\n\ndata: 3\r\rid: 4\n\ndata: half'
)
DATA = [b'{"id": 1,\n"n": 0}', b"[DONE]", b"3"]


@pytest.mark.parametrize("length", [1, 2, 3, 7, len(STREAM)])
def test_events_are_split_wherever_their_body_is(length: int) -> None:
    events = Events()
    parts = [STREAM[start : start + length] for start in range(0, len(STREAM), length)]
    assert [data for part in parts for data in events.feed(part)] == DATA


def test_a_line_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.python.protocols.own.sse_requester.MAX_MESSAGE_BYTES", 9)
    with pytest.raises(CallFailed, match="more than 9 bytes"):
        list(Events().feed(b"data: too long"))


class Feed(BaseHTTPRequestHandler):
    """Three events; by POST one after the other, without end."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """The events."""
        self.send_response(404 if self.path == "/lost" else 200)
        self.send_header("Content-Type", "text/plain" if self.path == "/text" else "text/event-stream")
        self.send_header("Content-Length", str(len(STREAM)))
        self.end_headers()
        self.wfile.write(STREAM)

    def do_POST(self) -> None:
        """What was posted, again and again."""
        body = self.rfile.read(int(self.headers["content-length"]))
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        try:
            while True:
                self.wfile.write(b"data: " + body + b"\n\n")
        except OSError:
            pass

    def log_message(self, *_: Any) -> None:
        """Nothing is logged."""


@pytest.fixture(scope="module")
def feed() -> Iterator[int]:
    with serving(ThreadingHTTPServer((HOST, 0), Feed)) as bound:
        yield bound


def sse(method: str, path: str, events: int | None = None, **more: Any) -> dict[str, Any]:
    return step_of("sse", method=method, path=path, body={}, events=events) | more


def test_a_stream_is_read_to_its_end_or_to_a_number_of_events(tmp_path: Path, feed: int) -> None:
    values = {"$[0].id": 1, "$[1]": "[DONE]", "$[2]": "{id:number}"}
    whole = sse("GET", "/", expect={"values": values})
    assert checked(tmp_path, "aiohttp", feed, whole, rows=[{"id": "3"}])[1] == (0, len(STREAM))
    endless = sse("POST", "/", 5, body={"json": {"a": "{id}"}}, expect={"values": {"$[4].a": 1}})
    checked(tmp_path, "aiohttp", feed, endless, endless)  # the second on a new connection
    checked(tmp_path, "aiohttp", feed, sse("GET", "/", decode=False, expect={"size": len(b"\n".join(DATA))}))


@pytest.mark.parametrize(
    ("path", "events", "kind", "reason"),
    [
        ("/", 4, "wrong-reply", "the stream ended after 3 of 4 events"),
        ("/text", None, "undecodable", "Content-Type text/plain"),
        ("/lost", None, "protocol", "HTTP 404"),
    ],
)
def test_a_stream_that_is_none_is_an_error(
    tmp_path: Path, feed: int, path: str, events: int | None, kind: str, reason: str
) -> None:
    with pytest.raises(CannotTry, match=reason) as refused:
        checked(tmp_path, "aiohttp", feed, sse("GET", path, events))
    assert refused.value.kind == kind


@pytest.fixture(scope="module")
def chat() -> Iterator[int]:
    """Acknowledges `order` with it, and `both` with two values, for who has the token; below /live/."""
    server = socketio.AsyncServer(async_mode="asgi")

    @server.event  # type: ignore[untyped-decorator]
    async def connect(_session: str, environ: dict[str, Any]) -> bool:
        return bool(environ.get("HTTP_TOKEN") == "t")

    @server.event  # type: ignore[untyped-decorator]
    async def order(_session: str, asked: dict[str, Any]) -> dict[str, Any]:
        return {**asked, "total": 3}

    @server.event  # type: ignore[untyped-decorator]
    async def both(_session: str, asked: str) -> tuple[str, int]:
        return asked, 2

    port = free_port()
    app = socketio.ASGIApp(server, socketio_path="live")
    running = uvicorn.Server(uvicorn.Config(app, HOST, port, log_level="error", lifespan="off"))
    thread = threading.Thread(target=asyncio.run, args=(running.serve(),))
    thread.start()
    while not running.started:
        thread.join(0.01)
    yield port
    running.should_exit = True
    thread.join()


@pytest.mark.parametrize("client", [client.name for client in protocols()["own_socketio"].clients])
def test_an_event_of_socket_io_ends_with_its_acknowledgement(tmp_path: Path, chat: int, client: str) -> None:
    def event(name: str, send: Any, values: dict[str, Any], who: str = "t") -> dict[str, Any]:
        return step_of(
            "socketio", path="/live", event=name, send=send, headers={"token": who}, expect={"values": values}
        )

    order = event("order", {"id": "{id}"}, {"$.id": 1, "$.total": 3})
    _, (sent, received) = checked(tmp_path, client, chat, order, event("both", "a", {"$[0]": "a", "$[1]": 2}))
    assert (sent > 0, received > 0) == (True, True)
    with pytest.raises(CannotTry, match="total is 3, not 4"):
        checked(tmp_path, client, chat, event("order", {"id": "{id}"}, {"$.total": 4}))
    with pytest.raises(CannotTry):
        checked(tmp_path, client, chat, event("order", {}, {}, who="other"))
