"""The verb `serve`: a web page with runs, comparisons and trends."""

from __future__ import annotations

import ipaddress
import os
import socket
from contextlib import suppress
from typing import Annotated

import typer

from orchestrator.cli.console import console
from orchestrator.cli.here import WORKSPACE
from orchestrator.errors import Interrupted, MissingError

PORT = 8642
_NICE = 19  # a measurement beside it goes first
_GRACE_S = 3


def serve(
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Listen on this address; any but loopback lets others read.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Listen on this port; 0 takes a free one.")] = PORT,
) -> None:
    """Show runs, comparisons, trends and runs in progress in a browser; the pages change nothing. Ctrl-C ends it."""
    import uvicorn

    from orchestrator.history.keep import history
    from orchestrator.web.app import LOOPBACK, create_app

    with listen(host, port) as bound:
        with history(WORKSPACE):  # now, so that the first page is quick
            pass
        address, free_port = bound.getsockname()[:2]
        is_everywhere = ipaddress.ip_address(address).is_unspecified
        name = f"[{host}]" if ":" in host else host
        app = create_app(WORKSPACE, ["*"] if is_everywhere else [*LOOPBACK, name])
        url = f"http://{socket.gethostname() if is_everywhere else name}:{free_port}/"
        os.nice(_NICE)
        console.result(url)
        console.out.flush()
        if not ipaddress.ip_address(address).is_loopback:
            console.warning("everybody who can reach this address can read the runs; nothing is encrypted")
        console.progress("Ctrl-C ends it")
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", ws="none", timeout_graceful_shutdown=_GRACE_S))
        with suppress(KeyboardInterrupt, Interrupted):  # raised again by the server when it has ended in order
            server.run(sockets=[bound])
    console.progress("ended")


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens there; MissingError where that is not possible."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except (OSError, UnicodeError) as error:
        raise MissingError(
            f"cannot listen on port {port} of {host}: {getattr(error, 'strerror', None) or error}",
            hint="--port 0 takes a free port; without --host it listens on loopback",
        ) from error
