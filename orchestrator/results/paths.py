"""Paths that stand in a run's data, resolved inside the run folder or refused; and the error for a damaged file."""

from __future__ import annotations

import errno
import os
import re
import stat
from pathlib import Path

from orchestrator.errors import InvalidMeasurement

_NOT_REGULAR = "not a regular file: a link, a pipe, a device or a folder stands in its place"
_SAMPLES = re.compile(r"(samples/cell=[^/\0]+|baselines/(ping|tcp))/[^/\0]+\.parquet")


def samples_path(folder: Path, relative: str) -> Path:
    """Where a samples or baselines file lies, for a path read from the journal.

    InvalidMeasurement when it is not of the form that orch writes, or leads out of the folder, by a link for instance.
    """
    if not _SAMPLES.fullmatch(relative) or any(part in (".", "..") for part in relative.split("/")):
        raise _refused(folder, relative, "is not the path of a samples file")
    return inside(folder, relative)


def inside(folder: Path, relative: str) -> Path:
    """`folder / relative`; InvalidMeasurement when that is, once links are followed, not below `folder`."""
    path = folder / relative
    if not path.resolve().is_relative_to(folder.resolve()):
        raise _refused(folder, relative, "leads out of the run folder")
    return path


def regular(path: Path) -> Path:
    """The path of a regular file; InvalidMeasurement when it is missing, or a pipe or device that never ends."""
    if not path.is_file():
        raise damaged(path, "the file is missing")
    return path


def open_regular(path: Path, flags: int) -> int:
    """A descriptor of the regular file `path` itself; InvalidMeasurement for a link, a pipe, a device or a folder.

    OSError for what else the disk refuses. Opening never waits, and makes no file unless `flags` say so.
    """
    try:
        descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o644)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO, errno.EISDIR):
            raise damaged(path, _NOT_REGULAR) from error
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise damaged(path, _NOT_REGULAR)
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
