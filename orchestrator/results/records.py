"""Raw timing records (protos/timings.md) as files: what of them was written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from orchestrator import record_layout as layout
from orchestrator.results.documents import Damaged, inside
from services.python.contract.limits import Recorded

STAGING = "staging"  # raw records on their way; gone when a run is complete
_BYTES_AT_ONCE = layout.ROW.size << 16


def raw_path(folder: Path, samples: str) -> Path:
    """Where the raw record waits that will become `samples` of a run folder."""
    return inside(folder, f"{STAGING}/records/{samples.replace('/', '~')}.timings")


def written(
    path: Path, *, kind: Recorded | None = "call", parts: int | None = None, at_once: bool = False
) -> Iterator[bytes]:
    """The rows of a record without its header, many at a time, up to the first one never written.

    It is read no further than that: a record is made larger than it needs. FileNotFoundError when there is no such file;
    Damaged when it is no record of this version with these columns.

    `kind` is the kind of work that was timed, and `parts` how many a right sample of it has, where that is known: other
    rows than it has are refused (`results.rows`); None takes them unseen. Rows of work in parts come all at once.
    """
    if kind is None:
        yield from _written(path)
        return
    from orchestrator.results.rows import refusal

    for rows in _written(path) if kind == "call" else [b"".join(_written(path))]:
        if (why := refusal(rows, kind, parts=parts, at_once=at_once)) is not None:
            raise Damaged(path, why)
        yield rows


def _written(path: Path) -> Iterator[bytes]:
    size = layout.ROW.size
    with _opened(path) as record:
        while content := record.read(_BYTES_AT_ONCE):
            whole = content[: len(content) // size * size]
            sequences = memoryview(whole).cast("q")[:: len(layout.COLUMNS)].tolist() if whole else []
            rows = sequences.index(0) if 0 in sequences else len(sequences)
            yield whole[: rows * size]
            if rows < len(sequences):
                return


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    with path.open("rb") as record:
        size = os.fstat(record.fileno()).st_size
        if (why := layout.refusal(record.read(layout.HEADER_BYTES), size)) is not None:
            raise Damaged(path, why)
        yield record
