"""Asks with websocket-client, which blocks its caller and starts no thread."""

from __future__ import annotations

import contextlib
import socket

import websocket

from services.python.load.client import CallFailed, Request
from services.python.load.handshake import peek, socket_failure
from services.python.protocols.websocket import frames

_OPCODE = 0x0F  # of a frame's first byte
_CLOSE = websocket.ABNF.OPCODE_CLOSE  # frames of data have smaller ones, pings and pongs larger ones
_ERRORS = (websocket.WebSocketException, OSError)
_STATUSES = {
    websocket.WebSocketTimeoutException: "timeout",
    websocket.WebSocketConnectionClosedException: "closed",
    websocket.WebSocketBadStatusException: "protocol",
}


class Dialer(frames.DialerBase):
    """Opens upgraded connections."""

    def dial(self) -> Connection:
        timeout_s, tls = self._call.timeout_s, self._call.tls
        try:
            opened = websocket.create_connection(
                self._speech.url,
                sslopt=None if tls is None else {"context": tls.context},
                timeout=timeout_s,
                sockopt=((socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),),
                header=dict(self._speech.headers),
                enable_multithread=False,
                skip_utf8_validation=True,
                suppress_origin=True,
                redirect_limit=0,
                http_no_proxy=["*"],
            )
        except _ERRORS as error:
            raise _failure(error) from error
        return Connection(opened, self._speech, timeout_s)


class Connection(frames.ConnectionBase):
    """One upgraded connection."""

    def call(self, request: Request) -> frames.Exchange:
        sent = self._encode(request)
        try:
            if isinstance(sent, bytes):
                self._socket.send_binary(sent)
            else:
                self._socket.send(sent)
            opcode, content = self._socket.recv_data()
        except _ERRORS as error:
            self._socket.shutdown()
            raise _failure(error) from error
        if opcode == _CLOSE:
            self._socket.shutdown()
            raise CallFailed("closed", f"the responder closed the connection: {content[2:].decode(errors='replace')}")
        self.body = received = content if opcode == websocket.ABNF.OPCODE_BINARY else _text(content)
        return frames.exchange(sent, received, self._decode)

    def has_unasked(self) -> bool:
        """See `load.client.Connection`; pings are answered, and no reply."""
        with contextlib.suppress(*_ERRORS):
            is_secured = hasattr(self._socket.sock, "context")  # of TLS nothing can be looked at and left
            if is_secured:
                self._socket.settimeout(0)
            while is_secured or (self._socket.connected and (first := peek(self._socket.sock))):
                if not is_secured and first[0] & _OPCODE < _CLOSE:
                    return True
                if (opcode := self._socket.recv_data(control_frame=True)[0]) <= _CLOSE:
                    return bool(opcode < _CLOSE)
        return False

    def close(self) -> None:
        """Say so to the other end, and close the socket without waiting for its word."""
        if self._socket.connected:
            with contextlib.suppress(*_ERRORS):  # the other end may be gone already
                self._socket.send_close()
            self._socket.shutdown()


def _text(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise CallFailed("undecodable", f"{error} in {content[:200]!r}") from error


def _failure(error: Exception) -> CallFailed:
    if isinstance(error, OSError):
        return socket_failure(error)
    known = (CallFailed(status, str(error)) for kind, status in _STATUSES.items() if isinstance(error, kind))
    return next(known, CallFailed("undecodable", f"{type(error).__name__}: {error}"))


dialer = Dialer
