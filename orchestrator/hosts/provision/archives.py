"""Archives that orch made once and sends again: kept in a folder that nobody else can write to, and verified on each use.

What is in them runs as root on hosts, so other users must not be able to write to the folder. The SHA-256 of
each lies beside it.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable
from pathlib import Path

from orchestrator.errors import MissingError, ProvisionError


def cache_folder() -> Path:
    """Where archives are kept: `ORCH_CACHE`, else `orch` in the user's cache folder (XDG base directories)."""
    if named := os.environ.get("ORCH_CACHE"):
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME", "")
    try:
        return (Path(base) if base.startswith("/") else Path.home() / ".cache") / "orch"
    except RuntimeError as error:
        raise MissingError("this user has no home folder", hint="name a folder: ORCH_CACHE=/path") from error


def kept(path: Path, make: Callable[[Path], None], is_sound: Callable[[Path], bool]) -> Path:
    """The archive at `path`, as it was made: by `make` now, or earlier and not changed since.

    `is_sound` says whether its content is what its name promises; one that was changed, or is not sound, is made again.
    ProvisionError when others can write to the folder, or what was made is not sound.
    """
    private(path.parent)
    if not (_is_unchanged(path) and is_sound(path)):
        _digest_file(path).unlink(missing_ok=True)
        make(path)
        if not is_sound(path):
            path.unlink(missing_ok=True)
            raise ProvisionError(f"{path} is not what it was made from", hint="check the disk, and try again")
        _digest_file(path).write_text(_sha256(path) + "\n", encoding="ascii")
    return path


def private(folder: Path) -> None:
    """Make the folder, for this user alone; ProvisionError when it belongs to another user or others can write to it."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    status = folder.stat()
    if status.st_uid != os.geteuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise ProvisionError(
            f"{folder} can be written to by others; what is kept there runs as root on hosts",
            hint=f"chmod 700 {folder}, or name another folder: ORCH_CACHE=/path",
        )


def _is_unchanged(path: Path) -> bool:
    try:
        return _digest_file(path).read_text(encoding="ascii").strip() == _sha256(path)
    except (OSError, UnicodeDecodeError):
        return False


def _digest_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
