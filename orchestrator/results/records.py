"""Raw timing records (protos/timings.md) as files: what of them was written, and its SHA-256."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from orchestrator.results import sizes
from orchestrator.results.paths import damaged, open_regular

COLUMNS = 10
ROW_BYTES = 8 * COLUMNS
_BYTES_AT_ONCE = ROW_BYTES << 16


def written(path: Path, *, most_rows: int | None = None) -> Iterator[bytes]:
    """The rows of a record, many at a time, up to the first one never written; a torn last row is left out.

    It is read no further than that: a record is made larger than it needs, and one from elsewhere may be of any size.
    FileNotFoundError when there is no such file; InvalidMeasurement when it is a link or no regular file, is larger than
    any record, or holds more than `most_rows`.
    """
    count = 0
    with os.fdopen(open_regular(path, os.O_RDONLY), "rb") as record:
        if os.fstat(record.fileno()).st_size > sizes.RECORD:
            raise damaged(path, "larger than any record of orch")
        while content := record.read(_BYTES_AT_ONCE):
            whole = content[: len(content) // ROW_BYTES * ROW_BYTES]
            sequences = memoryview(whole).cast("q")[::COLUMNS].tolist() if whole else []
            rows = sequences.index(0) if 0 in sequences else len(sequences)
            count += rows
            if most_rows is not None and count > most_rows:
                raise damaged(path, f"it holds more than {most_rows:,} rows, the most that this trial can have")
            yield whole[: rows * ROW_BYTES]
            if rows < len(sequences):
                return


def sha256_of_rows(path: Path) -> str:
    """The SHA-256 of a record's rows, hexadecimal: of what was written, not of the room behind it. Errors as `written`."""
    digest = hashlib.sha256()
    for rows in written(path):
        digest.update(rows)
    return digest.hexdigest()
