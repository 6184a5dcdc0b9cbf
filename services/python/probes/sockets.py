"""Options of this process's own TCP sockets, whichever library opened them: they are found through /proc/self/fd.

A socket that listens hands its congestion control and its receive window down to the connections that it accepts. A receive
window is a buffer (SO_RCVBUF) and a bound of what is offered of it (TCP_WINDOW_CLAMP), which the kernel sets anew when it
meets larger packets than before. So each end bounds its connections when they have carried requests, and a requester warms
up further after that.
"""

from __future__ import annotations

import os
import socket
import stat
import struct
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from services.python.contract.knobs import CONGESTION, IN_FORCE, NAGLE, NODELAY, OF_SOCKETS, TCP_WINDOW

_OPEN_FILES = Path("/proc/self/fd")
_AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
_LARGEST_BUFFER = Path("/proc/sys/net/core/rmem_max")
_HANDED_DOWN = (CONGESTION, TCP_WINDOW)
_BUFFER_OF_WINDOW = 2  # so many windows: where packets are small, much of a buffer is not theirs
_WINDOWS_OF_TCP_INFO = struct.Struct("=II")  # tcpi_snd_wnd (5.4) and tcpi_rcv_wnd (6.2)
_WINDOWS_AT = 228
_LARGEST_INT = 2**31 - 1


class CannotSet(Exception):
    """The host's kernel does not do what is asked of a socket; the message says what it has."""


def has(knobs: Mapping[str, str]) -> bool:
    """Whether any of them is an option of sockets."""
    return not knobs.keys().isdisjoint(OF_SOCKETS)


def refuse_if_impossible(knobs: Mapping[str, str]) -> None:
    """CannotSet unless a socket of this host can be set so."""
    if has(knobs):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as tried:
            _set(tried, knobs)


def set_listeners(knobs: Mapping[str, str]) -> None:
    """What all connections that this process will accept have of their listener; CannotSet."""
    handed = {name: knobs[name] for name in _HANDED_DOWN if name in knobs}
    if not handed:
        return
    count = 0
    for sock in _sockets():
        if sock.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            _set(sock, handed)
            count += 1
    if not count:
        what = ", ".join(f"{name}: {value}" for name, value in handed.items())
        raise CannotSet(f"{what}: no socket of this process that listens can be found here")


def bound_accepted(knobs: Mapping[str, str], port: int) -> None:
    """The window of all connections that were accepted at that port; CannotSet."""
    if TCP_WINDOW in knobs:
        for sock in _sockets():
            if _is_at(sock, port):
                _set(sock, {TCP_WINDOW: knobs[TCP_WINDOW]})


def set_connections(knobs: Mapping[str, str], port: int) -> None:
    """All connections to that port; CannotSet, also where there is none to be found."""
    if has(knobs):
        count = 0
        for sock in _sockets():
            if _leads_to(sock, port):
                _set(sock, knobs)
                count += 1
        if not count:
            raise CannotSet("no connection to the responder can be found, to set what was asked of it")


def refuse_differing(knobs: Mapping[str, str], port: int) -> None:
    """CannotSet where a connection to that port is not set so: the library opened it anew, or it was set otherwise."""
    other = sum(_leads_to(sock, port) and not _is_set(sock, knobs) for sock in _sockets()) if has(knobs) else 0
    if other:
        raise CannotSet(f"{other} connections were opened anew while measuring, and are not set as was asked for")


def congestion_of(port: int) -> list[str]:
    """What controls the congestion of the connections to that port, each once."""
    return sorted({_congestion(sock) for sock in _sockets() if _leads_to(sock, port)})


def windows_of(port: int) -> tuple[int, int] | None:
    """The largest windows that the connections to that port offer and are offered now, bytes; None where nobody says."""
    raw = [sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 512) for sock in _sockets() if _leads_to(sock, port)]
    enough = _WINDOWS_AT + _WINDOWS_OF_TCP_INFO.size
    both = [_WINDOWS_OF_TCP_INFO.unpack_from(info, _WINDOWS_AT) for info in raw if len(info) >= enough]
    return (max(given for _, given in both), max(got for got, _ in both)) if both else None


def windows_told(knobs: Mapping[str, str], port: int) -> dict[str, str]:
    """The windows of the connections to that port, among the settings of a requester that was told to set them."""
    if TCP_WINDOW not in knobs or (windows := windows_of(port)) is None:
        return {}
    return {"TCP windows, at the end": f"{windows[0]:,} B for replies, {windows[1]:,} B for requests"}


def congestion_of_new() -> list[str]:
    """What controls the congestion of a connection that nobody sets."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as fresh:
        return [_congestion(fresh)]


def congestion_of_listeners() -> list[str]:
    """What controls the congestion of the connections that this process accepts, each once."""
    return sorted({_congestion(s) for s in _sockets() if s.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)})


def in_force(congestion: list[str]) -> dict[str, str]:
    """The setting by which an end tells what controlled its congestion; none where nobody knows."""
    return {IN_FORCE: ", ".join(congestion)} if congestion else {}


def _set(sock: socket.socket, knobs: Mapping[str, str]) -> None:
    if (wanted := knobs.get(CONGESTION)) is not None:
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, wanted.encode())
        except OSError as error:
            raise CannotSet(
                f"{CONGESTION}: {wanted} cannot be set on {socket.gethostname()}: {error.strerror}; "
                f"its kernel has {_said_by(_AVAILABLE)}"
            ) from error
    if NODELAY in knobs:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, int(knobs[NODELAY] != NAGLE))
    if TCP_WINDOW in knobs:
        _bound(sock, int(knobs[TCP_WINDOW]))


def _bound(sock: socket.socket, window: int) -> None:
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, min(_BUFFER_OF_WINDOW * window, _LARGEST_INT))
    if sock.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) < 2 * window:  # Linux gives twice what is asked for
        raise CannotSet(
            f"{TCP_WINDOW}: {window} cannot be set on {socket.gethostname()}: the largest that its kernel gives "
            f"(net.core.rmem_max) is {_said_by(_LARGEST_BUFFER)}"
        )
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP, window)


def _is_set(sock: socket.socket, knobs: Mapping[str, str]) -> bool:
    is_delayed = not sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    return (
        (CONGESTION not in knobs or _congestion(sock) == knobs[CONGESTION])
        and (NODELAY not in knobs or is_delayed == (knobs[NODELAY] == NAGLE))
        and (TCP_WINDOW not in knobs or _clamp(sock) == int(knobs[TCP_WINDOW]))
    )


def _clamp(sock: socket.socket) -> int:
    return sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP)


def _congestion(sock: socket.socket) -> str:
    return sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(b"\0").decode()


def _said_by(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError:
        return "what cannot be read there"


def _leads_to(sock: socket.socket, port: int) -> bool:
    try:
        return bool(sock.getpeername()[1] == port)
    except OSError:
        return False


def _is_at(sock: socket.socket, port: int) -> bool:
    try:
        return bool(sock.getsockname()[1] == port and sock.getpeername())
    except OSError:
        return False


def open_files() -> Iterable[int]:
    """All descriptors of this process."""
    return map(int, os.listdir(_OPEN_FILES))  # noqa: PTH208 - names are wanted, quickly


def tcp_sockets(descriptors: Iterable[int]) -> Iterator[tuple[int, int, socket.socket]]:
    """Yield descriptor, inode and socket of those that are TCP's, one after the other; each stays its owner's."""
    for descriptor in descriptors:
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISSOCK(status.st_mode):
                continue
            sock = socket.socket(fileno=descriptor)
        except OSError:
            continue  # closed since the listing (the listing's own descriptor, for one)
        try:
            if sock.family in (socket.AF_INET, socket.AF_INET6) and sock.type == socket.SOCK_STREAM:
                yield descriptor, status.st_ino, sock
        finally:
            sock.detach()


def _sockets() -> Iterator[socket.socket]:
    for _, _, sock in tcp_sockets(open_files()):
        yield sock
