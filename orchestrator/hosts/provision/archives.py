"""Archives that orch makes once and sends again, each named by its content."""

from __future__ import annotations

import io
import os
import tarfile
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Member:
    """A file of an archive: its path there, its content, and its mode."""

    name: str
    content: bytes
    mode: int = 0o644


def cache_folder() -> Path:
    """Where archives are kept: `ORCH_CACHE`, else `orch` in the user's cache folder (XDG base directories)."""
    if named := os.environ.get("ORCH_CACHE"):
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if base.startswith("/") else Path("~/.cache").expanduser()) / "orch"


def kept(path: Path, make: Callable[[Path], None]) -> Path:
    """Return the archive at `path`, made now by `make` or earlier."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not path.exists():
        make(path)
    return path


def write_tar(tar: Path, members: Iterable[Member]) -> None:
    """Owner and time left out, so that equal members are an equal tar; appears whole or not at all."""
    with tempfile.TemporaryDirectory(dir=tar.parent) as scratch:  # its own: another orch may be at it too
        partial = Path(scratch, tar.name)
        with tarfile.open(partial, "w") as archive:
            for member in members:
                info = tarfile.TarInfo(member.name)
                info.size, info.mode = len(member.content), member.mode
                archive.addfile(info, io.BytesIO(member.content))
        partial.replace(tar)
