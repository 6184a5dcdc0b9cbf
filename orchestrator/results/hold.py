"""The lock that makes a process a run's only writer: on its journal, gone with the process."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import BinaryIO

from orchestrator.errors import InvalidMeasurement
from orchestrator.results.paths import damaged, open_regular


def try_hold(journal: Path) -> BinaryIO | None:
    """The lock, held until this is closed; None while another process has it. InvalidMeasurement for no regular file."""
    try:
        handle = os.fdopen(open_regular(journal, os.O_RDWR), "rb")
    except FileNotFoundError as error:
        raise damaged(journal, "the file is missing") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        handle.close()
        return None
    return handle


def is_held(journal: Path) -> bool:
    """Whether a process of this machine holds the lock right now."""
    try:
        with os.fdopen(open_regular(journal, os.O_RDONLY), "rb") as handle:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except (OSError, InvalidMeasurement) as error:
        return isinstance(error, BlockingIOError)
    return False
