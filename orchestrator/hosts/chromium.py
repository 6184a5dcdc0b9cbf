"""A browser that draws a picture of a file: the distribution's chromium, without a window and without a network."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from orchestrator.disk import whole_file
from orchestrator.hosts.base import ContractBroken
from orchestrator.hosts.output import capture

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
INSTALL = "apt-get install chromium"
_PATIENCE_S = 60.0
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
    "--force-device-scale-factor=2",
)


def find() -> str | None:
    """The first of `NAMES` on the PATH."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def draw(program: str, source: Path, target: Path, width_px: int, height_px: int) -> str:
    """Draw `source` as the PNG `target`, twice as many pixels as it is wide and high; says why where it cannot.

    The profile is a new one, and gone afterwards. No name is resolved. OSError is what the disk refuses.
    """
    with tempfile.TemporaryDirectory(prefix="orch-chromium-") as profile:
        shot = Path(profile) / "shot.png"
        command = [
            program,
            *_FLAGS,
            *(("--no-sandbox",) if os.geteuid() == 0 else ()),  # its sandbox refuses to run for root
            f"--user-data-dir={profile}/profile",
            f"--screenshot={shot}",
            f"--window-size={width_px},{height_px}",
            source.resolve().as_uri(),
        ]
        try:
            done = capture(command, timeout_s=_PATIENCE_S, cwd=Path(profile))
        except (TimeoutError, ContractBroken) as error:
            return str(error)
        if done.returncode or not shot.is_file():
            return f"{program} ended with status {done.returncode} and drew nothing"
        with whole_file(target) as partial:
            shutil.copyfile(shot, partial)
    return ""
