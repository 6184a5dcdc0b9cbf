"""A responder that is not the limit: it gives the bytes that a real one gave to the same request, from memory.

`python -m benchmarks.harness.replay PORT` answers on a port of its own, which it prints. A request that it has not seen
goes to the responder at PORT, and the reply is kept; each later one of the same bytes takes a search in a table. So every
client gets replies that are right, far quicker than a framework makes them.
"""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

_END = b"\r\n\r\n"


class Replaying(asyncio.Protocol):
    """One connection. Requests come one at a time: nobody sends the next before the reply."""

    def __init__(self, port: int, known: dict[bytes, bytes]) -> None:
        self._port = port
        self._known = known
        self._came = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See `asyncio.Protocol`."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is no subclass

    def data_received(self, data: bytes) -> None:
        """Reply, when the request is whole."""
        assert self._transport is not None
        if self._came:
            data = self._came + data
        reply = self._known.get(data)
        if reply is None:
            if not is_whole(data):
                self._came = data
                return
            reply = self._known[data] = asked(self._port, data)
        self._came = b""
        self._transport.write(reply)


def is_whole(message: bytes) -> bool:
    """Whether the bytes are a message of HTTP/1.1 with all of its Content-Length."""
    head, end, body = message.partition(_END)
    return bool(end) and len(body) >= _length(head)


def _length(head: bytes) -> int:
    fields = (line.partition(b":") for line in head.lower().split(b"\r\n")[1:])
    return next((int(value) for name, _, value in fields if name == b"content-length"), 0)


def asked(port: int, request: bytes) -> bytes:
    """The reply to a request, on a connection of its own; OSError when there is none."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(request)
        reply = b""
        while not is_whole(reply):
            more = connection.recv(65536)
            if not more:
                raise ConnectionError(f"the responder closed the connection after {len(reply)} bytes")
            reply += more
        return reply


@contextmanager
def replaying(port: int) -> Iterator[int]:
    """The port of a process that replays the responder at `port`, on that one's CPU; it is gone when the block ends."""
    from benchmarks.harness.ends import pin_to_responder

    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.harness.replay", str(port)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=pin_to_responder,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield int(process.stdout.readline())
    finally:
        process.stdin.close()
        process.wait(timeout=30)
        process.stdout.close()


async def _serve(port: int) -> None:
    known: dict[bytes, bytes] = {}
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Replaying(port, known), "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)  # until the process that started this one closes it


def main() -> None:
    """Answer until stdin ends."""
    import uvloop

    uvloop.run(_serve(int(sys.argv[1])))


if __name__ == "__main__":
    main()
