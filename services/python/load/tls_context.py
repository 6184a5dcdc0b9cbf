"""Python's `ssl` with one thing more: it says what each handshake came to, and can resume the session of an earlier one.

The classes are those that `ssl` has for this purpose (`SSLContext.sslsocket_class`, `sslobject_class`): every library on
`ssl` uses them, asyncio and uvloop too, and none is changed.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable
from typing import Any

Note = Callable[[str | None, str | None, bool], None]
"""Is told the version and the cipher of a handshake, and whether it resumed a session."""


class _Context(ssl.SSLContext):
    """What connections are made with; it keeps the last session that has a ticket, where sessions are to be resumed."""

    note: Note
    resumes: bool = False
    session: ssl.SSLSession | None = None
    last: ssl.SSLObject | None = None

    def wrap_socket(self, *arguments: Any, **named: Any) -> ssl.SSLSocket:
        return super().wrap_socket(*arguments, **{**named, "session": self.session})

    def wrap_bio(
        self,
        incoming: ssl.MemoryBIO,
        outgoing: ssl.MemoryBIO,
        server_side: bool = False,
        server_hostname: str | bytes | None = None,
        session: ssl.SSLSession | None = None,  # noqa: ARG002 - none of these libraries has one to give
    ) -> ssl.SSLObject:
        if self.last is not None:
            self.keep(self.last)
        return super().wrap_bio(incoming, outgoing, server_side, server_hostname, self.session)

    def keep(self, of: ssl.SSLSocket | ssl.SSLObject) -> None:
        session = of.session if self.resumes else None
        if session is not None and session.has_ticket:
            self.session = session

    def took(self, of: ssl.SSLSocket | ssl.SSLObject) -> None:
        cipher = of.cipher()
        self.note(of.version(), None if cipher is None else cipher[0], bool(of.session_reused))


class _Socket(ssl.SSLSocket):
    """For blocking clients. The session's ticket comes after the handshake, so it is kept when the connection ends."""

    context: _Context

    def do_handshake(self, block: bool = False) -> None:
        super().do_handshake(block)
        self.context.took(self)

    def shutdown(self, how: int) -> None:
        self.context.keep(self)
        super().shutdown(how)

    def close(self) -> None:
        self.context.keep(self)
        super().close()


class _Object(ssl.SSLObject):
    """For event loops; its session can be asked for when the connection is gone."""

    context: _Context

    def do_handshake(self) -> None:
        super().do_handshake()
        self.context.took(self)
        self.context.last = self


_Context.sslsocket_class = _Socket
_Context.sslobject_class = _Object


def client_context(authority: bytes, note: Note, *, resumes: bool) -> ssl.SSLContext:
    """TLS 1.3, chain and address verified against the one authority (PEM); ValueError where that is no certificate."""
    context = _Context(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.note, context.resumes = note, resumes
    try:
        context.load_verify_locations(cadata=authority.decode())
    except ssl.SSLError as error:
        raise ValueError(str(error)) from error
    return context
