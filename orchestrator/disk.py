"""Files that appear whole or not at all, and what a disk refuses, in our words: it is full, read-only, somebody else's."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from orchestrator.errors import KEPT, MissingError, UsageError

RESUME = "`orch run --resume`"

_FULL = {errno.ENOSPC, errno.EDQUOT}


class DiskFull(MissingError):
    """There is no space left for the file at `where`."""

    def __init__(self, where: Path | str, then: str = RESUME, kept: str = KEPT) -> None:
        safe = f"; {kept}" if kept else ""
        super().__init__(f"the disk is full: {where} could not be written{safe}", hint=f"free some space, then {then}")
        self.where = where


@contextmanager
def whole_file(path: Path, *, staging: Path | None = None, mode: int = 0o644, sync: bool = True) -> Iterator[Path]:
    """A temporary path to write to, which becomes `path` when the block ends well and is removed when it does not.

    Its name is random and the file is new: nothing that lies there is written through, a link or a pipe least of all, and
    several processes may write `path` at once. `path` itself is replaced, never written to. `staging` is a folder of the
    same file system; folders are made. OSError is what the disk refuses.
    """
    folder = staging or path.parent
    folder.mkdir(parents=True, exist_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name[:50]}.", dir=folder)
    os.close(handle)
    partial = Path(name)
    try:
        yield partial
        if sync:
            with partial.open("rb") as written:
                os.fsync(written.fileno())
        partial.chmod(mode)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def writing(path: Path, then: str, *, kept: str = "") -> Iterator[None]:
    """Turn what the disk refuses within the block into a MissingError about `path`.

    `then` is what to do once the disk allows it, such as "`orch run --resume`"; `kept` says what is safe even so.
    """
    try:
        yield
    except OSError as error:
        known = explained(error, path, then, kept)
        if known is None:
            raise
        raise known from error


def explained(error: OSError, path: Path | None = None, then: str = "try again", kept: str = "") -> MissingError | None:
    """The error for what the system refused; None for an OSError that is about no file."""
    where = path if path is not None else error.filename
    safe = f"; {kept}" if kept else ""
    if is_full(error):
        return DiskFull(where or "a file", then, kept)
    if where is None or (path is None and error.errno == errno.ENOENT):
        return None
    at = "" if error.filename in (None, str(where)) else f" ({error.filename})"
    return MissingError(
        f"{where} cannot be used: {error.strerror or error}{at}{safe}",
        hint=f"name a place that this user can read and write, or make it one, then {then}",
    )


def is_full(error: OSError) -> bool:
    """Whether there is no space left, or the user's share of it is used up."""
    return error.errno in _FULL


@contextmanager
def output(path: Path, then: str = "write it again") -> Iterator[Path]:
    """Yield a temporary file that becomes `path`, which a user named; UsageError for a device or a folder.

    MissingError as `writing`.
    """
    if os.path.lexists(path) and not path.is_file():
        raise UsageError(f"{path} is no regular file", hint="name a file")
    with writing(path, then), whole_file(path) as partial:
        yield partial
