"""HTTP/2's frames by hand: what an end says of itself before anything is asked."""

from __future__ import annotations

import socket
import struct

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SETTINGS, PING, WINDOW_UPDATE = 4, 6, 8
EMPTY_SETTINGS = bytes((0, 0, 0, SETTINGS, 0, 0, 0, 0, 0))
INITIAL_WINDOW = 4
LEAST_WINDOW = 65_535


def exactly(connection: socket.socket, size: int) -> bytes:
    """So many bytes, or those until the end."""
    got = b""
    while len(got) < size and (more := connection.recv(size - len(got))):
        got += more
    return got


def frames(connection: socket.socket) -> list[tuple[int, int, bytes]]:
    """The type, flags and payload of the next frame, in a list; none at the end."""
    head = exactly(connection, 9)
    if not head:
        return []
    size = int.from_bytes(head[:3], "big")
    return [(head[3], head[4], exactly(connection, size))]


def first_of(connection: socket.socket, kind: int) -> bytes:
    """The payload of the next frame of a kind."""
    while found := frames(connection):
        if found[0][0] == kind:
            return found[0][2]
    raise AssertionError(f"no frame of type {kind} before the end")


def window_in(settings: bytes) -> int:
    """What a SETTINGS frame says of the initial window; HTTP/2's own where it says nothing."""
    pairs: dict[int, int] = dict(struct.unpack_from(">HI", settings, at) for at in range(0, len(settings), 6))
    return pairs.get(INITIAL_WINDOW, LEAST_WINDOW)
