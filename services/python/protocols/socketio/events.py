"""How an operation becomes an event of Socket.IO, what an acknowledgement says, and how many bytes both packets have.

The library takes a packet class of one's own (`serializer`). Ours does what the library's does, and notes the length of
each part: O(1) for bytes and for ASCII, and a part with other characters is kept, to be counted when it is asked for.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from socketio import packet

from services.python.load.client import CallFailed, CallSpec, Reply, Request
from services.python.load.handshake import EXHAUSTED, causes, refused, tls_failure

Part = int | str  # a part's bytes, or the text itself where counting its bytes would mean to encode it

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


_EVENTS = (packet.EVENT, packet.BINARY_EVENT)
_ACKNOWLEDGEMENTS = (packet.ACK, packet.BINARY_ACK)


class Traffic:
    """The parts of the event sent last on a connection, of its acknowledgement, and of the event received last."""

    def __init__(self) -> None:
        self.sent: tuple[Part, ...] = ()
        self.received: tuple[Part, ...] = ()
        self.event: tuple[Part, ...] = ()

    def packet_class(self) -> Any:
        return partial(_CountedPacket, self)


class _CountedPacket(packet.Packet):  # type: ignore[misc]  # the library has no types
    """Counts without the acknowledgement's number, whose digits grow with the number of requests."""

    def __init__(self, traffic: Traffic, *arguments: Any, **named: Any) -> None:
        self._traffic = traffic
        super().__init__(*arguments, **named)

    def encode(self) -> Any:
        encoded = super().encode()
        if self.packet_type in _EVENTS:
            text, *attachments = encoded if isinstance(encoded, list) else [encoded]
            self._traffic.sent = (_part(text), -_digits(self.id), *map(len, attachments))
        return encoded

    def decode(self, encoded_packet: Any) -> Any:
        attachments = super().decode(encoded_packet)
        if self.packet_type in _ACKNOWLEDGEMENTS:
            self._traffic.received = (_part(encoded_packet), -_digits(self.id))
        elif self.packet_type in _EVENTS:
            self._traffic.event = (_part(encoded_packet), -_digits(self.id))
        return attachments

    def add_attachment(self, attachment: bytes) -> Any:
        if self.packet_type in _ACKNOWLEDGEMENTS:
            self._traffic.received += (len(attachment),)
        return super().add_attachment(attachment)


def _part(text: str) -> Part:
    return len(text) if text.isascii() else text


def _digits(number: int | None) -> int:
    return 0 if number is None else len(str(number))


def size(parts: Iterable[Part]) -> int:
    """Bytes of all parts."""
    return sum(part if isinstance(part, int) else len(part.encode()) for part in parts)
