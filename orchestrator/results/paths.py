"""Files of a run folder by their paths, which stay inside it, and their digests."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from orchestrator.errors import InvalidMeasurement

ALTERED = "truncated or altered: its SHA-256 is not the one that was written down"


def inside(folder: Path, relative: str) -> Path:
    """Return `folder / relative`; InvalidMeasurement when that leads out of the folder, by `..` or by a link."""
    path = folder / relative
    if not path.resolve().is_relative_to(folder.resolve()):
        raise InvalidMeasurement(
            f"{folder}: {relative[:200]!r} leads out of the run folder", hint="bring the run back from a copy"
        )
    return path


def digest(path: Path) -> str:
    """Return the SHA-256 of a file, hexadecimal; InvalidMeasurement when it is missing or cannot be read."""
    try:
        with path.open("rb") as handle:
            return hashlib.file_digest(handle, "sha256").hexdigest()
    except FileNotFoundError as error:
        raise damaged(path, "the file is missing") from error
    except OSError as error:
        raise damaged(path, f"cannot be read: {error.strerror}") from error


def damaged(path: Path, trouble: str) -> InvalidMeasurement:
    """Return the error for a file of a run folder that is missing or not as it was written."""
    return InvalidMeasurement(
        f"{path}: {trouble}",
        hint="bring it back from a copy; the run's other files can still be read with pandas.read_parquet",
    )


def name_in_id(name: str) -> str:
    """Return an experiment's name as the ids of its runs have it."""
    return re.sub(r"[^a-z0-9_]+", "-", name.lower()).strip("-") or "run"
