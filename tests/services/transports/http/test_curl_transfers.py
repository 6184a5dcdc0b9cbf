"""libcurl on an event loop: a kept connection is watched once, and what was closed is watched no more."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import stat
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypeVar

import pytest
import uvloop

from services.python.codecs.json import JSON, json_bytes, json_object
from services.python.load.client import CallFailed, CallSpec
from services.python.transports.http.pycurl_multi_client import AsyncConnection
from services.python.transports.http.route import Route
from tests.support.servers import listening

pytestmark = pytest.mark.busy

ROUTE = Route(path="/ask", content_type=JSON, encode=json_bytes, decode=json_object)
PATIENCE_S = 30
T = TypeVar("T")

Answer = Callable[[bytes], bytes | None]


def reply(body: bytes, *fields: str) -> bytes:
    return "\r\n".join(["HTTP/1.1 200 OK", f"Content-Length: {len(body)}", *fields]).encode() + b"\r\n\r\n" + body


def same(body: bytes) -> bytes:
    return reply(body)


def closing(body: bytes) -> bytes:
    return reply(body, "Connection: close")


class Server:
    """What a server was asked, and its connections."""

    port = 0

    def __init__(self) -> None:
        self.asked = threading.Semaphore(0)
        self.connections: list[socket.socket] = []


@contextlib.contextmanager
def serving(answer: Answer) -> Iterator[Server]:
    """Gives each request's body to `answer`; None: it stays without a reply."""
    server = Server()

    def talk(connection: socket.socket) -> None:
        server.connections.append(connection)
        data = b""
        while more := connection.recv(1 << 20):
            data += more
            head, end, body = data.partition(b"\r\n\r\n")
            length = next((int(f.split(b":")[1]) for f in head.lower().split(b"\r\n") if b"content-length" in f), 0)
            if not end or len(body) < length:
                continue
            data = b""
            server.asked.release()
            if (said := answer(body)) is not None:
                connection.sendall(said)
                if b"Connection: close" in said:
                    return

    with listening(talk) as server.port:
        yield server


@pytest.fixture(params=[uvloop.new_event_loop, asyncio.SelectorEventLoop], ids=["uvloop", "asyncio"])
def loop(request: pytest.FixtureRequest) -> Iterator[asyncio.AbstractEventLoop]:
    made: asyncio.AbstractEventLoop = request.param()
    yield made
    made.close()


def run(loop: asyncio.AbstractEventLoop, work: Awaitable[T]) -> T:
    return loop.run_until_complete(asyncio.wait_for(work, PATIENCE_S))


def connect(server: Server, timeout_s: float = PATIENCE_S) -> AsyncConnection:
    return AsyncConnection(
        ROUTE, CallSpec(host="127.0.0.1", port=server.port, operation="ask", timeout_s=timeout_s, example={})
    )


async def ask(connection: AsyncConnection, number: int = 0) -> Any:
    return connection.value(await connection.call({"n": number}))


def test_a_kept_connection_is_watched_once_for_all_its_requests() -> None:
    class Counting(asyncio.SelectorEventLoop):
        added: list[int] = []  # noqa: RUF012 - one loop

        def add_reader(self, descriptor: Any, *given: Any) -> None:  # type: ignore[override]
            self.added.append(descriptor)
            super().add_reader(descriptor, *given)

    async def work(server: Server) -> None:
        connection = connect(server)
        for number in range(20):
            assert await ask(connection, number) == {"n": number}
        await connection.close()

    loop = Counting()
    with serving(same) as server:
        run(loop, work(server))
    loop.close()
    assert len(loop.added) == len(set(loop.added)), loop.added


def test_a_socket_that_libcurl_closed_is_watched_no_more(loop: asyncio.AbstractEventLoop) -> None:
    """Its number is the next connection's: an event loop that believes to watch it already would never look."""

    async def work(server: Server) -> None:
        connections = []
        for number in range(5):
            connections.append(connect(server))
            assert await ask(connections[-1], number) == {"n": number}
        for connection in connections:
            assert await ask(connection, 7) == {"n": 7}  # on another one, as the end of the first was announced
            await connection.close()

    with serving(closing) as server:
        run(loop, work(server))


def test_closing_cancels_what_is_under_way(loop: asyncio.AbstractEventLoop) -> None:
    async def work(server: Server) -> None:
        connection = connect(server)
        asking = asyncio.ensure_future(ask(connection))
        await asyncio.to_thread(server.asked.acquire)
        await connection.close()
        await connection.close()
        with pytest.raises(asyncio.CancelledError):
            await asking

    with serving(lambda _body: None) as server:
        run(loop, work(server))


@pytest.mark.parametrize("end", ["cancelled", "closed by the other end", "announced"])
def test_what_is_closed_is_watched_no_more(end: str, loop: asyncio.AbstractEventLoop) -> None:
    """However it came to be closed: its number is another connection's next, and a watched one ends the process."""

    async def work(server: Server) -> None:
        connection = connect(server)
        transfers: Any = connection._multi
        await ask(connection)
        if end == "cancelled":
            asking = asyncio.ensure_future(ask(connection, 99))
            await asyncio.sleep(0)
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
        elif end == "closed by the other end":
            server.connections[0].shutdown(socket.SHUT_RDWR)
            with pytest.raises(CallFailed, match="closed"):
                await ask(connection)
        assert all(map(is_no_socket, transfers._read | transfers._written))
        await connection.close()
        assert transfers._read | transfers._written == set()

    with serving(closing if end == "announced" else lambda body: None if b"99" in body else reply(body)) as server:
        run(loop, work(server))


def is_no_socket(descriptor: int) -> bool:
    """Open, and what libcurl wakes itself with; OSError where it is closed."""
    return not stat.S_ISSOCK(os.fstat(descriptor).st_mode)
