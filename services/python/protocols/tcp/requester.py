"""Asks with a blocking socket, one request in flight."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable

from services.python.contract.offers import Client
from services.python.load.client import CallFailed, CallSpec, Counted, Counting, Reply, Request
from services.python.load.handshake import connected, peek
from services.python.protocols.tcp.frames import (
    ERROR,
    FrameError,
    FrameReader,
    decode_reply,
    request_code,
    request_encoder,
    send_frame,
)


def dialer(call: CallSpec, client: Client) -> SocketDialer:  # noqa: ARG001 - one client, nothing to choose
    """See `load.client`."""
    return SocketDialer(call)


class SocketDialer:
    """Opens connections."""

    def __init__(self, call: CallSpec) -> None:
        self._call = call
        self._code = request_code(call.operation, call.example)
        self._encode = request_encoder(call.operation, call.example)

    def dial(self) -> SocketConnection:
        return SocketConnection(connected(self._call), self._code, self._encode)


class SocketConnection(Counting):
    """One connection; see `load.client.Connection`."""

    body: bytes | None = None

    def __init__(self, sock: socket.socket, code: int, encode: Callable[[Request], bytes]) -> None:
        self._sock = sock
        self._code = code
        self._encode = encode
        self._reader = FrameReader(sock)

    def call(self, request: Request) -> Counted:
        body = self._encode(request)
        try:
            send_frame(self._sock, self._code, body)
            frame = self._reader.read()
        except (BlockingIOError, TimeoutError) as error:
            raise CallFailed("timeout", "no reply in time") from error
        except OSError as error:
            raise CallFailed("closed", str(error)) from error
        except FrameError as error:
            raise CallFailed("undecodable", str(error)) from error
        if frame is None:
            raise CallFailed("closed", "the responder ended the connection")
        self.body = frame[1]
        return decoded(self._code, *frame), len(body), len(frame[1])

    def has_unasked(self) -> bool:
        """See `load.client.Connection`; the reader keeps nothing back."""
        return bool(peek(self._sock))

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._sock.close()


def decoded(wanted: int, code: int, body: bytes) -> Reply:
    """The reply in a frame; CallFailed when it is an error, of another code, or does not fit its code."""
    if code == ERROR:
        raise CallFailed("protocol", body.decode(errors="replace"))
    if code != wanted:
        raise CallFailed("undecodable", f"a reply of code {code} to a request of code {wanted}")
    try:
        return decode_reply(code, body)
    except FrameError as error:
        raise CallFailed("undecodable", str(error)) from error
