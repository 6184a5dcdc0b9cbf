"""libcurl on an event loop: a kept connection is watched once, and what was closed is watched no more."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import socket
import stat
import threading
import weakref
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypeVar

import pycurl
import pytest
import uvloop

from services.python.codecs.json import JSON, json_bytes, json_object
from services.python.load.client import CallFailed, CallSpec
from services.python.transports.http.pycurl_multi_client import AsyncConnection
from services.python.transports.http.route import Route

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
    """Gives each request's body to `answer`, on a thread for each connection; None: it stays without a reply."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port: int = self._listener.getsockname()[1]
        self.asked = threading.Semaphore(0)
        self.connections: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def _accept(self) -> None:
        while True:
            connection, _ = self._listener.accept()
            if connection.recv(1, socket.MSG_PEEK) == b"!":
                connection.close()
                return
            self.connections.append(connection)
            self._threads.append(threading.Thread(target=self._talk, args=(connection,)))
            self._threads[-1].start()

    def _talk(self, connection: socket.socket) -> None:
        data = b""
        with connection, contextlib.suppress(OSError):
            while more := connection.recv(1 << 20):
                data += more
                head, end, body = data.partition(b"\r\n\r\n")
                length = next((int(f.split(b":")[1]) for f in head.lower().split(b"\r\n") if b"content-length" in f), 0)
                if not end or len(body) < length:
                    continue
                data = b""
                self.asked.release()
                if (said := self._answer(body)) is not None:
                    connection.sendall(said)
                    if b"Connection: close" in said:
                        return

    def end(self) -> None:
        with socket.create_connection(("127.0.0.1", self.port)) as last:
            last.sendall(b"!")
            self._threads[0].join(timeout=PATIENCE_S)
        for thread in self._threads:
            thread.join(timeout=PATIENCE_S)
        self._listener.close()


@contextlib.contextmanager
def serving(answer: Answer) -> Iterator[Server]:
    server = Server(answer)
    try:
        yield server
    finally:
        server.end()


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


def test_a_request_is_sent_before_the_event_loop_runs_again(loop: asyncio.AbstractEventLoop) -> None:
    async def work(server: Server) -> None:
        connection = connect(server)
        await ask(connection)
        assert server.asked.acquire(timeout=PATIENCE_S)
        asking = connection.call({"n": 1})
        with contextlib.suppress(StopIteration):  # where the reply is there at once
            asking.send(None)
        assert server.asked.acquire(timeout=PATIENCE_S), "nothing was sent"
        asking.close()
        await connection.close()

    with serving(same) as server:
        run(loop, work(server))


def test_a_socket_that_libcurl_closed_is_watched_no_more(loop: asyncio.AbstractEventLoop) -> None:
    """Its number is the next connection's: an event loop that believes to watch it already would never look."""

    async def work(server: Server) -> None:
        connections = []
        for number in range(5):
            connections.append(connect(server))
            assert await ask(connections[-1], number) == {"n": number}
        for connection in connections:
            with pytest.raises(CallFailed, match="closed"):
                await ask(connection)
            await connection.close()

    with serving(closing) as server:
        run(loop, work(server))


def test_what_comes_while_nobody_asks_does_not_keep_the_event_loop_busy(loop: asyncio.AbstractEventLoop) -> None:
    async def work(server: Server) -> int:
        connection = connect(server)
        transfers: Any = connection._multi
        looks: list[int] = []
        readable = transfers._readable

        def look(descriptor: int) -> None:
            looks.append(descriptor)
            readable(descriptor)

        transfers._readable = look
        await ask(connection)
        (with_server,) = server.connections
        with_server.sendall(b"HTTP/1.1 100")
        replied = len(looks)
        # on a busy machine one of libcurl's time-outs may have ended the watch before anything came
        while len(looks) - replied < 2 and not all(map(is_no_socket, transfers._read)):
            await asyncio.sleep(0.01)
        looked = len(looks) - replied
        with pytest.raises(CallFailed):
            await ask(connection)
        await connection.close()
        return looked

    with serving(same) as server:
        assert run(loop, work(server)) <= 1


def test_a_time_out_comes_after_many_requests_that_were_in_time(loop: asyncio.AbstractEventLoop) -> None:
    async def work(server: Server) -> None:
        connection = connect(server, timeout_s=0.3)
        for number in range(10):
            await ask(connection, number)
        await asyncio.sleep(0.4)  # the timer of the first ones is over by now
        with pytest.raises(CallFailed) as raised:
            await ask(connection, 99)
        assert raised.value.status == "timeout"
        await connection.close()

    with serving(lambda body: None if b"99" in body else reply(body)) as server:
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


def test_a_multi_handle_that_can_do_nothing_ends_its_transfers(loop: asyncio.AbstractEventLoop) -> None:
    class Failing:
        def __init__(self, multi: Any) -> None:
            self.add_handle, self.remove_handle, self.close = multi.add_handle, multi.remove_handle, multi.close
            self.closed = False

        def socket_action(self, *_: int) -> Any:
            raise pycurl.error(pycurl.E_MULTI_OUT_OF_MEMORY, "out of memory")

    async def work(server: Server) -> None:
        connection = connect(server)
        transfers: Any = connection._multi
        transfers._multi = Failing(transfers._multi)
        with pytest.raises(CallFailed):
            await ask(connection)
        await connection.close()

    with serving(same) as server:
        run(loop, work(server))


def test_a_closed_connection_is_freed_without_the_garbage_collector(loop: asyncio.AbstractEventLoop) -> None:
    """A measuring requester has switched it off, and opens a connection for each request under `per-request`."""

    async def work(server: Server) -> list[Any]:
        connection = connect(server)
        await ask(connection)
        await connection.close()
        return [weakref.ref(connection), weakref.ref(connection._multi)]

    gc.collect()
    gc.disable()
    try:
        with serving(same) as server:
            held = run(loop, work(server))
            run(loop, asyncio.sleep(0))
        assert [reference() for reference in held] == [None, None]
    finally:
        gc.enable()


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
