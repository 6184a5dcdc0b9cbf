"""Replies that nobody asked for: looked for once, when all phases are over and the connections are still open."""

from __future__ import annotations

import socket
from collections.abc import Sequence

from services.python.load.recorder import GaveUp

_REQUESTS = 10
_LEAST_S, _MOST_S = 0.005, 0.1


def grace_s(span_s: float, requests: int, concurrency: int) -> float:
    """How long what is still under way has to arrive: behind one reply too many, that to the last request comes last.

    Ten times what a connection took for a request of the measured phase, from 5 to 100 ms: with one reply too many, a
    request seems to take half of its time or more.
    """
    return min(max(_REQUESTS * span_s * concurrency / max(requests, 1), _LEAST_S), _MOST_S)


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


def refuse(found: Sequence[bool]) -> None:
    """GaveUp where a connection held any; `found` says it of each."""
    if any(found):
        raise GaveUp(
            "wrong-reply",
            f"{sum(found)} of {len(found)} connections held replies that nobody asked for: "
            "latencies may be of earlier requests",
        )
