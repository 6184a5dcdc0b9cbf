"""A browser that runs the script of a page: the distribution's chromium, without a window and without a network."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from orchestrator.errors import MissingError
from orchestrator.hosts.output import capture

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
INSTALL = "apt-get install chromium"
_PATIENCE_S = 60.0
_VIRTUAL_MS = 60_000  # of the page's own clock, which does not wait
_FLAGS = (
    "--headless",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-extensions",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    "--host-resolver-rules=MAP * ~NOTFOUND",
)


def find() -> str | None:
    """The first of `NAMES` on the PATH."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def browse(program: str, address: str) -> str:
    """Return the document at an address of this machine, as the scripts of its page left it.

    The profile is a new one, and gone afterwards. No name is resolved. MissingError when the program does not work.
    """
    with tempfile.TemporaryDirectory(prefix="orch-chromium-") as profile:
        command = [
            program,
            *_FLAGS,
            *(("--no-sandbox",) if os.geteuid() == 0 else ()),  # its sandbox refuses to run for root
            f"--user-data-dir={profile}/profile",
            f"--virtual-time-budget={_VIRTUAL_MS}",
            "--dump-dom",
            address,
        ]
        try:
            done = capture(command, timeout_s=_PATIENCE_S, cwd=Path(profile))
        except TimeoutError as error:
            raise MissingError(str(error), hint="draw them again, or save pictures from the page") from error
    if done.returncode:
        raise MissingError(f"{program} ended with status {done.returncode}", hint="save pictures from the page")
    return done.stdout
