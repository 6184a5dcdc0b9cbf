"""Stands between the two ends of a wire, and keeps what passes."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Tap:
    """Stands between the two ends and keeps what passes, each way."""

    def __init__(self, target: int) -> None:
        self.sent, self.received = bytearray(), bytearray()
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = [self._listener]
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self._target))
            self._open += [near, far]
            for source, sink, kept in ((near, far, self.sent), (far, near, self.received)):
                threading.Thread(target=self._pass, args=(source, sink, kept), daemon=True).start()

    @staticmethod
    def _pass(source: socket.socket, sink: socket.socket, kept: bytearray) -> None:
        try:
            while data := source.recv(65_536):
                kept += data
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            return  # an end has gone

    def close(self) -> None:
        for each in self._open:
            each.close()


@contextmanager
def tapped(port: int) -> Iterator[Tap]:
    tap = Tap(port)
    try:
        yield tap
    finally:
        tap.close()
