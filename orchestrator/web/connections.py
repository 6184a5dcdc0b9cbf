"""How connections are kept: no request may be endless, neither in bytes nor in time, and there are only so many at once."""

from __future__ import annotations

import asyncio
import resource
from typing import Any

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CONNECTIONS = 2000
MOST_HEAD = 64 << 10
"""Bytes of a request's first line and headers."""
REQUEST_S = 20.0
"""So long a request may take to arrive whole, from when its connection is made or its first byte comes."""
TAKING_S = 120.0
"""So long a client may take nothing of an answer that waits for it."""
_OTHER_FILES = 200  # that this process has open beside connections
_FULL_WORDS = b"Not possible now: too many connections are open. Ask again in 10 seconds.\n"
_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 10\r\nconnection: close\r\n"
    b"content-type: text/plain; charset=utf-8\r\nx-content-type-options: nosniff\r\n"
    b"content-length: %d\r\n\r\n%b" % (len(_FULL_WORDS), _FULL_WORDS)
)
_COMING = (h11.IDLE, h11.SEND_BODY)  # what a client does before its request is whole


class Connection(H11Protocol):
    """A connection of HTTP/1.1 whose client is not waited for for ever; too many are told so and closed."""

    _deadline: asyncio.TimerHandle | None = None
    _look: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody connected."""
        super().connection_made(transport)
        if len(self.connections) > _room():
            transport.write(_FULL)
            transport.close()
        else:
            self._await_request()

    def data_received(self, data: bytes) -> None:
        """Some bytes came; an answer may take as long as it does."""
        super().data_received(data)
        if self.conn.their_state in _COMING:
            self._await_request()
        else:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone."""
        self._stop_waiting()
        self._stop_looking()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """More of an answer waits than fits on its way."""
        super().pause_writing()
        self._look_again()

    def resume_writing(self) -> None:
        """The client has taken most of it."""
        self._stop_looking()
        super().resume_writing()

    def _look_again(self) -> None:
        self._stop_looking()
        waiting = self.transport.get_write_buffer_size()
        self._look = self.loop.call_later(TAKING_S, self._require_less, waiting)

    def _require_less(self, before: int) -> None:
        if self.transport.get_write_buffer_size() < before:
            self._look_again()
        else:
            self.transport.abort()

    def _stop_looking(self) -> None:
        if self._look is not None:
            self._look.cancel()
            self._look = None

    def _await_request(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(REQUEST_S, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def server(app: ASGIApp, *, grace_s: int | None = None) -> uvicorn.Server:
    """What answers for the application; when it ends, connections that are open have `grace_s`."""
    options: dict[str, Any] = {
        "access_log": False,
        "log_level": "error",  # whoever sends nonsense writes nothing into the terminal
        "server_header": False,
        "timeout_graceful_shutdown": grace_s,
        "ws": "none",
        "h11_max_incomplete_event_size": MOST_HEAD,
    }
    return uvicorn.Server(uvicorn.Config(app, http=Connection, **options))


def _room() -> int:
    """How many connections there may be: a file each."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_CONNECTIONS if soft == resource.RLIM_INFINITY else max(1, min(MOST_CONNECTIONS, soft - _OTHER_FILES))
