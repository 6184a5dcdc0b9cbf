"""A handshake on a socket, and how one that failed is told from everything else that ends a connection or refuses it."""

from __future__ import annotations

import errno
import os
import socket
import struct
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from services.python.load.client import CallFailed, CallSpec
from services.python.load.tls import ClientTls

if TYPE_CHECKING:
    import ssl


def connected(call: CallSpec) -> socket.socket:
    """A socket that leads to the responder, with a time-out for each wait; CallFailed."""
    try:
        opened = socket.create_connection((call.host, call.port), timeout=call.timeout_s)
    except TimeoutError as error:
        raise CallFailed("timeout", "no connection in time") from error
    except OSError as error:
        raise no_connection(error) from error
    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if call.tls is not None:
        return secured(call.tls, opened, call.host, call.timeout_s)
    # The kernel's own time-outs: Python's would put a poll before every send and receive.
    opened.settimeout(None)
    seconds = int(call.timeout_s)
    interval = struct.pack("@ll", seconds, int((call.timeout_s - seconds) * 1e6))
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, interval)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, interval)
    return opened


def secured(tls: ClientTls, connected: socket.socket, host: str, timeout_s: float) -> ssl.SSLSocket:
    """The socket after its handshake, with a time-out for each wait; CallFailed, and the socket closed, without one.

    The kernel's own time-outs end nothing here: a read that they cut short is begun again by `ssl`.
    """
    connected.settimeout(timeout_s)
    try:
        return tls.context.wrap_socket(connected, server_hostname=host)
    except TimeoutError as error:
        raise CallFailed("timeout", "no TLS handshake in time") from error
    except OSError as error:
        raise tls_failure(error) or CallFailed("closed", str(error)) from error
    finally:
        connected.close()  # what was wrapped is another object by now


def tls_failure(error: BaseException) -> CallFailed | None:
    """A handshake that failed, from whatever error it became on its way up; None for everything else."""
    ssl = sys.modules.get("ssl")
    if ssl is None:
        return None
    for cause in causes(error):
        # aiohttp has errors that are of this class and have nothing of it but their cause.
        if isinstance(cause, ssl.SSLCertVerificationError) and hasattr(cause, "verify_message"):
            return refused(f"certificate verify failed: {cause.verify_message}")
        if type(cause) is ssl.SSLError:
            return refused(str(cause))
    return None


def refused(words: str) -> CallFailed:
    """How a trial says that TLS, and nothing else, kept it from a connection."""
    return CallFailed("refused", f"tls: {words}")


EXHAUSTED = tuple(map(os.strerror, (errno.EADDRNOTAVAIL, errno.EMFILE, errno.ENFILE)))


def no_connection(error: BaseException | str) -> CallFailed:
    """No connection came about: `exhausted` where this host had no local port or descriptor left, else `refused`.

    Libraries keep the system's words in their own, or in an error's causes.
    """
    words = error if isinstance(error, str) else " <- ".join(dict.fromkeys(map(str, causes(error))))
    is_exhausted = any(known in words for known in EXHAUSTED)
    return CallFailed("exhausted" if is_exhausted else "refused", words if is_exhausted else str(error))


def causes(error: object) -> Iterator[BaseException]:
    """An error and all that it came from: libraries chain causes, or hand them on as arguments."""
    seen: list[object] = []
    found = [error]
    while found:
        cause = found.pop(0)
        if isinstance(cause, BaseException) and not any(cause is known for known in seen):
            seen.append(cause)
            yield cause
            found += [cause.__cause__, cause.__context__, getattr(cause, "reason", None), *cause.args]


def socket_failure(error: OSError) -> CallFailed:
    """An error of the socket in the record's words. TimeoutError is an OSError, too."""
    if isinstance(error, TimeoutError):
        return CallFailed("timeout", str(error) or "nothing came in time")
    if failure := tls_failure(error):
        return failure
    if isinstance(error, ConnectionResetError | ConnectionAbortedError | BrokenPipeError):
        return CallFailed("closed", str(error))
    return no_connection(error)


def peek(sock: socket.socket) -> bytes:
    """The first byte that can be read without waiting, left where it is; empty for none, or a stream that ended.

    Of TLS, where none can be looked at and left, it is taken.
    """
    seconds = sock.gettimeout()
    try:
        sock.setblocking(False)
        try:
            return sock.recv(1) if hasattr(sock, "context") else sock.recv(1, socket.MSG_PEEK)
        finally:
            sock.settimeout(seconds)
    except OSError:
        return b""
