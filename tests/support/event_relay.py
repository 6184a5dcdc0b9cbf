"""A relay between a client and a responder that drops, repeats and reorders events of a stream, by their numbers.

It reads what the responder sends message by message: frames of WebSocket or HTTP/2, chunks of an HTTP/1.1 body. All else it
passes on.
"""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

_IN_JSON = re.compile(rb'"sequence": ?(\d+)')
_HEAD_BYTES = 9  # of an HTTP/2 frame
_DATA = 0  # type of a frame
_PREFIX_BYTES = 5  # of gRPC's message: compressed or not, and its length
_FIRST_FIELD = 0x08  # of Event: `sequence`, a varint; an identity begins otherwise


@dataclass(frozen=True)
class Faults:
    """What is done to events, by their numbers; an event that is `held` goes out behind the next one.

    A connection ends behind event `last`, for both ends.
    """

    dropped: frozenset[int] = frozenset()
    repeated: frozenset[int] = frozenset()
    held: frozenset[int] = frozenset()
    last: int | None = None


@dataclass(frozen=True)
class Framing:
    """How a responder's messages follow each other: reads the next one, and knows an event's number; 0 for all else."""

    following: Callable[[asyncio.StreamReader], Awaitable[bytes]]
    number: Callable[[bytes], int]
    has_head: bool = True  # of HTTP/1.1


@dataclass
class _Way:
    """What one connection's events go through."""

    faults: Faults
    number: Callable[[bytes], int]
    waiting: list[bytes] = field(default_factory=list)
    is_over: bool = False

    def out(self, message: bytes) -> list[bytes]:
        number = self.number(message)
        self.is_over = number > 0 and number == self.faults.last
        if number in self.faults.held:
            self.waiting.append(message)
            return []
        first = [] if number in self.faults.dropped else [message] * (1 + (number in self.faults.repeated))
        waiting, self.waiting = self.waiting, []
        return first + waiting


async def _frame(reader: asyncio.StreamReader) -> bytes:
    """The next WebSocket frame of a server: they are not masked (RFC 6455, 5.1)."""
    head = await reader.readexactly(2)
    length = head[1]
    if length >= 126:
        extended = await reader.readexactly(2 if length == 126 else 8)
        head, length = head + extended, int.from_bytes(extended, "big")
    return head + await reader.readexactly(length)


async def _chunk(reader: asyncio.StreamReader) -> bytes:
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


async def _http2_frame(reader: asyncio.StreamReader) -> bytes:
    """The next HTTP/2 frame (RFC 9113, 4.1); a sender that awaits each write puts one gRPC message into one of DATA."""
    head = await reader.readexactly(_HEAD_BYTES)
    return head + await reader.readexactly(int.from_bytes(head[:3], "big"))


def _in_json(message: bytes) -> int:
    found = _IN_JSON.search(message)
    return int(found[1]) if found else 0


def _in_grpc(frame: bytes) -> int:
    content = frame[_HEAD_BYTES + _PREFIX_BYTES :]
    if frame[3] != _DATA or not content or content[0] != _FIRST_FIELD:
        return 0
    number = 0
    for place, byte in enumerate(content[1:]):
        number |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            break
    return number


FRAMES = Framing(_frame, _in_json)
CHUNKS = Framing(_chunk, _in_json)
GRPC = Framing(_http2_frame, _in_grpc, has_head=False)


@contextmanager
def event_relay(port: int, faults: Faults, framing: Framing) -> Iterator[int]:
    """The port of a relay to `port` of this machine, whose messages follow each other as `framing` says."""
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
            way = _Way(faults, framing.number)
            with suppress(asyncio.IncompleteReadError, ConnectionError):
                if framing.has_head:
                    writer.write(await _head(there))
                while not way.is_over:
                    for message in way.out(await framing.following(there)):
                        writer.write(message)
            writer.close()
            back.close()

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
