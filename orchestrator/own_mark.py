"""The mark on what this user's orch made: runs, deployments, kept archives. Nobody else's is believed, nor a copy of ours.

It is an HMAC-SHA256 over what was written down of the thing, with a key of the user's own that lies in no checkout. A
checkout, or an archive of one, may come from somebody else, and what lies in it says what is written, run and deleted.
Callers put into `about` what a copy cannot have (an inode, say). Without the key, what it marked is only read.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import stat
from pathlib import Path
from typing import Any, Literal, TypeAlias

from orchestrator.errors import MissingError
from orchestrator.files import UnreadableFile, read_file

Kind: TypeAlias = Literal["run", "deployment", "archive"]
_KEY_BYTES = 32


def key_file() -> Path:
    """Where the key lies: `orch/own.key` in the user's state folder (XDG base directories)."""
    base = os.environ.get("XDG_STATE_HOME", "")
    try:
        return (Path(base) if base.startswith("/") else Path.home() / ".local" / "state") / "orch" / "own.key"
    except RuntimeError as error:
        raise MissingError("this user has no home folder", hint="name a folder: XDG_STATE_HOME=/path") from error


def mark(kind: Kind, about: Any) -> str:
    """The mark of plain data about one thing; the first one makes the key. MissingError when that cannot be read or made."""
    return _mark(_key(make=True), kind, about)


def is_ours(kind: Kind, about: Any, claimed: object) -> bool:
    """Whether `claimed` is the mark of this data; MissingError as `mark`. Looking makes no key."""
    if not isinstance(claimed, str) or not claimed.isascii() or not key_file().exists():
        return False
    return hmac.compare_digest(claimed, _mark(_key(make=False), kind, about))


def why_not_private(path: Path) -> str | None:
    """What lets others change a file or a folder, in words; None when only this user can."""
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):
        return "it is a link"
    if status.st_uid != os.geteuid():
        return f"it belongs to another user ({status.st_uid})"
    return "others can write to it" if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) else None


def _mark(key: bytes, kind: Kind, about: Any) -> str:
    return hmac.new(key, json.dumps([kind, about], sort_keys=True).encode(), hashlib.sha256).hexdigest()


def _key(*, make: bool) -> bytes:
    path = key_file()
    try:
        if make:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        why = why_not_private(path.parent)
        if why is None and make and not path.exists():
            _make(path)
        why = why or why_not_private(path)
        if why is None and path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH):
            why = "others can read it"
        key = read_file(path, _KEY_BYTES, follow=False) if why is None else b""
    except UnreadableFile as error:
        raise _unusable(path, f"it {error}") from error
    except OSError as error:
        raise _unusable(path, os.strerror(error.errno or 0)) from error
    if why is not None or len(key) != _KEY_BYTES:
        raise _unusable(path, why or f"it does not have {_KEY_BYTES} bytes")
    return key


def _make(path: Path) -> None:
    """A new key, whole or not at all; another orch may be making one at the same time."""
    partial = path.with_name(f"{path.name}.{os.getpid()}-{secrets.token_hex(4)}")
    try:
        with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(secrets.token_bytes(_KEY_BYTES))
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(partial, path)
        except FileExistsError:
            return
    finally:
        partial.unlink(missing_ok=True)


def _unusable(path: Path, why: str) -> MissingError:
    return MissingError(
        f"the key {path} that marks what this user's orch made cannot be used: {why}",
        hint=f"chmod 700 {path.parent}; chmod 600 {path}, or name another folder: XDG_STATE_HOME=/path",
    )
