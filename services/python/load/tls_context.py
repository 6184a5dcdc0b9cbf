"""Python's `ssl` with one thing more: it says what each handshake came to, and can resume the session of an earlier one.

The classes are those that `ssl` has for this purpose (`SSLContext.sslsocket_class`, `sslobject_class`): every library on
`ssl` uses them, asyncio and uvloop too, and none is changed.
"""

from __future__ import annotations

import ssl
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

Note = Callable[[str | None, str | None, bool], None]
"""Is told the version and the cipher of a handshake, and whether it resumed a session."""

_MOST_KEPT = 256  # more than are in flight, so that each connection has a session of its own to resume


class _Context(ssl.SSLContext):
    """What connections are made with; it keeps sessions that have a ticket, where sessions are to be resumed.

    A session is resumed once where there is another: some servers take no ticket twice (RFC 8446, C.4).
    """

    note: Note
    resumes: bool = False
    session: ssl.SSLSession | None = None
    sessions: deque[ssl.SSLSession]
    connected: deque[ssl.SSLObject]

    def wrap_socket(self, *arguments: Any, **named: Any) -> ssl.SSLSocket:
        return super().wrap_socket(*arguments, **{**named, "session": self.next_session()})

    def wrap_bio(
        self,
        incoming: ssl.MemoryBIO,
        outgoing: ssl.MemoryBIO,
        server_side: bool = False,
        server_hostname: str | bytes | None = None,
        session: ssl.SSLSession | None = None,  # noqa: ARG002 - none of these libraries has one to give
    ) -> ssl.SSLObject:
        for _ in range(len(self.connected)):
            connected = self.connected.popleft()
            if self.keep(connected):
                break
            self.connected.append(connected)  # its ticket may still come
        return super().wrap_bio(incoming, outgoing, server_side, server_hostname, self.next_session())

    def next_session(self) -> ssl.SSLSession | None:
        """The newest session that has not been resumed, else the one that was resumed last."""
        with suppress(IndexError):
            self.session = self.sessions.pop()
        return self.session

    def keep(self, of: ssl.SSLSocket | ssl.SSLObject) -> bool:
        """Keep the session of a connection; whether it has one that can be resumed."""
        session = of.session if self.resumes else None
        if session is None or not session.has_ticket:
            return False
        self.sessions.append(session)
        return True

    def tell(self, of: ssl.SSLSocket | ssl.SSLObject) -> None:
        cipher = of.cipher()
        self.note(of.version(), None if cipher is None else cipher[0], bool(of.session_reused))


class _Socket(ssl.SSLSocket):
    """For blocking clients. The session's ticket comes after the handshake, so it is kept when the connection ends."""

    context: _Context
    is_kept = False

    def do_handshake(self, block: bool = False) -> None:
        super().do_handshake(block)
        self.context.tell(self)

    def shutdown(self, how: int) -> None:
        self._keep()
        super().shutdown(how)

    def close(self) -> None:
        self._keep()
        super().close()

    def _keep(self) -> None:
        self.is_kept = self.is_kept or self.context.keep(self)


class _Object(ssl.SSLObject):
    """For event loops; its session can be asked for when the connection is gone."""

    context: _Context

    def do_handshake(self) -> None:
        super().do_handshake()
        self.context.tell(self)
        if self.context.resumes:
            self.context.connected.append(self)


_Context.sslsocket_class = _Socket
_Context.sslobject_class = _Object


def client_context(authority: bytes, note: Note, *, resumes: bool) -> ssl.SSLContext:
    """TLS 1.3, chain and address verified against the one authority (PEM); ValueError where that is no certificate."""
    context = _Context(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.note, context.resumes = note, resumes
    context.sessions, context.connected = deque(maxlen=_MOST_KEPT), deque(maxlen=_MOST_KEPT)
    try:
        context.load_verify_locations(cadata=authority.decode())
    except ssl.SSLError as error:
        raise ValueError(str(error)) from error
    return context
