"""Counts the bytes of the packets that python-socketio itself writes and reads, so that nothing is encoded twice.

The library takes a packet class of one's own (`serializer`). Ours does what the library's does, and notes the length of
each part: O(1) for bytes and for ASCII, and a part with other characters is kept, to be counted when it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from socketio import packet

Part = int | str
"""A part's bytes, or the text itself where counting its bytes would mean to encode it."""

_EVENTS = (packet.EVENT, packet.BINARY_EVENT)
_ACKNOWLEDGEMENTS = (packet.ACK, packet.BINARY_ACK)


class Traffic:
    """The parts of the event sent last on a connection, of its acknowledgement, and of the event received last."""

    def __init__(self) -> None:
        self.sent: tuple[Part, ...] = ()
        self.received: tuple[Part, ...] = ()
        self.event: tuple[Part, ...] = ()

    def packet_class(self) -> Any:
        """What the library calls to make a packet."""
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
