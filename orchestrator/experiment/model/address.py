"""Resolves the name of a host, and tells whether the address is this machine's own."""

from __future__ import annotations

import socket
from ipaddress import ip_address


def resolve(host: str) -> str:
    """The first IPv4 address of a host, else its first IPv6 one, by the system's resolver; ValueError without one to ask."""
    try:
        addresses = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ValueError(f"{host} has no address here: {getattr(error, 'strerror', None) or error}") from error
    first = min(addresses, key=lambda address: address[0] != socket.AF_INET)
    address = str(first[4][0])
    if ip_address(address).is_unspecified or ip_address(address).is_multicast:
        raise ValueError(f"{host} is {address}, which is no address of one host")
    return address


def is_loopback(address: str) -> bool:
    """Whether the address is one of this machine's own, where no network lies between the two ends."""
    return ip_address(address).is_loopback
