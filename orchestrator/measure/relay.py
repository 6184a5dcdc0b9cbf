"""A relay on the loopback that keeps what a requester writes, and passes everything on as it comes."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

MOST_BYTES = 32 << 20  # kept in all; what comes later is passed on, and forgotten
_CHUNK = 1 << 16
_PATIENCE_S = 10.0


class Relay:
    """Where a requester connects to: `port`; `sent` has what it wrote, by connection, in the order of their opening."""

    def __init__(self, host: str, port: int) -> None:
        self._target = host, port
        self._listener = socket.create_server((host, 0), backlog=512)
        self.port: int = self._listener.getsockname()[1]
        self._kept: list[bytearray] = []
        self._free = MOST_BYTES
        self._lock = threading.Lock()
        self._open: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    @property
    def sent(self) -> list[bytes]:
        """What was written to each connection so far."""
        with self._lock:
            return [bytes(of) for of in self._kept]

    def close(self) -> None:
        """End every connection, and listen no more. Idempotent."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._threads[0].join(_PATIENCE_S)  # from now on no connection is added
        for connection in self._open:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads[1:]:
            thread.join(_PATIENCE_S)
        for connection in self._open:
            connection.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._target, timeout=_PATIENCE_S)
            except OSError:
                return
            server.settimeout(None)
            for one in (client, server):
                one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._open += [client, server]
            kept = bytearray()
            with self._lock:
                self._kept.append(kept)
            for source, target, into in ((client, server, kept), (server, client, None)):
                thread = threading.Thread(target=self._pass_on, args=(source, target, into), daemon=True)
                self._threads.append(thread)
                thread.start()

    def _pass_on(self, source: socket.socket, target: socket.socket, kept: bytearray | None) -> None:
        with suppress(OSError):
            while chunk := source.recv(_CHUNK):
                if kept is not None:
                    self._keep(chunk, kept)
                target.sendall(chunk)
        with suppress(OSError):
            target.shutdown(socket.SHUT_WR)

    def _keep(self, chunk: bytes, kept: bytearray) -> None:
        with self._lock:
            taken = chunk[: max(0, self._free)]
            self._free -= len(taken)
            kept += taken


@contextmanager
def relay(host: str, port: int) -> Iterator[Relay]:
    """A relay to that address, gone when the block ends."""
    one = Relay(host, port)
    try:
        yield one
    finally:
        one.close()
