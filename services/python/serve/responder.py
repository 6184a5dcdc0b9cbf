"""What a protocol's responder module gives to `services.python.programs.respond`, and what it is given.

A module has one function, `serve(dispatcher, host, port, announce)`:

Where the responder names a server (`served_by`), that module's `serve(application, dispatcher, host, port, announce)` is
called, with what the responder's own `application(dispatcher)` or its framework returns.

* It runs in the main thread, and may use as many threads or one event loop as it likes.
* It listens on `host`:`port` (0: any free port), best through `listen`, and on `dispatcher.listener` instead where there is
  one: the socket that several worker processes accept from. It calls `announce(actual_port)` once, as soon
  as a connection would be accepted: after `listen()` of the socket, or the framework's own "started" signal.
* It hands every decoded request to `dispatcher.answer(operation, request, peer)`, on an event loop to `answer_async`, which
  gives the reply or what to await for it, and sends back what that returns; `peer` is the address and port of the other end
  of the connection, so that distinct peers can be counted.
* It blocks for as long as it answers, and is **never asked to return**. `respond` ends the process with `os._exit` on
  SIGTERM, SIGINT and end of stdin. Both signals are blocked in every thread before `serve` is entered, and waited for
  by a thread of `respond`: signal handlers that a framework installs never run, and need not be switched off.
* There is nothing to release: sockets and threads go with the process, and `respond` closes what operations hold. Several
  worker processes (`workers`) are `respond`'s as well: each of them runs `serve` by itself.
* When it cannot start it raises `CannotServe` (or lets an OSError of its socket out); `respond` prints that as one
  line, and exits with status 1.
* It may print: file descriptor 1 already points at stderr. It must not read stdin.
"""

from __future__ import annotations

import socket
from collections.abc import Callable

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
