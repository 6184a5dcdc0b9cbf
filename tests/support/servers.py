"""Servers on loopback that do as a test says, and a tap that keeps what passes between both ends of a wire."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

HOST = "127.0.0.1"
Converse = Callable[[socket.socket], None]


@contextmanager
def listening(converse: Converse) -> Iterator[int]:
    """The port of a server that holds such a conversation on each connection, on its own thread, and then closes it."""
    listener = socket.create_server((HOST, 0), backlog=256)
    opened: list[socket.socket] = [listener]

    def talk(connection: socket.socket) -> None:
        with connection, suppress(OSError):  # the client has gone
            converse(connection)

    def accept() -> None:
        with suppress(OSError):  # the listener was closed
            while True:
                opened.append(listener.accept()[0])
                threading.Thread(target=talk, args=(opened[-1],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        for each in opened:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()


@contextmanager
def misbehaving(answer: bytes, *, then_close: bool) -> Iterator[int]:
    """The port of a server that reads once, sends `answer` to whatever it was, and closes the connection or hangs."""

    def converse(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(answer)
        while not then_close and connection.recv(65536):
            pass

    with listening(converse) as port:
        yield port


@dataclass
class Tap:
    """Stands between the two ends and keeps what passes, each way."""

    sent: bytearray = field(default_factory=bytearray)
    received: bytearray = field(default_factory=bytearray)
    port: int = 0


@contextmanager
def tapped(target: int) -> Iterator[Tap]:
    tap = Tap()

    def carry(near: socket.socket) -> None:
        with socket.create_connection((HOST, target)) as far:
            back = threading.Thread(target=_pass, args=(far, near, tap.received), daemon=True)
            back.start()
            _pass(near, far, tap.sent)
            back.join()

    with listening(carry) as tap.port:
        yield tap


def _pass(source: socket.socket, sink: socket.socket, kept: bytearray) -> None:
    with suppress(OSError):  # an end has gone
        while data := source.recv(65_536):
            kept += data
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
