"""The lock that makes a process a run's only writer: on its journal, gone with the process."""

from __future__ import annotations

import fcntl
from pathlib import Path
from typing import BinaryIO

from orchestrator.results.paths import damaged


def try_hold(journal: Path) -> BinaryIO | None:
    """The lock, held until this is closed; None while another process has it. InvalidMeasurement where there is no file."""
    try:
        handle = journal.open("r+b")
    except FileNotFoundError as error:
        raise damaged(journal, "the file is missing") from error
    except IsADirectoryError as error:
        raise damaged(journal, "not a file but a folder") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        handle.close()
        return None
    return handle


def is_held(journal: Path) -> bool:
    """Whether a process of this machine holds the lock right now."""
    try:
        with journal.open("rb") as handle:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        return isinstance(error, BlockingIOError)
    return False
