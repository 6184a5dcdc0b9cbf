"""Python's `ssl` with one thing more: it says what each handshake came to, and can resume the session of an earlier one.

The classes are those that `ssl` has for this purpose (`SSLContext.sslsocket_class`, `sslobject_class`): every library on
`ssl` uses them, asyncio and uvloop too, and none is changed.
"""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from services.python.load.tls import ClientTls


def client_context(tls: ClientTls) -> ssl.SSLContext:
    """TLS 1.3, chain and address verified against the one authority; ValueError where that is no certificate."""
    context = _Context(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.tls = tls
    try:
        context.load_verify_locations(cadata=tls.authority.decode())
    except (ssl.SSLError, ValueError) as error:
        raise ValueError(f"{tls.path} holds no certificate of an authority: {error}") from error
    return context


def _took(context: _Context, of: ssl.SSLSocket | ssl.SSLObject) -> None:
    cipher = of.cipher()
    context.tls.note(of.version(), None if cipher is None else cipher[0], is_resumed=bool(of.session_reused))


class _Socket(ssl.SSLSocket):
    """For blocking clients. The session's ticket comes after the handshake, so it is kept when the connection ends."""

    def do_handshake(self, block: bool = False) -> None:
        super().do_handshake(block)
        _took(self.context, self)  # type: ignore[arg-type]  # made by ours alone

    def shutdown(self, how: int) -> None:
        self.context.keep(self)  # type: ignore[attr-defined]
        super().shutdown(how)

    def close(self) -> None:
        self.context.keep(self)  # type: ignore[attr-defined]
        super().close()


class _Object(ssl.SSLObject):
    """For event loops; its session can be asked for when the connection is gone."""

    def do_handshake(self) -> None:
        super().do_handshake()
        _took(self.context, self)  # type: ignore[arg-type]
        self.context.last = self  # type: ignore[attr-defined]


class _Context(ssl.SSLContext):
    sslsocket_class = _Socket
    sslobject_class = _Object

    tls: ClientTls
    session: ssl.SSLSession | None = None
    last: _Object | None = None

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
        """Keep the session of a connection, once it has a ticket."""
        session = of.session if self.tls.resumes else None
        if session is not None and session.has_ticket:
            self.session = session
