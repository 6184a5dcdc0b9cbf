"""Stands between the two ends of any protocol over plain TCP, and knows a body by bytes that only that has.

A body is found as it is or in base64. Its last byte can be held back, or altered.
"""

from __future__ import annotations

import base64
import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

_PATIENCE_S = 60


@dataclass(frozen=True)
class Passed:
    """One body that passed: on which connection (from 0), and when (monotonic)."""

    connection: int
    at_ns: int


@dataclass
class Relay:
    """A context manager. `content`: of each request and of its reply. `hold_s`: how long the end of a reply is kept.

    `altered`: the number of the reply, from 1, of which one byte is changed. `asked` and `answered` say what passed, an
    answer when the rest of it was let go; `opened_ns` when each connection came; `sent` and `received` how many bytes of
    which connection came from the client, and from the responder, and when.
    """

    port_of_responder: int
    content: bytes
    hold_s: float = 0.0
    altered: int = 0
    asked: list[Passed] = field(default_factory=list)
    answered: list[Passed] = field(default_factory=list)
    opened_ns: list[int] = field(default_factory=list)
    sent: list[tuple[Passed, int]] = field(default_factory=list)
    received: list[tuple[Passed, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        text = base64.b64encode(self.content)
        self._marks = tuple(body[len(body) // 2 : len(body) // 2 + 60] for body in (self.content, text))
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self._sockets: list[socket.socket] = []
        self.port: int = self._listener.getsockname()[1]

    def __enter__(self) -> Relay:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        for each in (self._listener, *self._sockets):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self.opened_ns.append(time.monotonic_ns())
            server = socket.create_connection(("127.0.0.1", self.port_of_responder), timeout=_PATIENCE_S)
            for each in (client, server):
                each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                each.settimeout(_PATIENCE_S)
                self._sockets.append(each)
            number = len(self.opened_ns) - 1
            for act in (self._carry_requests, self._carry_replies):
                threading.Thread(target=act, args=(client, server, number), daemon=True).start()

    def _carry_requests(self, client: socket.socket, server: socket.socket, number: int) -> None:
        with _passing(server):
            for came, ends in self._parts(client):
                self.sent.append((Passed(number, time.monotonic_ns()), len(came)))
                self.asked.extend(Passed(number, time.monotonic_ns()) for _ in ends)
                server.sendall(came)

    def _carry_replies(self, client: socket.socket, server: socket.socket, number: int) -> None:
        with _passing(client):
            for came, ends in self._parts(server):
                self.received.append((Passed(number, time.monotonic_ns()), len(came)))
                sent = 0
                for end in ends:
                    client.sendall(came[sent : end - 1])
                    time.sleep(self.hold_s)
                    with self._lock:
                        self.answered.append(Passed(number, time.monotonic_ns()))
                        is_altered = len(self.answered) == self.altered
                    last = came[end - 1]
                    client.sendall(bytes([_other(last) if is_altered else last]))
                    sent = end
                client.sendall(came[sent:])

    def _parts(self, source: socket.socket) -> Iterator[tuple[bytes, list[int]]]:
        """What comes, with the places in it at which the mark of a body ends."""
        before = b""
        while came := source.recv(1 << 16):
            ends = []
            for mark in self._marks:
                known = before[-(len(mark) - 1) :]
                both, place = known + came, 0
                while (place := both.find(mark, place)) >= 0:
                    place += len(mark)
                    ends.append(place - len(known))
            before = (before + came)[-64:]
            yield came, sorted(ends)


def _other(byte: int) -> int:
    """Another byte, which is base64's where that one is."""
    return ord("B") if byte == ord("A") else ord("A")


@contextlib.contextmanager
def _passing(towards: socket.socket) -> Iterator[None]:
    """When one side ends, so does the other's reading."""
    with contextlib.suppress(OSError):
        yield
    with contextlib.suppress(OSError):
        towards.shutdown(socket.SHUT_WR)
