"""Where the page listens, and which names it answers to there."""

from __future__ import annotations

import errno
import ipaddress
import re
import resource
import socket
from collections.abc import Iterable
from contextlib import suppress

from orchestrator.errors import MissingError, UsageError
from orchestrator.web.names import LOOPBACK, Names

_ANY = ("0.0.0.0", "::")  # noqa: S104 - told from others, not bound to
_WAITING = 2048  # connections that are not accepted yet
_OPEN_FILES = 8192
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?")


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there; UsageError for no address of this machine, MissingError where the port is taken."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise UsageError(
            f"--host {host!r} is no address", hint="--host 127.0.0.1, or an address of this machine"
        ) from error
    family, kind, protocol, _, address = found[0]
    bound = socket.socket(family, kind, protocol)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen(_WAITING)
    except OSError as error:
        bound.close()
        raise _refused(host, port, error) from error
    return bound


def _refused(host: str, port: int, error: OSError) -> Exception:
    if error.errno == errno.EADDRINUSE:
        return MissingError(
            f"port {port} of {host} is in use", hint="another `orch serve` may have it; --port 0 takes a free one"
        )
    if error.errno == errno.EADDRNOTAVAIL:
        return UsageError(f"{host} is not an address of this machine", hint="omit --host to listen on loopback")
    if error.errno == errno.EACCES:
        return MissingError(f"this user may not listen on port {port}", hint="--port 8642, or 0 for a free one")
    return MissingError(
        f"cannot listen on port {port} of {host}: {error.strerror}", hint="name another --host or --port"
    )


def is_loopback(bound: socket.socket) -> bool:
    """Whether only this machine can connect."""
    return ipaddress.ip_address(bound.getsockname()[0]).is_loopback


def names(host: str, bound: socket.socket, more: Iterable[str]) -> Names:
    """What the page answers to; UsageError for what is no host name."""
    for name in more:
        if not _NAME.fullmatch(name):
            raise UsageError(f"--name {name!r} is no host name", hint="--name bench.example")
    address, port = bound.getsockname()[:2]
    hosts = {in_address(host).lower(), in_address(address)}
    is_any = address in _ANY
    if is_any:
        hosts.add(socket.gethostname().lower())
    if is_any or is_loopback(bound):
        hosts |= LOOPBACK
    named = frozenset(name.lower() for name in more)
    return Names(hosts=frozenset(hosts), port=port, named=named, is_any_address=is_any)


def shown(host: str, more: Iterable[str]) -> str:
    """The name that stands in the address that is printed."""
    first = next(iter(more), None)
    if host in _ANY:
        return first or socket.gethostname()
    return in_address(host)


def in_address(host: str) -> str:
    """A host as addresses have it: one of IPv6 in brackets."""
    return f"[{host}]" if ":" in host else host


def allow_many_connections() -> None:
    """Let this process hold as many connections as it may: a file for each."""
    with suppress(OSError, ValueError):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, _OPEN_FILES)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))
