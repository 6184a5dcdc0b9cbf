"""`--open`: shows a page in the user's browser, where there is a person, and a screen, to show it to."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli.console import console

Open = Annotated[
    bool,
    typer.Option(
        "--open",
        help="Open it in your browser; where stdout is no terminal, or there is no display, only if the"
        " environment names a BROWSER.",
    ),
]


def show(page: Path | None) -> None:
    """Open a page; a warning says where it is when that cannot be, and that there is none."""
    if page is None:
        console.warning("there is no report to open")
        return
    show_address(page.resolve().as_uri(), f"the report is in {page}")


def show_address(address: str, where: str) -> None:
    """Open an address; a warning with `where` it can be found when that cannot be."""
    import webbrowser

    why = why_not(os.environ, is_terminal=console.out.isatty())
    if why is None:
        try:
            if webbrowser.open(address):
                return
            why = "no browser could be started"
        except (OSError, webbrowser.Error, ValueError) as error:
            why = f"the browser could not be started: {error}"
    console.warning(f"{why}; {where}")


def why_not(environment: Mapping[str, str], *, is_terminal: bool, platform: str = sys.platform) -> str | None:
    """Why no browser is to be opened; None where one may be. Whoever names a BROWSER has asked for it."""
    if environment.get("BROWSER"):
        return None
    if not is_terminal:
        return "no browser was opened, as stdout is no terminal (BROWSER=... opens one even so)"
    has_display = platform in ("darwin", "win32") or any(map(environment.get, ("DISPLAY", "WAYLAND_DISPLAY")))
    return None if has_display else "no browser was opened, as there is no display (BROWSER=... opens one even so)"
