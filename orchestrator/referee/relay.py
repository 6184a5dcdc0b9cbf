"""Stands between a requester and a responder, and keeps what the requester writes."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from socketserver import BaseRequestHandler, ThreadingTCPServer

_MOST_KEPT = 32 << 20  # bytes of a connection


class Relay(ThreadingTCPServer):
    """Passes connections on to a responder: `port` is where, `sent` what was written to each, in the order of opening."""

    daemon_threads = True
    request_queue_size = 512

    def __init__(self, host: str, port: int) -> None:
        super().__init__((host, 0), _Connection)
        self.target = host, port
        self.port: int = self.server_address[1]
        self.sent: list[bytearray] = []
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        """Listen no more; connections end with the responder, or with the requester."""
        self.shutdown()
        self.server_close()


class _Connection(BaseRequestHandler):
    server: Relay

    def handle(self) -> None:
        kept = bytearray()
        self.server.sent.append(kept)
        with suppress(OSError), socket.create_connection(self.server.target) as responder:
            for end in (self.request, responder):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            back = threading.Thread(target=_pass_on, args=(responder, self.request), daemon=True)
            back.start()
            _pass_on(self.request, responder, kept)
            back.join()


def _pass_on(source: socket.socket, target: socket.socket, kept: bytearray | None = None) -> None:
    with suppress(OSError):
        while chunk := source.recv(1 << 16):
            if kept is not None and len(kept) < _MOST_KEPT:
                kept += chunk
            target.sendall(chunk)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)
