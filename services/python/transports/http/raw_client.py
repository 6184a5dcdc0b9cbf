"""A bare socket that speaks just enough HTTP/1.1: what a request costs without any client library.

It sends a Content-Length, and understands replies that have one. Chunked replies are refused in clear words.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping

from services.python.load.client import CallFailed, CallSpec, Request
from services.python.load.handshake import connected, peek
from services.python.transports.http.route import GONE, HttpConnection, HttpReply, Route, authority, shown

_READ_BYTES = 64 * 1024
_LARGEST_HEAD_BYTES = 64 * 1024
_JOINED_BYTES = 64 * 1024  # below this, head and body go out in one segment train for the price of a copy


class Connection(HttpConnection):
    """One socket, opened at once; CallFailed `refused` or `timeout` when there is none to be had."""

    def __init__(self, route: Route, call: CallSpec) -> None:
        super().__init__(route, call)
        self._host = authority(call.host, call.port)
        self._begun = self._head_of(route.method, route.path, route.fields())
        self._is_bodiless = route.method == "HEAD"
        self._call = call
        self._socket = connected(call)
        self._is_plain = call.tls is None
        self._usable = True
        self._reply_head = b""

    def call(self, request: Request) -> HttpReply:
        if not self._usable:
            self._open_anew()
        self._usable = False
        body = self._encode(request)
        begun = self._begun
        if self._varies is not None:
            method, path, fields = self._varies(request)
            begun, self._is_bodiless = self._head_of(method, path, fields), method == "HEAD"
        head = b"%b%d\r\n\r\n" % (begun, len(body))
        try:
            if len(body) <= _JOINED_BYTES:
                self._socket.sendall(head + body)
            else:
                self._socket.sendall(head)
                self._socket.sendall(body)
            status, reply = self._receive()
        except (BlockingIOError, TimeoutError) as error:  # what SO_RCVTIMEO and SO_SNDTIMEO end in; and TLS
            raise CallFailed("timeout", "no reply in time") from error
        except OSError as error:
            raise CallFailed("closed", error.strerror or str(error)) from error
        self.body = reply
        self.is_over |= not self._usable
        if self._has_type:
            self._route.require_type(status, (self.field("content-type") or "").lower())
        return self._read(status, reply), len(body), len(reply)

    def _open_anew(self) -> None:
        """After an announced close; CallFailed `closed` after any other end."""
        if not self.is_over:
            raise CallFailed("closed", GONE)
        self._socket.close()
        self._socket = connected(self._call)

    def _head_of(self, method: str, path: str, fields: Mapping[str, str]) -> bytes:
        named = {"Host": self._host, **fields}
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in named.items())]
        return ("\r\n".join(lines) + "\r\nContent-Length: ").encode()

    def _receive(self) -> tuple[int, bytes]:
        receive = self._socket.recv
        data = receive(_READ_BYTES)
        while (end := data.find(b"\r\n\r\n")) < 0:
            if data[:5] != b"HTTP/"[: len(data)] or len(data) > _LARGEST_HEAD_BYTES:
                raise CallFailed("undecodable", f"not HTTP: {shown(data)}")
            more = receive(_READ_BYTES)
            if not more:
                raise CallFailed("closed", "before the reply" if not data else "within the reply's head")
            data += more
        self._reply_head = head = data[: end + 2]
        status, length, self._usable = _parse(head)
        body = data[end + 4 :]
        missing = (0 if self._is_bodiless else length) - len(body)
        if missing < 0:
            raise CallFailed("undecodable", f"{-missing} bytes more than the Content-Length")
        if missing > 0:
            parts = [body]
            while missing > 0:
                part = receive(missing, socket.MSG_WAITALL) if self._is_plain else receive(min(missing, _READ_BYTES))
                if not part:
                    raise CallFailed("closed", f"{missing} bytes short of the whole reply")
                parts.append(part)
                missing -= len(part)
            body = b"".join(parts)
        return status, body

    def field(self, name: str) -> str | None:
        for line in self._reply_head.split(b"\r\n")[1:]:
            written, _, value = line.partition(b":")
            if written.lower() == name.encode():
                return value.strip().decode("latin-1")
        return None

    def has_unasked(self) -> bool:
        """See `load.client.Connection`; nothing that was read is kept back."""
        return bool(peek(self._socket))

    def close(self) -> None:
        self._usable = False
        self._socket.close()


def _parse(head: bytes) -> tuple[int, int, bool]:
    """HTTP status, body length and whether the connection stays open, out of a reply's head."""
    lines = head.lower().split(b"\r\n")
    try:
        version, status, *_ = lines[0].split(b" ", 2)
        fields = dict(line.split(b":", 1) for line in lines[1:] if line)
        if b"transfer-encoding" in fields:
            raise CallFailed("undecodable", "a chunked reply, which client: raw does not speak; use another client")
        kept = version == b"http/1.1" and fields.get(b"connection", b"").strip() != b"close"
        return int(status), int(fields[b"content-length"]), kept
    except (ValueError, KeyError) as error:
        raise CallFailed("undecodable", f"not an HTTP reply with a Content-Length: {shown(head)}") from error
