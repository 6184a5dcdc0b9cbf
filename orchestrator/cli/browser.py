"""`--open`: shows a page in the user's browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from orchestrator.cli.console import console

Open = Annotated[bool, typer.Option("--open", help="Open it in your browser.")]


def show(page: Path | None) -> None:
    """Open a page; a warning says where it is when that cannot be, and that there is none."""
    if page is None:
        console.warning("there is no report to open")
    else:
        show_address(page.resolve().as_uri(), f"the report is in {page}")


def show_address(address: str, where: str) -> None:
    """Open an address; a warning with `where` it can be found when that cannot be."""
    import webbrowser

    try:
        is_open = webbrowser.open(address)
    except (OSError, webbrowser.Error, ValueError):
        is_open = False
    if not is_open:
        console.warning(f"no browser could be started; {where}")
