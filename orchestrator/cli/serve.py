"""Show runs, comparisons and trends in a browser: a web page on this machine, for its user alone.

It ends with Ctrl-C. It prints one address; whoever opens that may also change notes and tags, delete runs, and start some.
"""

from __future__ import annotations

import os
import secrets
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.console import console
from orchestrator.cli.here import WORKSPACE
from orchestrator.errors import Interrupted

if TYPE_CHECKING:
    import socket

    from fastapi import FastAPI

PORT = 8642
_NICE = 19  # a measurement that runs beside goes first
_GRACE_S = 2
_WORDS = 32  # bytes of the token
OPENING = "open.html"
"""A file with the address and its token, for as long as the page is shown with `--open`."""


def command(
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Listen on this address; another than loopback lets others in.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Listen on this port; 0 takes a free one.")] = PORT,
    name: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Answer to this host name, too; may be given again.")
    ] = None,
    opens: Annotated[
        bool,
        typer.Option(
            "--open",
            help="Open the page in your browser; where stdout is no terminal, or there is no display, only if the"
            " environment names a BROWSER.",
        ),
    ] = False,
) -> None:
    """Print the address of the page, with its token, and show the page until Ctrl-C."""
    from orchestrator.cli.choosing import the_index
    from orchestrator.web import listening
    from orchestrator.web.app import create_app

    bound = listening.listen(host, port)
    try:
        with the_index():
            pass  # folders that are new are read now: the first page need not wait for them
        names = listening.names(host, bound, name or ())
        token = secrets.token_urlsafe(_WORDS)
        app = create_app(WORKSPACE, token, is_loopback=listening.is_loopback(bound), names=names)
        address = f"http://{listening.shown(host, name or ())}:{names.port}/?token={token}"
        if (
            sys.platform == "linux"
        ):  # where it is this thread's and its later ones'; a run that is started keeps the user's
            with suppress(OSError):
                os.nice(_NICE)
        listening.allow_many_connections()
        console.result(address)
        console.out.flush()
        if not listening.is_loopback(bound):
            console.warning(
                "others can reach this page, and what they and you send is not encrypted; the token lets them in"
            )
        console.progress("Ctrl-C ends it")
        if opens:
            _open(address)
        _serve(app, bound)
    finally:
        bound.close()
        if opens:
            with suppress(OSError):
                (WORKSPACE.state / OPENING).unlink(missing_ok=True)
    console.progress("ended")


def _serve(app: FastAPI, bound: socket.socket) -> None:
    """Answer until Ctrl-C or SIGTERM; connections that are open then have a moment."""
    from orchestrator.web.connections import server

    with suppress(KeyboardInterrupt, Interrupted):  # it ends in order first, and then raises what ended it
        server(app, grace_s=_GRACE_S).run(sockets=[bound])


def _open(address: str) -> None:
    """Show the page in the user's browser, by a file that only the user reads.

    What a browser is started with, every user of this machine can see.
    """
    from orchestrator.cli.browser import show_address
    from orchestrator.disk import whole_file, writing

    page = WORKSPACE.state / OPENING
    with writing(page, "open the address yourself"):
        page.parent.mkdir(exist_ok=True)
        with whole_file(page, mode=0o600) as partial:
            partial.write_text(
                f"<!doctype html><meta charset=utf-8><meta name=referrer content=no-referrer><title>orch</title>"
                f'<meta http-equiv=refresh content="0;url={address}"><a href="{address}">orch</a>\n',
                encoding="utf-8",
            )
    show_address(page.resolve().as_uri(), "the address is above")
