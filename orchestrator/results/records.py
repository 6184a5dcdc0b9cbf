"""Raw timing records (protos/timings.md) as files: what of them was written, and its SHA-256."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from orchestrator import record_layout as layout
from orchestrator.results.documents import Damaged, inside
from services.python.contract.limits import Recorded

_KIND, _PARENT, _CLOCK = map(layout.COLUMNS.index, ("kind", "parent", "sender_clock"))
STAGING = "staging"  # raw records on their way; gone when a run is complete
_BYTES_AT_ONCE = layout.ROW.size << 16


def raw_path(folder: Path, samples: str) -> Path:
    """Where the raw record waits that will become `samples` of a run folder."""
    return inside(folder, f"{STAGING}/records/{samples.replace('/', '~')}.timings")


def written(
    path: Path,
    *,
    kind: Recorded | None = "call",
    parts: int | None = None,
    at_once: bool = False,
) -> Iterator[bytes]:
    """The rows of a record without its header, many at a time, up to the first one never written.

    It is read no further than that: a record is made larger than it needs. FileNotFoundError when there is no such file;
    Damaged when it is no record of this version with these columns.

    `kind` is the kind of work that was timed, and `parts` how many a right sample of it has, where that is known: other
    rows than it has are refused (`results.rows`); None takes them unseen. Rows of work in parts come all at once.
    """
    if kind is None or (kind == "call" and not parts):
        yield from _written(path, looks=kind is not None)
        return
    content = b"".join(_written(path, looks=False))
    if (why := _strange_clock(content) or _strange_belongings(content, kind, parts, at_once=at_once)) is not None:
        raise Damaged(path, why)
    yield content


def _written(path: Path, *, looks: bool) -> Iterator[bytes]:
    size = layout.ROW.size
    with _opened(path) as record:
        while content := record.read(_BYTES_AT_ONCE):
            whole = content[: len(content) // size * size]
            sequences = memoryview(whole).cast("q")[:: len(layout.COLUMNS)].tolist() if whole else []
            rows = sequences.index(0) if 0 in sequences else len(sequences)
            if looks and (why := _strange(whole[: rows * size])) is not None:
                raise Damaged(path, why)
            yield whole[: rows * size]
            if rows < len(sequences):
                return


def _strange(rows: bytes) -> str | None:
    """Why these rows are not requests. Parts of a task, counted as requests, would make wrong percentiles."""
    numbers, columns = memoryview(rows).cast("q"), len(layout.COLUMNS)
    for kind in set(numbers[_KIND::columns].tolist()) - {0}:
        name = layout.KINDS[kind] if 0 <= kind < len(layout.KINDS) else f"number {kind}"
        return f"it holds rows of kind {name}, which no cell of kind call has"
    if any(numbers[_PARENT::columns]):
        return "a row of kind request has a parent"
    return _strange_clock(rows)


def _strange_belongings(rows: bytes, kind: Recorded, parts: int | None, *, at_once: bool) -> str | None:
    """See `results.rows.refusal`."""
    import numpy as np

    from orchestrator.results.rows import COLUMNS, refusal

    table = np.frombuffer(rows, dtype="<i8").reshape(-1, len(layout.COLUMNS))
    columns = {name: table[:, layout.COLUMNS.index(name)] for name in COLUMNS}
    return refusal(columns, kind, parts=parts, at_once=at_once)


def _strange_clock(rows: bytes) -> str | None:
    """Why a row's sender_clock is none."""
    numbers, columns = memoryview(rows).cast("q"), len(layout.COLUMNS)
    for clock in set(numbers[_CLOCK::columns].tolist()):
        if not 0 <= clock < len(layout.CLOCKS):
            return f"a row's sender_clock is {clock}, which is no clock of {layout.CLOCKS}"
    return None


def sha256_of_rows(path: Path) -> str:
    """The SHA-256 of a record's rows, hexadecimal: of what was written, without the header. Errors as `written`."""
    digest = hashlib.sha256()
    for rows in written(path, kind=None):
        digest.update(rows)
    return digest.hexdigest()


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """The file, its header read and found right."""
    with path.open("rb") as record:
        size = os.fstat(record.fileno()).st_size
        if (why := layout.refusal(record.read(layout.HEADER_BYTES), size)) is not None:
            raise Damaged(path, why)
        yield record
