"""What a protocol's responder module gives to `services.python.programs.respond`, and what it is given; its certificate.

A module has one function, `serve(dispatcher, host, port, announce)`. Where the responder names a server (`served_by`), that
module's `serve(application, dispatcher, host, port, announce)` is called, with what the responder's own
`application(dispatcher)` or its framework returns.

* It runs in the main thread, listens on `host`:`port` (0: any free port), or on `dispatcher.listener` where several worker
  processes accept from one, and calls `announce(actual_port)` once, as soon as a connection would be accepted.
* It hands every decoded request to `dispatcher.answer(operation, request, peer)`, on an event loop to `answer_async`, and
  sends back what that returns; `peer` is the address and port of the other end, so that distinct peers can be counted.
* It blocks for as long as it answers, and is **never asked to return**: `respond` ends the process with `os._exit`. SIGTERM
  and SIGINT are blocked in every thread, so that a framework's handlers never run.
* When it cannot start it raises `CannotServe` (or lets an OSError of its socket out). It may print: file descriptor 1 is
  stderr by then. It must not read stdin.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import ssl

    from services.python.contract.responder_lines import Tls

import socket
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack

from services.python.operations import OPERATIONS
from services.python.serve.dispatcher import Dispatcher

BACKLOG = 1024

Announce = Callable[[int], None]
Serve = Callable[[Dispatcher, str, int, Announce], None]


class CannotServe(Exception):
    """The responder cannot start; the message says why and what to do next."""


def listen(host: str, port: int) -> socket.socket:
    """A blocking TCP socket that listens, with TCP_NODELAY, which accepted connections inherit.

    CannotServe when the address is taken or not of this host.
    """
    listener = _bound(host, port, socket.SO_REUSEADDR)
    listener.listen(BACKLOG)
    return listener


def reserve(host: str, port: int) -> socket.socket:
    """A TCP socket that has a port (0: a free one) and does not listen, so that several processes can, with SO_REUSEPORT.

    CannotServe as of `listen`.
    """
    return _bound(host, port, socket.SO_REUSEPORT)


def _bound(host: str, port: int, reuse: int) -> socket.socket:
    try:
        family, kind, number, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        bound = socket.socket(family, kind, number)
    except OSError as error:
        raise CannotServe(f"cannot listen on {host}:{port}: {error.strerror}; name an address of this host") from error
    try:
        bound.setsockopt(socket.SOL_SOCKET, reuse, 1)
        bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        bound.bind(address)
    except OSError as error:
        bound.close()
        raise CannotServe(
            f"cannot listen on {host}:{port}: {error.strerror}; give a free port, or 0 for any"
        ) from error
    return bound


def server_context(tls: Tls | None) -> ssl.SSLContext | None:
    """TLS 1.3 and nothing older, one for all connections, so that sessions can be resumed; None for plain ones.

    CannotServe where certificate and key cannot be used.
    """
    if tls is None:
        return None
    import ssl

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    try:
        context.load_cert_chain(tls.certificate, tls.key)
    except OSError as error:  # `ssl.SSLError` is one
        raise _unusable(tls, error) from error
    return context


def pem(tls: Tls) -> tuple[bytes, bytes]:
    """Key and certificate; CannotServe where they cannot be used, which gRPC tells as a port that it cannot take."""
    server_context(tls)
    try:
        return Path(tls.key).read_bytes(), Path(tls.certificate).read_bytes()
    except OSError as error:
        raise _unusable(tls, error) from error


def _unusable(tls: Tls, error: OSError) -> CannotServe:
    return CannotServe(f"tls: certificate {tls.certificate} and key {tls.key} cannot be used: {error}")


class Holding:
    """What the operations that will be asked hold. `close` may be called from any thread, also while one is opened."""

    def __init__(self, operations: Iterable[str], settings: Mapping[str, str]) -> None:
        """CannotServe for an operation that is not known, and for settings that none of them takes."""
        names = tuple(dict.fromkeys(operations))
        if unknown := [name for name in names if name not in OPERATIONS]:
            raise CannotServe(f"unknown operation {unknown[0]!r}; `orch services` lists what there is")
        parts = (part for name in names for part in OPERATIONS[name].made_of)
        self._operations = [OPERATIONS[name] for name in dict.fromkeys((*names, *parts))]
        taken = {resource for operation in self._operations for resource in operation.resources}
        if strange := [name for name in settings if name not in taken]:
            raise CannotServe(f"resources that no operation asked here takes: {', '.join(strange)}")
        self._settings = settings
        self._opened = ExitStack()
        self._lock = threading.Lock()
        self.complaint = ""  # what went wrong when it was closed

    def open(self) -> Mapping[str, Any]:
        """What is held, by the operation's name; CannotServe when something cannot be had."""
        held: dict[str, Any] = {}
        shared: dict[Any, Any] = {}
        for operation in self._operations:
            key = operation.open, operation.resources
            if key in shared:
                held[operation.name] = shared[key]
            elif operation.open is not None:
                settings = {name: self._settings[name] for name in operation.resources if name in self._settings}
                try:
                    opening = operation.open(settings)
                    held[operation.name] = shared[key] = opening.__enter__()
                except Exception as error:
                    reason = f"{type(error).__name__}: {error}"
                    raise CannotServe(f"{operation.name}: what it holds cannot be opened: {reason}") from error
                self._opened.push(opening)
        return held

    def close(self) -> None:
        """Close all that is open, once; whoever comes later waits for that. Whoever ends a responder kills it in the end."""
        with self._lock:
            try:
                self._opened.close()
            except Exception as error:  # noqa: BLE001 - whatever a library raises; the process ends all the same
                self.complaint = f"closing what the operations hold: {type(error).__name__}: {error}"
