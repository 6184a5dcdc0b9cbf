"""`python -m services.python.programs.ping`: the floor by ICMP echo (`protos/process.md`, `protos/timings.md`).

It takes the first way that this host allows: an unprivileged ICMP socket (Linux lets the groups of
`net.ipv4.ping_group_range`), a raw socket (root).
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NoReturn, TypeAlias

from services.python.contract.counters import Clocks
from services.python.contract.lines import STATUSES, read_stdin_line
from services.python.contract.ping_lines import Ping, PingDone
from services.python.contract.requester_lines import Failed
from services.python.load.phases import MEASURED, NS
from services.python.load.record import Record
from services.python.probes.clock import Clock
from services.python.programs.lines import Lines, complain, end_with_stdin, leave

_OK, _TIMEOUT = STATUSES.index("ok"), STATUSES.index("timeout")
Method: TypeAlias = Literal["icmp-datagram", "icmp-raw"]

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


class Unavailable(Exception):
    """No way to ping from this host; the message says what was tried."""


@dataclass(frozen=True, kw_only=True)
class Echo:
    """One echo; `received_ns` is when it was given up where `answered` is false."""

    sequence: int
    sent_ns: int
    received_ns: int
    answered: bool


def ping_by_best_means(ping: Ping, clock: Clock) -> tuple[Method, Iterator[Echo]]:
    """The method's name and the echoes as they come; Unavailable when there is none."""
    refused = []
    by_socket: tuple[tuple[Method, int], ...] = (("icmp-datagram", socket.SOCK_DGRAM), ("icmp-raw", socket.SOCK_RAW))
    for method, kind in by_socket:
        try:
            return method, ping_by_socket(ping, clock, kind)
        except OSError as error:
            refused.append(f"{method}: {error.strerror or error}")
    raise Unavailable(f"no ICMP from here ({'; '.join(refused)}): allow net.ipv4.ping_group_range")


def ping_by_socket(ping: Ping, clock: Clock, kind: int) -> Iterator[Echo]:
    """One echo at a time over an ICMP socket of our own; OSError at once when the host does not allow that."""
    family, _, _, _, address = socket.getaddrinfo(ping.address, None, type=socket.SOCK_DGRAM)[0]
    version, protocol = (V6, socket.IPPROTO_ICMPV6) if family == socket.AF_INET6 else (V4, socket.IPPROTO_ICMP)
    sock = socket.socket(family, kind, protocol)
    try:
        sock.connect(address)
    except OSError:
        sock.close()
        raise
    identifier = os.getpid() & 0xFFFF if kind == socket.SOCK_RAW else None
    payload = bytes(index & 0xFF for index in range(ping.size))

    def echo(sequence: int) -> Echo:
        packet = echo_request(version, identifier or 0, sequence, payload)
        sent_ns = clock.monotonic_ns()
        with contextlib.suppress(OSError):  # unreachable, or too late: an echo without an answer
            sock.send(packet)
            while (left_s := ping.timeout_s - (clock.monotonic_ns() - sent_ns) / NS) > 0:
                sock.settimeout(left_s)
                reply = sock.recv(LARGEST_PAYLOAD + 128)
                received_ns = clock.monotonic_ns()
                if is_reply(version, reply, identifier, sequence, payload):
                    return Echo(sequence=sequence, sent_ns=sent_ns, received_ns=received_ns, answered=True)
        return Echo(sequence=sequence, sent_ns=sent_ns, received_ns=clock.monotonic_ns(), answered=False)

    def echoes() -> Iterator[Echo]:
        begin_ns = clock.monotonic_ns()
        with sock:
            for sequence in range(1, ping.count + 1):
                due_ns = begin_ns + int((sequence - 1) * ping.interval_s * NS)
                clock.sleep(max(0, due_ns - clock.monotonic_ns()) / NS)
                yield echo(sequence)

    return echoes()


def summarise(method: Method, echoes: list[Echo], anchor: Clocks, anchor_end: Clocks) -> PingDone:
    """The `done` line."""
    times_ms = [(echo.received_ns - echo.sent_ns) / 1e6 for echo in echoes if echo.answered]
    return PingDone(
        method=method,
        sent=len(echoes),
        received=len(times_ms),
        min_ms=min(times_ms, default=None),
        avg_ms=sum(times_ms) / len(times_ms) if times_ms else None,
        anchor=anchor,
        anchor_end=anchor_end,
    )


def main() -> NoReturn:
    """Ping as the line on stdin says."""
    lines, clock = Lines(), Clock()
    try:
        ping = read_stdin_line(Ping, sys.stdin.buffer, "ping")
    except ValueError as error:
        _fail(lines, "trial", f"not a ping on stdin: {error}")
    end_with_stdin("ping")
    anchor = clock.anchor()
    echoes: list[Echo] = []
    try:
        method, coming = ping_by_best_means(ping, clock)
        with Record(ping.record, ping.count) as record:
            for echo in coming:
                echoes.append(echo)
                status = _OK if echo.answered else _TIMEOUT
                stamps = (echo.sent_ns, echo.sent_ns, echo.received_ns)
                record.append(echo.sequence, MEASURED, 0, *stamps, -1, ping.size, ping.size, status)
    except Unavailable as error:
        _fail(lines, "unavailable", str(error))
    except OSError as error:
        _fail(lines, "unavailable", f"ping {ping.address}: {error}")
    lines.write(summarise(method, echoes, anchor, clock.anchor()))
    leave(0)


def _fail(lines: Lines, kind: str, message: str) -> NoReturn:
    lines.write(Failed(kind=kind, message=message))
    complain(f"ping: {message}")
    leave(1)


if __name__ == "__main__":
    main()
