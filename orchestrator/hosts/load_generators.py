"""Looks for the load generators that a referee can ask, on this machine."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

from orchestrator.hosts.output import capture
from orchestrator.referee.generators import TOOLS, Found, Tool, version_of, why_not

FOLDER = Path(__file__).resolve().parents[2] / "build" / "referee"
"""Where `make referee` installs; what is not there is looked for on the PATH."""

_PATIENCE_S = 20.0


def look_for_all(folder: Path = FOLDER) -> list[Found]:
    """What this machine has of each; nothing is raised."""
    return [look(tool, folder) for tool in TOOLS.values()]


def look(tool: Tool, folder: Path = FOLDER) -> Found:
    """What this machine has of it; nothing is raised."""
    path = next((str(place) for place in (folder / tool.name, folder / "bin" / tool.name) if place.is_file()), None)
    path = path or shutil.which(tool.name)
    if path is None:
        return Found(tool=tool, why=f"there is no {tool.name} in build/referee or on the PATH")
    path = os.path.abspath(path)  # noqa: PTH100 - the PATH may name a folder from here, and turns start elsewhere
    try:
        done = capture([path, "--version"], timeout_s=_PATIENCE_S)
        content = Path(path).read_bytes()
    except OSError as error:
        return Found(tool=tool, path=path, why=f"{path} cannot be asked for its version: {error}")
    version = version_of(tool, f"{done.stdout}\n{done.stderr}", content)
    return Found(
        tool=tool,
        path=path,
        version=version,
        sha256=hashlib.sha256(content).hexdigest(),
        why=why_not(tool, path, version),
    )
