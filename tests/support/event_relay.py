"""A relay between a client and a responder that drops, repeats and reorders events of a stream, by their numbers.

It reads what the responder sends message by message: frames of WebSocket, chunks of an HTTP/1.1 body. All else it passes on.
"""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

_NUMBER = re.compile(rb'"sequence": ?(\d+)')

Next = Callable[[asyncio.StreamReader], Awaitable[bytes]]


@dataclass(frozen=True)
class Faults:
    """What is done to events, by their numbers; an event that is `held` goes out behind the next one."""

    dropped: frozenset[int] = frozenset()
    repeated: frozenset[int] = frozenset()
    held: frozenset[int] = frozenset()


@dataclass
class _Way:
    """What one connection's events go through."""

    faults: Faults
    waiting: list[bytes] = field(default_factory=list)

    def out(self, message: bytes) -> list[bytes]:
        found = _NUMBER.search(message)
        number = int(found[1]) if found else 0
        if number in self.faults.held:
            self.waiting.append(message)
            return []
        first = [] if number in self.faults.dropped else [message] * (1 + (number in self.faults.repeated))
        waiting, self.waiting = self.waiting, []
        return first + waiting


async def frame(reader: asyncio.StreamReader) -> bytes:
    """The next WebSocket frame of a server: they are not masked (RFC 6455, 5.1)."""
    head = await reader.readexactly(2)
    length = head[1]
    if length >= 126:
        extended = await reader.readexactly(2 if length == 126 else 8)
        head, length = head + extended, int.from_bytes(extended, "big")
    return head + await reader.readexactly(length)


async def chunk(reader: asyncio.StreamReader) -> bytes:
    """The next chunk of a chunked body (RFC 9112, 7.1); the head of the next reply behind the last one."""
    line = await reader.readuntil(b"\r\n")
    if line.startswith(b"HTTP/"):
        return await _head(reader, line)
    return line + await reader.readexactly(int(line, 16) + 2)


async def _head(reader: asyncio.StreamReader, begun: bytes = b"") -> bytes:
    """The head of an HTTP reply, with its body where it says how long that is."""
    head = begun + await reader.readuntil(b"\r\n\r\n")
    length = re.search(rb"(?i)content-length: *(\d+)", head)
    return head + (await reader.readexactly(int(length[1])) if length else b"")


@contextmanager
def event_relay(port: int, faults: Faults, following: Next) -> Iterator[int]:
    """The port of a relay to `port` of this machine; `following` reads the responder's next message."""
    loop = asyncio.new_event_loop()
    ready = threading.Event()
    found: list[int] = []

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", port)

        async def ask() -> None:
            while data := await reader.read(65_536):
                back.write(data)
            back.close()

        async def answer() -> None:
            way = _Way(faults)
            with suppress(asyncio.IncompleteReadError, ConnectionError):
                writer.write(await _head(there))
                while True:
                    for message in way.out(await following(there)):
                        writer.write(message)
            writer.close()

        await asyncio.gather(ask(), answer(), return_exceptions=True)

    async def serve() -> None:
        server = await asyncio.start_server(connected, "127.0.0.1", 0)
        found.append(server.sockets[0].getsockname()[1])
        ready.set()

    serving = loop.create_task(serve())  # kept: a task that nobody holds may be collected
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    ready.wait()
    try:
        yield found[0]
    finally:
        loop.call_soon_threadsafe(serving.cancel)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
