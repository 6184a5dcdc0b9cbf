"""How an operation becomes an event of Socket.IO, what an acknowledgement says, and why no connection came about."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from services.python.load.client import CallFailed, CallSpec, Reply, Request
from services.python.load.handshake import EXHAUSTED, causes, refused, tls_failure
from services.python.protocols.socketio.packets import Part

Exchange = tuple[Reply, tuple[Part, ...], tuple[Part, ...]]
"""What `call` returns: the reply, and the parts of both packets as they were sent and received."""


def _check_encodable(call: CallSpec) -> None:
    """CallFailed when JSON cannot carry the example request: python-socketio would send NaN, which is not JSON."""
    try:
        json.dumps({key: value for key, value in call.example.items() if not isinstance(value, bytes)}, allow_nan=False)
    except (ValueError, TypeError, RecursionError) as error:
        raise CallFailed("protocol", f"{call.operation} cannot be encoded as JSON: {error}") from error


def read_acknowledgement(arguments: tuple[Any, ...]) -> Reply:
    """The reply that a responder acknowledged with; CallFailed when it is an error or not a reply."""
    if len(arguments) != 1 or not isinstance(arguments[0], dict):
        raise CallFailed("undecodable", f"acknowledged with {arguments!r:.200}, not with named fields")
    reply: Reply = arguments[0]
    if "error" in reply:
        raise CallFailed("protocol", str(reply["error"]))
    return reply


# The library turns every cause into a ConnectionError, at times into its words alone. First match wins.
_WORDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("exhausted", EXHAUSTED),
    ("refused", ("Connection refused", "Connect call failed")),
    ("timeout", ("TimeoutError", "TimeoutException", "Unexpected connection error")),
    ("closed", ("disconnected", "Connection reset", "reset by peer", "Broken pipe", "was lost")),
    ("undecodable", ("status line", "OPEN packet", "Unexpected response", "Unexpected recv exception")),
)


def connection_failure(error: BaseException) -> CallFailed:
    """Why no connection came about, from the error and all that it came from."""
    if failure := tls_failure(error):
        return failure
    words = " <- ".join(dict.fromkeys(f"{type(cause).__name__}: {cause}" for cause in causes(error)))
    if "[SSL:" in words:
        return refused(words)
    for status, known in _WORDS:
        if any(word in words for word in known):
            return CallFailed(status, words)
    return CallFailed("protocol", words)


@dataclass(frozen=True, kw_only=True)
class Speech:
    """Where a session is opened, which event and data a request is, and how its acknowledgement is read."""

    emits: Callable[[Request], tuple[str, Any]]
    read: Callable[[tuple[Any, ...]], Reply] = read_acknowledgement
    path: str = "socket.io"
    headers: Mapping[str, str] = field(default_factory=dict)


def speech_of(call: CallSpec) -> Speech:
    """That of an operation here; CallFailed when JSON cannot carry the example request."""
    _check_encodable(call)
    return Speech(emits=lambda request: (call.operation, request))
