"""What every HTTP client makes of a responder that fails, and of an environment that would lead it elsewhere."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import socket
import struct
import threading
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import h2.config
import h2.connection
import pytest
from h2.events import StreamEnded

from services.python.codecs.json import JSON, json_bytes, json_object
from services.python.load.client import CallFailed, CallSpec
from services.python.transports.http.clients import clients, dial_with
from services.python.transports.http.route import Route
from tests.support.servers import listening

pytestmark = pytest.mark.busy

CLIENTS = {client.name: client for client in clients("any.requester")}
ROUTE = Route(path="/ask", content_type=JSON, encode=json_bytes, decode=json_object)

Behave = Callable[[socket.socket], None]


def answered(body: bytes, status: str = "200 OK", *fields: str) -> bytes:
    head = "\r\n".join([f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *fields])
    return head.encode() + b"\r\n\r\n" + body


def replies(reply: bytes) -> Behave:
    """Gives this reply to every request of a connection."""

    def behave(connection: socket.socket) -> None:
        while read_request(connection):
            connection.sendall(reply)

    return behave


def replies_once(reply: bytes) -> Behave:
    """Gives this reply to the first request of a connection, and closes it."""

    def behave(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall(reply)

    return behave


def hangs(connection: socket.socket) -> None:
    while connection.recv(65536):
        pass


def read_request(connection: socket.socket) -> bytes:
    """The next whole request; empty when the client has left."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += (more := connection.recv(65536))
        if not more:
            return b""
    head, _, body = data.partition(b"\r\n\r\n")
    length = next(int(f.split(b":")[1]) for f in head.split(b"\r\n") if f.lower().startswith(b"content-length"))
    while len(body) < length:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


class Fake:
    """How many connections a server had, and those that it has closed."""

    port = connections = 0

    def __init__(self) -> None:
        self.closed = threading.Semaphore(0)

    def await_close(self) -> None:
        """Return when a connection has been closed on this side."""
        assert self.closed.acquire(timeout=30)


@contextlib.contextmanager
def serving(behave: Behave) -> Iterator[Fake]:
    """A server that behaves so on each connection."""
    fake = Fake()

    def converse(connection: socket.socket) -> None:
        fake.connections += 1
        with connection, contextlib.suppress(OSError):  # the client has left, as some of these tests want it
            behave(connection)
        fake.closed.release()

    with listening(converse) as fake.port:
        yield fake


class Conversation:
    """One connection of a client, with blocking calls whatever its style."""

    def __init__(self, client: str, port: int, timeout_s: float = 30, **more: Any) -> None:
        call = CallSpec(host="127.0.0.1", port=port, operation="ask", timeout_s=timeout_s, example={}, **more)
        self._loop = asyncio.new_event_loop() if CLIENTS[client].style == "async" else None
        self._connection: Any = None
        self._dialer: Any = dial_with(CLIENTS[client], ROUTE, call)

    def __enter__(self) -> Conversation:
        return self

    def __exit__(self, *_: object) -> None:
        if self._connection is not None:
            self._await(self._connection.close())
        if self._loop is not None:
            self._loop.close()

    def ask(self, request: dict[str, Any] | None = None) -> Any:
        if self._connection is None:
            self._connection = self._await(self._dialer.dial())
        reply = self._await(self._connection.call(request or {}))
        return self._connection.value(reply)

    @property
    def is_over(self) -> bool:
        return bool(self._connection.is_over)

    def _await(self, outcome: Any) -> Any:
        return outcome if self._loop is None or outcome is None else self._loop.run_until_complete(outcome)


@pytest.fixture(params=sorted(CLIENTS))
def client(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def failure(client: str, behave: Behave, timeout_s: float = 30) -> CallFailed:
    with serving(behave) as fake, Conversation(client, fake.port, timeout_s) as conversation:
        with pytest.raises(CallFailed) as raised:
            conversation.ask({"a": 1})
        assert fake.connections == 1, "asked again, though nobody told it to"
    return raised.value


def test_a_reply_is_decoded(client: str) -> None:
    with serving(replies(answered(b'{"b": 2}'))) as fake, Conversation(client, fake.port) as conversation:
        assert conversation.ask() == {"b": 2}
        assert conversation.ask() == {"b": 2}
        assert fake.connections == 1


@pytest.mark.parametrize(
    ("behave", "timeout_s", "status"),
    [
        (replies_once(b""), 30, "closed"),
        (hangs, 0.2, "timeout"),
        (replies_once(b"\x00\x01 this is no HTTP at all\r\n\r\n"), 30, "undecodable"),
    ],
    ids=["closed before the reply", "no reply in time", "no HTTP"],
)
def test_a_missing_reply_is_counted_by_its_kind(client: str, behave: Behave, timeout_s: float, status: str) -> None:
    assert failure(client, behave, timeout_s).status == status


def test_another_http_status_is_an_error_in_the_protocols_words(client: str) -> None:
    failed = failure(client, replies(answered(b"what went wrong" + b"." * 10_000, "500 Internal Server Error")))
    assert failed.status == "protocol"
    assert failed.detail.startswith("HTTP 500: b'what went wrong")
    assert len(failed.detail) < 300


@pytest.mark.parametrize("codings", [("gzip",), ("deflate",), ("gzip", "gzip")])
def test_a_reply_that_was_compressed_unasked_is_undecodable(client: str, codings: tuple[str, ...]) -> None:
    """Its size would be told as that of the unpacked body, and a few bytes may unpack to any number."""
    body = b'{"b": 2}'
    for coding in codings:
        body = gzip.compress(body) if coding == "gzip" else zlib.compress(body)
    reply = answered(body, "200 OK", f"Content-Encoding: {', '.join(codings)}")
    assert failure(client, replies_once(reply)).status == "undecodable"


def test_a_kept_connection_that_was_closed_meanwhile_is_closed_and_not_opened_anew(client: str) -> None:
    with serving(replies_once(answered(b'{"b": 2}'))) as fake, Conversation(client, fake.port) as conversation:
        assert conversation.ask() == {"b": 2}
        fake.await_close()
        with pytest.raises(CallFailed) as raised:
            conversation.ask()
    assert raised.value.status == "closed"
    assert not conversation.is_over


@pytest.mark.parametrize(
    "reply", [answered(b"{}", "200 OK", "Connection: close"), answered(b"{}").replace(b"HTTP/1.1", b"HTTP/1.0")]
)
def test_after_an_announced_close_another_connection_is_opened(client: str, reply: bytes) -> None:
    with serving(replies_once(reply)) as fake, Conversation(client, fake.port) as conversation:
        conversation.ask()
        assert conversation.is_over
        fake.await_close()
        conversation.ask()
        assert (conversation.is_over, fake.connections) == (True, 2)


@pytest.mark.parametrize(
    ("client", "is_late"),
    [("pycurl", False), ("pycurl-multi", False), ("httpx", False), ("httpx-async", False), ("pycurl", True),
     ("pycurl-multi", True)],
)  # fmt: skip
def test_after_a_goaway_another_connection_is_opened(client: str, is_late: bool) -> None:
    """It comes right behind the reply, or after the reply was read: httpx then fails itself."""
    is_read = threading.Event()

    def says_goodbye(connection: socket.socket) -> None:
        server = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
        server.initiate_connection()
        while not any(isinstance(event, StreamEnded) for event in server.receive_data(connection.recv(65536))):
            connection.sendall(server.data_to_send())
        server.send_headers(1, [(":status", "200"), ("content-type", "application/json"), ("content-length", "2")])
        server.send_data(1, b"{}", end_stream=True)
        goaway = struct.pack("!HBBBIII", 0, 8, 7, 0, 0, 1, 0)
        connection.sendall(server.data_to_send() + (b"" if is_late else goaway))
        if is_late:
            is_read.wait(30)
            connection.sendall(goaway)

    with serving(says_goodbye) as fake, Conversation(client, fake.port, knobs={"http": "2"}) as conversation:
        assert (conversation.ask(), conversation.is_over) == ({}, not is_late)
        is_read.set()
        fake.await_close()
        assert (conversation.ask(), conversation.is_over, fake.connections) == ({}, True, 2)


def test_what_is_sent_is_one_plain_request(client: str) -> None:
    seen: list[bytes] = []

    def records(connection: socket.socket) -> None:
        seen.append(read_request(connection))
        connection.sendall(answered(b"{}"))

    text = "x" * 2_000_000  # large enough for curl to ask for permission first, were it allowed to
    with serving(records) as fake, Conversation(client, fake.port) as conversation:
        conversation.ask({"text": text})
    head, _, body = seen[0].partition(b"\r\n\r\n")
    first, *fields = head.decode().split("\r\n")
    by_name = {field.split(":")[0].lower(): field.split(":", 1)[1].strip() for field in fields}
    assert first == "POST /ask HTTP/1.1"
    assert by_name["host"] == f"127.0.0.1:{fake.port}"
    assert by_name["content-type"] == "application/json"
    assert by_name["content-length"] == str(len(body))
    assert by_name["accept-encoding"] == "identity"
    assert by_name["user-agent"] == "orch"
    assert "expect" not in by_name
    assert "transfer-encoding" not in by_name
    assert body == b'{"text":"' + text.encode() + b'"}'
