"""Answers frames with blocking threads: the least that can stand between a socket and the dispatcher."""

from __future__ import annotations

import contextlib
import socket
import threading

from services.python.protocols.tcp.frames import ERROR, FrameError, FrameReader, encode_reply, read_request, send_frame
from services.python.serve.dispatcher import Dispatcher
from services.python.serve.responder import Announce, listen, server_context


def serve(dispatcher: Dispatcher, host: str, port: int, announce: Announce) -> None:
    """Answer until the process is ended; see `serve.responder`."""
    listener = listen(host, port)
    crew = _Crew(dispatcher, listener)
    announce(listener.getsockname()[1])
    crew.work()


class _Crew:
    """Threads that take turns to accept; one that is done with a connection goes back to accepting.

    So a connection per request costs no thread per request, which would be counted as the network's.
    """

    def __init__(self, dispatcher: Dispatcher, listener: socket.socket) -> None:
        self._dispatcher = dispatcher
        self._listener = listener
        self._lock = threading.Lock()
        self._accepting = 1
        self._tls = server_context(dispatcher.tls)

    def work(self) -> None:
        while True:
            connection, peer = self._listener.accept()
            with self._lock:
                self._accepting -= 1
                short_of_hands = self._accepting == 0
                self._accepting += short_of_hands
            if short_of_hands:
                threading.Thread(target=self.work, daemon=True).start()
            # A peer that goes away in the middle is its own affair.
            with contextlib.suppress(OSError), self._secured(connection) as open_connection:
                _converse(self._dispatcher, open_connection, (peer[0], peer[1]))
            with self._lock:
                self._accepting += 1

    def _secured(self, connection: socket.socket) -> socket.socket:
        """The connection after its handshake, in the thread that answers it; itself where it is plain."""
        return connection if self._tls is None else self._tls.wrap_socket(connection, server_side=True)


def _converse(dispatcher: Dispatcher, connection: socket.socket, peer: tuple[str, int]) -> None:
    reader = FrameReader(connection)
    try:
        while (frame := reader.read()) is not None:
            code, body = frame
            try:
                operation, request = read_request(code, body)
                reply = encode_reply(code, dispatcher.answer(operation, request, peer))
            except (ValueError, KeyError) as error:
                code, reply = ERROR, f"{type(error).__name__}: {error}".encode()
            send_frame(connection, code, reply)
    except FrameError as error:
        send_frame(connection, ERROR, str(error).encode())
