"""Where a service runs already: `HOST:PORT` as an experiment says it, and the one IPv4 address that it stands for."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable
from ipaddress import IPv4Address

PATTERN = r"^[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?:[0-9]{1,5}$"
_HIGHEST_PORT = 65_535
Resolve = Callable[[str], str]


def parse_address(text: str) -> tuple[str, int]:
    """Host and port; ValueError for anything else.

    >>> parse_address("localhost:8080")
    ('localhost', 8080)
    """
    if re.search(r"[/@\s]|[^\x21-\x7e]", text):
        raise ValueError(f"{text!a:.80} is no HOST:PORT: a name or an IPv4 address, a colon, a port, and nothing else")
    if text.count(":") > 1:
        raise ValueError(f"{text!a:.80}: orch asks over IPv4 alone; write HOST:PORT with a name or an IPv4 address")
    if not re.fullmatch(PATTERN, text):
        raise ValueError(f"{text!a:.80} is no HOST:PORT, such as localhost:8080")
    host, _, digits = text.partition(":")
    port = int(digits)
    if not 1 <= port <= _HIGHEST_PORT:
        raise ValueError(f"port {port}: a port is a number from 1 to {_HIGHEST_PORT:,}")
    return host, port


def resolve(host: str) -> str:
    """The first IPv4 address of a host, as the system's resolver gives it; ValueError when it has none that can be asked."""
    try:
        addresses = socket.getaddrinfo(host, None, socket.AF_INET, socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ValueError(f"{host} has no IPv4 address here: {getattr(error, 'strerror', None) or error}") from error
    address = str(addresses[0][4][0])
    if not is_askable(address):
        raise ValueError(f"{host} is {address}, which is no address of one host")
    return address


def is_askable(address: str) -> bool:
    """Whether it is an IPv4 address, in full, of one host.

    >>> [is_askable(a) for a in ("127.0.0.1", "198.18.0.9", "0.0.0.0", "224.0.0.1", "255.255.255.255", "127.1", "::1")]
    [True, True, False, False, False, False, False]
    """
    try:
        host = IPv4Address(address)
    except ValueError:
        return False
    return not (int(host) >> 24 == 0 or host.is_multicast or int(host) >> 28 == 0xF)


def is_loopback(address: str) -> bool:
    """Whether the address is one of this machine's own, where no network lies between the two ends.

    >>> is_loopback("127.0.0.2"), is_loopback("198.18.0.9")
    (True, False)
    """
    return IPv4Address(address).is_loopback
