"""Options of this process's own TCP sockets, whichever library opened them: they are found through /proc/self/fd.

A socket that listens hands its congestion control down to the connections that it accepts (Linux), so that a responder
sets it there, before it says that it is ready. A requester sets its connections' when they are warm.
"""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from services.python.contract.knobs import CONGESTION, IN_FORCE, NAGLE, NODELAY

_OPEN_FILES = Path("/proc/self/fd")
_AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")


class CannotSet(Exception):
    """The host's kernel does not do what is asked of a socket; the message says what it has."""


def has(knobs: Mapping[str, str]) -> bool:
    """Whether any of them is an option of sockets."""
    return CONGESTION in knobs or NODELAY in knobs


def refuse_if_impossible(knobs: Mapping[str, str]) -> None:
    """CannotSet unless a socket of this host can be set so."""
    if has(knobs):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as tried:
            _set(tried, knobs)


def set_listeners(knobs: Mapping[str, str]) -> None:
    """The congestion control of all connections that this process will accept; CannotSet."""
    if CONGESTION not in knobs:
        return
    found = 0
    for sock in _sockets():
        if sock.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            _set(sock, {CONGESTION: knobs[CONGESTION]})
            found += 1
    if not found:
        raise CannotSet(f"{CONGESTION}: {knobs[CONGESTION]}: no socket of this process that listens can be found here")


def set_connections(knobs: Mapping[str, str], port: int) -> None:
    """All connections to that port; CannotSet, also where there is none to be found."""
    if has(knobs):
        found = 0
        for sock in _sockets():
            if _leads_to(sock, port):
                _set(sock, knobs)
                found += 1
        if not found:
            raise CannotSet("no connection to the responder can be found, to set what was asked of it")


def refuse_differing(knobs: Mapping[str, str], port: int) -> None:
    """CannotSet where a connection to that port is not set so: the library opened it anew, or set it otherwise."""
    other = sum(_leads_to(sock, port) and not _is_set(sock, knobs) for sock in _sockets()) if has(knobs) else 0
    if other:
        raise CannotSet(f"{other} connections were opened anew while measuring, and are not set as was asked for")


def congestion_of(port: int) -> list[str]:
    """What controls the congestion of the connections to that port, each once; empty where the system does not say."""
    if not hasattr(socket, "TCP_CONGESTION"):
        return []
    return sorted({_congestion(sock) for sock in _sockets() if _leads_to(sock, port)})


def congestion_of_new() -> list[str]:
    """What controls the congestion of a connection that nobody sets; empty as `congestion_of`."""
    if not hasattr(socket, "TCP_CONGESTION"):
        return []
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as fresh:
        return [_congestion(fresh)]


def congestion_of_listeners() -> list[str]:
    """What controls the congestion of the connections that this process accepts, each once; empty as `congestion_of`."""
    if not hasattr(socket, "TCP_CONGESTION"):
        return []
    return sorted({_congestion(s) for s in _sockets() if s.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)})


def in_force(congestion: list[str]) -> dict[str, str]:
    """The setting by which an end tells what controlled its congestion; none where nobody knows."""
    return {IN_FORCE: ", ".join(congestion)} if congestion else {}


def _set(sock: socket.socket, knobs: Mapping[str, str]) -> None:
    if (wanted := knobs.get(CONGESTION)) is not None:
        if not hasattr(socket, "TCP_CONGESTION"):
            raise CannotSet(f"{CONGESTION}: {wanted}: this system has no choice of congestion control")
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, wanted.encode())
        except OSError as error:
            raise CannotSet(
                f"{CONGESTION}: {wanted} cannot be set on {socket.gethostname()}: {error.strerror}; "
                f"its kernel has {_available()}"
            ) from error
    if NODELAY in knobs:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, int(knobs[NODELAY] != NAGLE))


def _is_set(sock: socket.socket, knobs: Mapping[str, str]) -> bool:
    is_delayed = not sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    return (CONGESTION not in knobs or _congestion(sock) == knobs[CONGESTION]) and (
        NODELAY not in knobs or is_delayed == (knobs[NODELAY] == NAGLE)
    )


def _congestion(sock: socket.socket) -> str:
    return sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(b"\0").decode()


def _available() -> str:
    try:
        return _AVAILABLE.read_text().strip()
    except OSError:
        return "a list of them that cannot be read"


def _leads_to(sock: socket.socket, port: int) -> bool:
    try:
        return bool(sock.getpeername()[1] == port)
    except OSError:
        return False


def _sockets() -> Iterator[socket.socket]:
    """TCP sockets of this process, one after the other; none where the system does not list them."""
    if not _OPEN_FILES.is_dir():
        return
    for name in os.listdir(_OPEN_FILES):  # noqa: PTH208 - names are wanted, not paths
        with _borrowed(int(name)) as sock:
            if (
                sock is not None
                and sock.family in (socket.AF_INET, socket.AF_INET6)
                and sock.type == socket.SOCK_STREAM
            ):
                yield sock


@contextmanager
def _borrowed(descriptor: int) -> Iterator[socket.socket | None]:
    """A socket by its number, which stays its owner's; None for what is none."""
    try:
        is_socket = stat.S_ISSOCK(os.fstat(descriptor).st_mode)
        sock = socket.socket(fileno=descriptor) if is_socket else None
    except OSError:
        sock = None  # closed since the listing
    try:
        yield sock
    finally:
        if sock is not None:
            sock.detach()
