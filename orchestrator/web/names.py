"""The names that the page answers to: a request for another one comes from a page that was led here (DNS rebinding)."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?")
_HTTP = 80


@dataclass(frozen=True, kw_only=True)
class Names:
    """Host names in lower case, addresses of IPv6 in brackets, and the port; None for any.

    `named`: those that its user added, at any port: a proxy may stand before the page, and speak TLS.
    `is_any_address`: every address of this machine is answered, so every address may be named. No attacker's name is one.
    """

    hosts: frozenset[str] = LOOPBACK
    port: int | None = None
    named: frozenset[str] = frozenset()
    is_any_address: bool = False

    def has(self, host: str) -> bool:
        """Whether a request's Host header names us.

        >>> names = Names(port=8080)
        >>> names.has("LOCALHOST:8080"), names.has("localhost:8081"), names.has("evil.example:8080")
        (True, False, False)
        """
        found = _HOST.fullmatch(host)
        if found is None:
            return False
        name, port = found[1].lower(), int(found[2] or _HTTP)
        if name in self.named:
            return True
        if self.port not in (None, port):
            return False
        return name in self.hosts or (self.is_any_address and is_address(name))

    def origins(self, host: str) -> tuple[str, ...]:
        """The origins of our own pages, of a request's Host header.

        >>> Names(named=frozenset({"bench.example"})).origins("bench.example")
        ('http://bench.example', 'https://bench.example')
        """
        is_named = host.rpartition(":")[0].lower() in self.named or host.lower() in self.named
        return (f"http://{host}", f"https://{host}") if is_named else (f"http://{host}",)


def is_address(name: str) -> bool:
    """Whether a name is an address of IPv4 or, in brackets, of IPv6."""
    try:
        ipaddress.ip_address(name[1:-1] if name.startswith("[") else name)
    except ValueError:
        return False
    return True
