"""ICMP echo packets (RFC 792, RFC 4443): made and read. Pure."""

from __future__ import annotations

import struct
from dataclasses import dataclass

_ECHO = struct.Struct("!BBHHH")  # type, code, checksum, identifier, sequence
LARGEST_PAYLOAD = 65_507 - _ECHO.size


@dataclass(frozen=True, kw_only=True)
class Kind:
    """The types of request and reply of one IP version."""

    request: int
    reply: int
    checksum_ours: bool  # the kernel fills in that of ICMPv6


V4 = Kind(request=8, reply=0, checksum_ours=True)
V6 = Kind(request=128, reply=129, checksum_ours=False)


def echo_request(kind: Kind, identifier: int, sequence: int, payload: bytes) -> bytes:
    """One packet from its ICMP header on."""
    checksum = 0
    if kind.checksum_ours:
        checksum = internet_checksum(_ECHO.pack(kind.request, 0, 0, identifier, sequence) + payload)
    return _ECHO.pack(kind.request, 0, checksum, identifier, sequence) + payload


def is_reply(kind: Kind, packet: bytes, identifier: int | None, sequence: int, payload: bytes) -> bool:
    """Whether this answers that request. `identifier` None: the kernel chose it, and gives us only what is ours.

    An IPv4 header before it (raw sockets) is skipped.
    """
    if packet[:1] and packet[0] >> 4 == 4 and kind is V4:
        packet = packet[(packet[0] & 0x0F) * 4 :]
    if len(packet) < _ECHO.size:
        return False
    type_, code, _, its_identifier, its_sequence = _ECHO.unpack_from(packet)
    return (
        (type_, code, its_sequence) == (kind.reply, 0, sequence)
        and (identifier is None or its_identifier == identifier)
        and packet[_ECHO.size :] == payload
    )


def internet_checksum(data: bytes) -> int:
    """RFC 1071."""
    total: int = sum(struct.unpack(f"!{(len(data) + 1) // 2}H", data + b"\0" * (len(data) % 2)))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
