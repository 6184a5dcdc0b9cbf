"""What the kernel knows of this process's own TCP connections (`TCP_INFO`), whichever library opened them.

Sockets are found through /proc/self/fd, so gRPC's count as well.
"""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

from services.python.probes.sockets import open_files, tcp_sockets

# Of struct tcp_info (include/uapi/linux/tcp.h), which grows at its end from kernel to kernel: type and offset.
_COUNTERS = {
    "bytes_sent": ("=Q", 200),  # of Linux 4.19, the last one that is read
    "bytes_received": ("=Q", 128),
    "segments_sent": ("=I", 136),
    "segments_received": ("=I", 140),
    "retransmits": ("=I", 100),
}
_STATE, _MIN_RTT, _ENOUGH = 0, 148, 208
_LARGEST = 512
_NO_RTT_YET = 0xFFFFFFFF
_CLOSED = 7  # TCP_CLOSE of include/net/tcp_states.h
_BETWEEN_LOOKS_NS = 100_000_000


def counters(raw: bytes) -> dict[str, int]:
    """Those of a connection since it was opened; empty of a kernel that counts less."""
    if len(raw) < _ENOUGH:
        return {}
    return {name: struct.unpack_from(code, raw, offset)[0] for name, (code, offset) in _COUNTERS.items()}


def min_rtt_us(raw: bytes) -> int | None:
    """The smallest round trip that the kernel saw on a connection; None without one."""
    smallest: int = struct.unpack_from("=I", raw, _MIN_RTT)[0] if len(raw) >= _ENOUGH else _NO_RTT_YET
    return None if smallest == _NO_RTT_YET else smallest


def addresses_of(host: str, port: int) -> frozenset[str]:
    """The addresses a name stands for; OSError when it stands for none."""
    return frozenset(str(info[4][0]) for info in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))


def _find(addresses: frozenset[str], port: int, descriptors: Iterable[int]) -> Iterator[tuple[int, int, bytes]]:
    """Descriptor, inode and `struct tcp_info` of those that are connections to these addresses."""
    for descriptor, inode, sock in tcp_sockets(descriptors):
        with suppress(OSError):  # closed meanwhile
            raw = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _LARGEST)
            if _leads_to(sock, raw, addresses, port):
                yield descriptor, inode, raw


def _leads_to(sock: socket.socket, raw: bytes, addresses: frozenset[str], port: int) -> bool:
    """Whether the target is at the other end, or was.

    A socket that the peer has reset has no peer any more, but keeps its counters until it is closed. A requester has TCP
    connections to its target only, so that one which is over and has carried something led there.
    """
    try:
        peer = sock.getpeername()
    except OSError:
        return raw[_STATE] == _CLOSED and bool(counters(raw).get("segments_received"))
    # A dual-stack socket (gRPC's) shows an IPv4 peer as ::ffff:a.b.c.d.
    return bool(peer[1] == port and peer[0].removeprefix("::ffff:") in addresses)


class WireMeter:
    """Sums TCP_INFO over a window in which connections may come and go.

    `before_close` is called while a connection that is about to go is still open, and holds up the next request: so it looks
    where the last one was found, and at all open files only when fewer are there than were, and ten times a second. Where
    many short connections `overlap`, only the smallest round trip is known, and no sums; neither are they where a socket was
    gone before the last look at it. `opened` says how many connections have been opened so far.
    """

    def __init__(
        self, host: str | None, port: int = 0, *, overlap: bool = False, opened: Callable[[], int] | None = None
    ) -> None:
        """Without a `host` there are no connections, and nothing is counted."""
        self._addresses = frozenset[str]() if host is None else addresses_of(host, port)
        self._port = port
        self._overlap = overlap
        self._opened = opened
        self._next_look_ns = 0
        self._usual: tuple[int, ...] = ()
        self._closed = self._open_at_begin = self._opened_at_begin = 0
        self._open: frozenset[int] = frozenset()
        self._vanished = 0
        self._is_complete = True
        self._before: dict[int, bytes] = {}
        self._latest: dict[int, bytes] = {}

    def begin(self) -> None:
        self._latest, self._open = {}, frozenset()
        self._open_at_begin = self._look_where_it_was() or self._look_everywhere()  # a turn begins without a pause
        self._before = dict(self._latest)
        self._closed = self._vanished = 0
        self._is_complete = True
        self._opened_at_begin = self._opened() if self._opened else 0

    def before_close(self) -> None:
        """Look once more, while the connection is there."""
        now_ns = time.monotonic_ns()
        if now_ns >= self._next_look_ns:
            self._next_look_ns = now_ns + _BETWEEN_LOOKS_NS
            count = self._look_everywhere()
        elif self._overlap:
            return
        else:
            count = self._look_where_it_was() or self._look_everywhere()
        if self._opened is not None:
            alive = self._open_at_begin + self._opened() - self._opened_at_begin - self._closed
            self._is_complete &= count >= alive
        self._closed += 1

    def end(self) -> None:
        self._look_everywhere()

    def _look_where_it_was(self) -> int:
        """Read the sockets at the descriptors of the last look; 0 when one of them is gone."""
        looks = list(_find(self._addresses, self._port, self._usual))
        return self._note(looks) if looks and len(looks) == len(self._usual) else 0

    def _look_everywhere(self) -> int:
        """Read every socket there is; how many there are."""
        looks = list(_find(self._addresses, self._port, open_files()))
        self._usual = tuple(descriptor for descriptor, _, _ in looks)
        return self._note(looks)

    def _note(self, looks: list[tuple[int, int, bytes]]) -> int:
        """Keep the latest of each socket. More gone than were closed here went unread."""
        inodes = frozenset(inode for _, inode, _ in looks)
        self._vanished += len(self._open - inodes)
        self._is_complete &= self._vanished <= self._closed
        self._open = inodes
        self._latest.update((inode, raw) for _, inode, raw in looks)
        return len(looks)

    def wire(self) -> dict[str, int] | None:
        """Bytes and segments of the window, headers of TCP and below excluded; None where they are not fully known."""
        if self._overlap or not self._latest or not self._is_complete:
            return None
        sums = dict.fromkeys(_COUNTERS, 0)
        for inode, raw in self._latest.items():
            now, before = counters(raw), counters(self._before.get(inode, b""))
            if not now:
                return None
            for name, value in now.items():
                sums[name] += value - before.get(name, 0)
        return sums

    def min_rtt_us(self) -> int | None:
        """The smallest round trip that the kernel saw on these connections, by its own stamps."""
        return min(filter(None, map(min_rtt_us, self._latest.values())), default=None)
