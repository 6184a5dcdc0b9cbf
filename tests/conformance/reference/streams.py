"""Server-sent events on the wire, both ends: `protos/http.md`, `process.md` and `payloads.md` in the standard library."""

from __future__ import annotations

import base64
import json
import socket
import socketserver
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPResponse
from typing import Any
from urllib.parse import parse_qsl

from tests.conformance.reference.generator import stream
from tests.conformance.reference.store import row_of

NS = 10**9


def text_of(seed: int, size: int, number: int) -> str:
    """The text of event `number` of a subscription."""
    place = number % 64
    length = place + size
    return base64.b64encode(stream(f"events/{seed}", (length + 3) // 4 * 3)).decode("ascii")[place:length]


def due_in(seconds: float, per_second: float) -> tuple[int, int]:
    """The interval, and how many events a subscription of so many seconds has."""
    interval_ns = max(1000, round(NS / per_second))
    return interval_ns, max(1, round(seconds * NS) // interval_ns)


def events_of(reply: HTTPResponse) -> Iterator[dict[str, Any]]:
    """The events of a body, as they come."""
    while line := reply.readline():
        assert line.startswith(b"data: "), line
        assert reply.readline() == b"\n"
        yield json.loads(line[len(b"data: ") :])


@contextmanager
def subscribed(port: int, query: str, timeout_s: float) -> Iterator[HTTPResponse]:
    """The reply to a subscription; the connection is closed at the end, whatever is left of it."""
    connection = HTTPConnection("127.0.0.1", port, timeout=timeout_s)
    try:
        connection.request("GET", f"/{query}")
        yield connection.getresponse()
    finally:
        connection.close()


def _carried(asked: dict[str, int], number: int) -> dict[str, Any]:
    """What an event carries besides its number and its stamp; of `activity`, which asks for what follows a row, a row."""
    return (
        row_of(asked["after"], number) if "after" in asked else {"data": text_of(asked["seed"], asked["size"], number)}
    )


@dataclass(frozen=True)
class Faults:
    """What is done to events, by their numbers: an event that is `held` comes behind the next one."""

    dropped: frozenset[int] = frozenset()
    repeated: frozenset[int] = frozenset()
    held: frozenset[int] = frozenset()
    wrong: frozenset[int] = frozenset()
    cut_after: int = 0
    error_after: int = 0
    never_ends: bool = False


@dataclass
class EventServer:
    """A responder of `sse` that does what it is told to events of subscriptions to more than one."""

    identity: str
    faults: Faults = field(default_factory=Faults)
    asked: list[dict[str, int]] = field(default_factory=list)

    @contextmanager
    def running(self) -> Iterator[int]:
        """Its port."""
        responder = self

        class Handler(socketserver.StreamRequestHandler):
            disable_nagle_algorithm = True

            def handle(self) -> None:
                while (target := self._request()) is not None:
                    path, _, query = target.partition("?")
                    if path == "/identity":
                        self._reply([b'data: {"identity":' + json.dumps(responder.identity).encode() + b"}\n\n"])
                        continue
                    asked = {name: int(value) for name, value in parse_qsl(query)}
                    responder.asked.append(asked)
                    self._reply(responder.messages(asked))

            def _request(self) -> str | None:
                first = self.rfile.readline()
                while line := self.rfile.readline():
                    if line == b"\r\n":
                        return first.decode("ascii").split()[1]
                return None

            def _reply(self, messages: Any) -> None:
                head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
                self.wfile.write(head.encode())
                for message in messages:
                    if message is None:
                        self.request.shutdown(socket.SHUT_RDWR)
                        return
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(message), message))
                self.wfile.write(b"0\r\n\r\n")

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True
            allow_reuse_address = True

            def handle_error(self, request: Any, client_address: Any) -> None:
                """A client that has left is no error."""

        with Server(("127.0.0.1", 0), Handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            try:
                yield server.server_address[1]
            finally:
                server.shutdown()

    def messages(self, asked: dict[str, int]) -> Iterator[bytes | None]:
        """The events of a subscription as they are sent; None where the connection is to end."""
        begin, faults = time.monotonic_ns(), self.faults if asked["count"] > 1 else Faults()
        held = b""
        for number in range(1, asked["count"] + 1):
            while (left_ns := begin + (number - 1) * asked["interval_ns"] - time.monotonic_ns()) > 0:
                time.sleep(left_ns / NS)
            carried = _carried(asked, number + (number in faults.wrong))
            event = {"sequence": number, "sent_ns": time.monotonic_ns(), **carried}
            message = b"data: " + json.dumps(event, separators=(",", ":")).encode() + b"\n\n"
            if number in faults.held:
                held = message
                continue
            if number not in faults.dropped:
                yield message * (1 + (number in faults.repeated))
            if held:
                yield held
                held = b""
            if number == faults.error_after:
                yield b'data: {"error":"the table is gone"}\n\n'
                return
            if number == faults.cut_after:
                yield None
                return
        if faults.never_ends:
            threading.Event().wait(60)
