"""A process that asks with `pycurl-multi` where requests end badly, and prints each case's endings as a line of JSON.

`python -m tests.support.curl_endings [--times N] [--loop asyncio] CASE...`. A crash of libcurl or pycurl ends this
process and not the test that looks at it.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import faulthandler
import json
import socket
import ssl
import struct
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import uvloop

from services.python.codecs.json import JSON, json_bytes, json_object
from services.python.load.client import CallFailed, CallSpec
from services.python.load.tls import ClientTls
from services.python.transports.http.pycurl_multi_client import AsyncConnection, sharing
from services.python.transports.http.route import Route
from tests.support.certificates import HOST, RESUMED, TLS, Made, certificates

ROUTE = Route(path="/ask", content_type=JSON, encode=json_bytes, decode=json_object)
IN_FLIGHT = 50
PATIENCE_S = 30.0
SHORT_S = 0.1
_OTHER_END_S = 60.0
_RIGHT = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"
_REPLY = _RIGHT + b'{"a": 10}'
_PREFACE = b"\0\0\0\4\0\0\0\0\0"  # of an HTTP/2 server: an empty SETTINGS frame

Behave = Callable[[socket.socket], None]
Endings = list[str]


@contextlib.contextmanager
def answering(behave: Behave, tls: Made | None = None) -> Iterator[int]:
    """A responder on loopback, a thread for each connection; all are closed at the end. The port."""
    context = None
    if tls is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(tls.tls.certificate, tls.tls.key)
    opened: list[socket.socket] = []

    def talk(connection: socket.socket) -> None:
        connection.settimeout(_OTHER_END_S)
        with connection, contextlib.suppress(OSError):
            if context is None:
                behave(connection)
            else:
                with context.wrap_socket(connection, server_side=True) as secured:
                    opened.append(secured)
                    behave(secured)

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                opened.append(connection)
                threading.Thread(target=talk, args=(connection,), daemon=True).start()

    with socket.create_server((HOST, 0), backlog=4 * IN_FLIGHT) as listener:
        threading.Thread(target=accept, daemon=True).start()
        try:
            yield listener.getsockname()[1]
        finally:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            for connection in opened:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)


def whole_request(connection: socket.socket) -> bool:
    """Read a request with the body `{}`; whether there was one."""
    came = b""
    while not came.endswith(b"\r\n\r\n{}"):
        if not (more := connection.recv(65536)):
            return False
        came += more
    return True


def replies(connection: socket.socket) -> None:
    while whole_request(connection):
        connection.sendall(_REPLY)


def half(connection: socket.socket) -> None:
    whole_request(connection)
    connection.sendall(_REPLY[:-4])


def half_and_waits(connection: socket.socket) -> None:
    half(connection)
    connection.recv(1)


def half_and_resets(connection: socket.socket) -> None:
    half(connection)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def garbage(connection: socket.socket) -> None:
    connection.recv(65536)
    connection.sendall(_REPLY)


def waits(connection: socket.socket) -> None:
    while connection.recv(65536):
        pass


def takes_and_hangs_up(connection: socket.socket) -> None:
    """HTTP/2 that ends when requests are there and no more of them come."""
    connection.sendall(_PREFACE)
    connection.recv(65536)
    connection.settimeout(2 * SHORT_S)
    waits(connection)


def call_to(port: int, *, timeout_s: float = PATIENCE_S, **more: Any) -> CallSpec:
    return CallSpec(host=HOST, port=port, operation="ask", timeout_s=timeout_s, example={}, **more)


def trusting(made: Made, **more: Any) -> ClientTls:
    path = made.authority.path
    return ClientTls(path, Path(path).read_bytes(), **more)


async def ending(connection: AsyncConnection) -> str:
    try:
        await connection.call({})
    except CallFailed as failed:
        return failed.status
    return "ok"


async def one(call: CallSpec) -> str:
    """How a request on a connection of its own ends."""
    connection = AsyncConnection(ROUTE, call)
    try:
        return await ending(connection)
    finally:
        await connection.close()


async def handshakes(made: Made, _other: Made) -> Endings:
    """Over TLS, closed by this end, one after the other: closing begins what ends TLS in order."""
    with answering(replies, made) as port:
        return [await one(call_to(port, tls=trusting(made))) for _ in range(5)]


async def refused_handshakes(made: Made, other: Made) -> Endings:
    """The responder's certificate is by another authority, for one request after the other and for many at once."""
    with answering(replies, made) as port:
        tls = trusting(other)
        found = [await one(call_to(port, tls=tls)) for _ in range(5)]
        return found + await asyncio.gather(*(one(call_to(port, tls=tls)) for _ in range(IN_FLIGHT)))


async def no_handshakes(made: Made, _other: Made) -> Endings:
    """Who answers does not speak TLS."""
    with answering(garbage) as port:
        return await asyncio.gather(*(one(call_to(port, tls=trusting(made))) for _ in range(5)))


async def closed_within_replies(_made: Made, _other: Made) -> Endings:
    found = []
    for behave in (half, half_and_resets):
        with answering(behave) as port:
            found += await asyncio.gather(*(one(call_to(port)) for _ in range(5)))
    return found


async def timeouts_within_replies(made: Made, _other: Made) -> Endings:
    found = []
    for secured in (None, made):
        tls = None if secured is None else trusting(secured)
        with answering(half_and_waits, secured) as port:
            found += await asyncio.gather(*(one(call_to(port, tls=tls, timeout_s=SHORT_S)) for _ in range(5)))
    return found


async def nobody_there(_made: Made, _other: Made) -> Endings:
    with answering(replies) as port:
        pass
    return await asyncio.gather(*(one(call_to(port)) for _ in range(5)))


async def responder_dies(made: Made, _other: Made) -> Endings:
    """Kept connections, all with a request under way when the other end is gone, and each asked again after it."""
    found: Endings = []
    for secured in (None, made):
        tls = None if secured is None else trusting(secured)
        served = threading.Semaphore(0)

        def dies(connection: socket.socket, served: threading.Semaphore = served) -> None:
            whole_request(connection)
            connection.sendall(_REPLY)
            whole_request(connection)
            served.release()
            waits(connection)

        with contextlib.ExitStack() as stack:
            port = stack.enter_context(answering(dies, secured))
            connections = [AsyncConnection(ROUTE, call_to(port, tls=tls)) for _ in range(IN_FLIGHT)]
            found += await asyncio.gather(*map(ending, connections))
            asked = [asyncio.ensure_future(ending(each)) for each in connections]
            for _ in connections:
                await asyncio.to_thread(served.acquire)
        found += await asyncio.gather(*asked)
        found += await asyncio.gather(*map(ending, connections))
        for each in connections:
            await each.close()
    return found


async def connection_each(made: Made, _other: Made) -> Endings:
    """As under `per-request`, without TLS, with it, and with resumed sessions."""
    found: Endings = []
    for secured, resumes in ((None, False), (made, False), (made, True)):
        tls = None if secured is None else trusting(secured, resumes=resumes)
        knobs = {} if tls is None else RESUMED if resumes else TLS

        async def some(call: CallSpec) -> Endings:
            return [await one(call) for _ in range(4)]

        with answering(replies, secured) as port:
            of_each = await asyncio.gather(*(some(call_to(port, tls=tls, knobs=knobs)) for _ in range(10)))
        found += [ended for several in of_each for ended in several]
    return found


async def shared_connections_die(_made: Made, _other: Made) -> Endings:
    """HTTP/2 with `connections: 2`: what is under way on each ends with it, and so does what is asked next."""
    with answering(takes_and_hangs_up) as port:
        call = call_to(port, knobs={"http": "2", "connections": "2"})
        dial = sharing(call)
        connections = [dial(ROUTE, call) for _ in range(6)]
        found = []
        for _ in range(3):
            found += await asyncio.gather(*map(ending, connections))
        for each in connections:
            await each.close()
    # libcurl calls a connection that is gone an error in HTTP/2's frames, unless it is about to send.
    return ["gone" if ended in ("closed", "undecodable") else ended for ended in found]


async def cancelled_under_way(made: Made, _other: Made) -> Endings:
    """A trial that ends with transfers under way: some are given up, and some are closed as they are."""
    found: Endings = []
    for secured, knobs in ((None, {}), (made, TLS), (None, {"http": "2", "connections": "2"})):
        with answering(waits, secured) as port:
            call = call_to(port, knobs=knobs, tls=None if secured is None else trusting(secured))
            dial = sharing(call) if "connections" in knobs else AsyncConnection
            connections = [dial(ROUTE, call) for _ in range(20)]
            asked = [asyncio.ensure_future(ending(each)) for each in connections]
            await asyncio.sleep(SHORT_S)
            for each in asked[:5]:
                each.cancel()
            await asyncio.sleep(0)
            for connection in connections:
                await connection.close()
            for ended in await asyncio.gather(*asked, return_exceptions=True):
                found.append("cancelled" if isinstance(ended, asyncio.CancelledError) else str(ended))
    return found


async def left_under_way(made: Made, other: Made) -> Endings:
    """Nobody cancels or closes anything: the event loop, and later the process, ends over it."""
    left = []
    for secured in (None, made):
        stack = contextlib.ExitStack()
        port = stack.enter_context(answering(waits, secured))
        call = call_to(port, tls=None if secured is None else trusting(secured))
        connections = [AsyncConnection(ROUTE, call) for _ in range(5)]
        left.append([stack.pop_all, connections, [asyncio.ensure_future(ending(each)) for each in connections]])
    await asyncio.sleep(SHORT_S)
    _LEFT.append(left)
    return await refused_handshakes(made, other)


_LEFT: list[Any] = []

CASES: dict[str, Callable[[Made, Made], Awaitable[Endings]]] = {
    case.__name__: case
    for case in (
        handshakes,
        refused_handshakes,
        no_handshakes,
        closed_within_replies,
        timeouts_within_replies,
        nobody_there,
        responder_dies,
        connection_each,
        shared_connections_die,
        cancelled_under_way,
        left_under_way,
    )
}


def main(arguments: Sequence[str]) -> None:
    """Run cases, each so many times on an event loop of its own."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--loop", choices=["uvloop", "asyncio"], default="uvloop")
    parser.add_argument("cases", nargs="*", choices=[[], *CASES])
    told = parser.parse_args(arguments)
    faulthandler.enable()
    with tempfile.TemporaryDirectory() as folder:
        made, other = (certificates(Path(folder) / name) for name in ("right", "other"))
        for _ in range(told.times):
            for name in told.cases or CASES:
                loop = uvloop.new_event_loop() if told.loop == "uvloop" else asyncio.new_event_loop()
                found = loop.run_until_complete(CASES[name](made, other))
                loop.close()
                sys.stdout.write(json.dumps([name, Counter(found)]) + "\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
