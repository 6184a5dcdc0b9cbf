"""Files of a run folder by their paths: resolved inside the folder, no link followed, nothing read beyond its size."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
from pathlib import Path

from orchestrator.errors import InvalidMeasurement
from orchestrator.files import UnreadableFile, read_file

ALTERED = "truncated or altered: its SHA-256 is not the one that was written down"
_NOT_REGULAR = "not a regular file: a link, a pipe, a device or a folder stands in its place"
_SAMPLES = re.compile(r"(samples/cell=[^/\0]+|baselines/(ping|tcp))/[^/\0]+\.parquet")


def samples_path(folder: Path, relative: str) -> Path:
    """Where a samples or baselines file lies, for a path read from the journal.

    InvalidMeasurement when it is not of the form that orch writes, or a part of it is a link.
    """
    if not _SAMPLES.fullmatch(relative):
        raise _refused(folder, relative, "is not the path of a samples file")
    return inside(folder, relative)


def inside(folder: Path, relative: str) -> Path:
    """`folder / relative`; InvalidMeasurement when that is not below `folder`, or a part of it is a link.

    The folder itself may be one: the user has named it.
    """
    parts = relative.split("/")
    if any(part in ("", ".", "..") for part in parts):
        raise _refused(folder, relative, "leads out of the run folder")
    path = folder
    for part in parts:
        path /= part
        if path.is_symlink():
            raise _refused(folder, relative, "leads out of the run folder, by a link, or to another part of it")
    return path


def regular(path: Path) -> Path:
    """The path of a regular file; InvalidMeasurement when it is missing, or a link, or a pipe or device that never ends."""
    try:
        mode = path.lstat().st_mode
    except OSError as error:
        raise damaged(path, "the file is missing") from error
    if not stat.S_ISREG(mode):
        raise damaged(path, _NOT_REGULAR)
    return path


def read_bytes(path: Path, most_bytes: int) -> bytes:
    """All of a file; FileNotFoundError when there is none, InvalidMeasurement when it is a link, or larger than that."""
    try:
        return read_file(path, most_bytes, follow=False)
    except UnreadableFile as error:
        raise damaged(path, f"it {error}") from error


def digest(path: Path, most_bytes: int) -> str:
    """The SHA-256 of a file, hexadecimal; InvalidMeasurement when it is missing, a link, or larger than that."""
    regular(path)
    try:
        with os.fdopen(open_regular(path, os.O_RDONLY), "rb") as handle:
            if os.fstat(handle.fileno()).st_size > most_bytes:
                raise damaged(path, f"larger than {most_bytes:,} bytes, which orch never writes here")
            return hashlib.file_digest(handle, "sha256").hexdigest()
    except OSError as error:
        raise damaged(path, f"cannot be read: {error.strerror}") from error


def open_regular(path: Path, flags: int) -> int:
    """A descriptor of the regular file `path` itself; InvalidMeasurement for a link, a pipe, a device or a folder.

    To be written to, it must have no second name either: what stands there would be changed too. OSError for what else
    the disk refuses. Opening never waits, and makes no file unless `flags` say so.
    """
    try:
        descriptor = os.open(path, (flags & ~os.O_TRUNC) | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o644)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO, errno.EISDIR):
            raise damaged(path, _NOT_REGULAR) from error
        raise
    status = os.fstat(descriptor)
    trouble = None if stat.S_ISREG(status.st_mode) else _NOT_REGULAR
    if trouble is None and flags & (os.O_WRONLY | os.O_RDWR) and status.st_nlink > 1:
        trouble = "it has another name elsewhere (a hard link), which writing would change too"
    if trouble is not None:
        os.close(descriptor)
        raise damaged(path, trouble)
    if flags & os.O_TRUNC:
        os.ftruncate(descriptor, 0)
    return descriptor


def damaged(path: Path, trouble: str) -> InvalidMeasurement:
    """The error for a file of a run folder that is missing or not as it was written."""
    return InvalidMeasurement(
        f"{path}: {trouble}",
        hint="bring it back from a copy; the run's other files can still be read with pandas.read_parquet",
    )


def _refused(folder: Path, relative: str, trouble: str) -> InvalidMeasurement:
    return InvalidMeasurement(
        f"{folder}: {relative[:200]!r} {trouble}",
        hint="orch never writes this: do not trust the folder, and ask whoever sent it",
    )


def name_in_id(name: str) -> str:
    """An experiment's name as it stands in the ids of its runs."""
    return re.sub(r"[^a-z0-9_]+", "-", name.lower()).strip("-") or "run"
