"""Asks with websocket-client, which blocks its caller and starts no thread."""

from __future__ import annotations

import contextlib
import socket
from typing import Any

import websocket

from services.python.contract.offers import Client
from services.python.load.client import CallFailed, CallSpec, Request
from services.python.load.handshake import socket_failure
from services.python.load.unasked import peek
from services.python.protocols.websocket import frames

_OPCODE = 0x0F  # of a frame's first byte
_NODELAY = ((socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),)


class WebSocketDialer(frames.DialerBase):
    """Opens upgraded connections."""

    def dial(self) -> WebSocketConnection:
        tls = self._call.tls
        try:
            opened = websocket.create_connection(
                self._url,
                sslopt=None if tls is None else {"context": tls.context},
                timeout=self._call.timeout_s,
                sockopt=_NODELAY,
                header=self._headers,
                enable_multithread=False,
                skip_utf8_validation=True,
                suppress_origin=True,
                redirect_limit=0,
                http_no_proxy=["*"],
            )
        except (websocket.WebSocketException, OSError) as error:
            raise _failure(error) from error
        return WebSocketConnection(opened, self._encode, self._decode)


class WebSocketConnection(frames.ConnectionBase):
    """One upgraded connection. It ends with its first failure: a late reply would be taken for the next one's."""

    def __init__(self, opened: Any, encode: Any, decode: Any) -> None:
        self._socket = opened
        self._encode = encode
        self._decode = decode

    def call(self, request: Request) -> frames.Exchange:
        sent = self._encode(request)
        try:
            if isinstance(sent, bytes):
                self._socket.send_binary(sent)
            else:
                self._socket.send(sent)
            opcode, content = self._socket.recv_data()
        except (websocket.WebSocketException, OSError) as error:
            self._socket.shutdown()
            raise _failure(error) from error
        if opcode == websocket.ABNF.OPCODE_CLOSE:
            self._socket.shutdown()
            raise CallFailed("closed", f"the responder closed the connection: {content[2:].decode(errors='replace')}")
        self.body = received = content if opcode == websocket.ABNF.OPCODE_BINARY else _text(content)
        return frames.exchange(sent, received, self._decode)

    def has_unasked(self) -> bool:
        """See `load.client.Connection`; pings are answered, and no reply."""
        with contextlib.suppress(websocket.WebSocketException, OSError):
            if hasattr(self._socket.sock, "context"):  # of TLS nothing can be looked at and left
                self._socket.settimeout(0)
                while (opcode := self._socket.recv_data(control_frame=True)[0]) >= websocket.ABNF.OPCODE_CLOSE:
                    if opcode == websocket.ABNF.OPCODE_CLOSE:
                        return False
                return True
            while self._socket.connected and (first := peek(self._socket.sock)):
                if first[0] & _OPCODE < websocket.ABNF.OPCODE_CLOSE:
                    return True
                if self._socket.recv_data(control_frame=True)[0] == websocket.ABNF.OPCODE_CLOSE:
                    break
        return False

    def close(self) -> None:
        """Say so to the other end, and close the socket without waiting for its word."""
        if self._socket.connected:
            with contextlib.suppress(websocket.WebSocketException, OSError):  # the other end may be gone already
                self._socket.send_close()
            self._socket.shutdown()


def _text(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise CallFailed("undecodable", f"{error} in {content[:200]!r}") from error


def _failure(error: Exception) -> CallFailed:
    if isinstance(error, websocket.WebSocketTimeoutException):
        return CallFailed("timeout", str(error))
    if isinstance(error, websocket.WebSocketConnectionClosedException):
        return CallFailed("closed", str(error))
    if isinstance(error, websocket.WebSocketBadStatusException):
        return CallFailed("protocol", str(error))
    if isinstance(error, OSError):
        return socket_failure(error)
    return CallFailed("undecodable", f"{type(error).__name__}: {error}")


def dialer(call: CallSpec, client: Client) -> WebSocketDialer:  # noqa: ARG001 - this module has one client
    """Opens connections for blocking calls; CallFailed when JSON cannot carry the example request."""
    return WebSocketDialer(call)
