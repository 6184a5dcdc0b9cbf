"""The raw timing record of `protos/timings.md`: rows stored straight into the kernel's page cache while measuring."""

from __future__ import annotations

import contextlib
import errno
import itertools
import mmap
import os
import struct
import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

ROW_BYTES = 80
_ROW = struct.Struct("<10q")
# Bound once: `append` runs between any two requests.
_pack_sequence = struct.Struct("<q").pack_into
_pack_rest = struct.Struct("<9q").pack_into
_ZEROS = bytes(1 << 20)
_MADV_POPULATE_WRITE = 23  # Linux 5.14; elsewhere pages are faulted in one by one

GROW_ROWS = 1 << 17  # 10 MB
LARGEST_START_ROWS = 1 << 22  # 320 MB; a longer trial grows on its way


class Row(NamedTuple):
    """One request's timing; units and meanings as in `protos/timings.md`."""

    sequence: int
    phase: int
    connection: int
    intended_ns: int
    sent_ns: int
    received_ns: int
    service_ns: int
    bytes_sent: int
    bytes_received: int
    status: int


class Record:
    """A pre-sized, memory-mapped file of rows.

    Storing a row costs about 0.15 us and no system call, and what was stored outlives this process however it ends. The
    space is reserved on disk beforehand: a full disk is an OSError here, not a fatal signal in the middle of a trial.
    """

    __slots__ = ("_capacity_rows", "_descriptor", "_growing", "_map", "_next_row", "path")

    def __init__(self, path: str | os.PathLike[str], expected_rows: int) -> None:
        self.path = Path(path)
        self._next_row = itertools.count()
        self._growing = threading.Lock()
        self._descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
        self._capacity_rows = 0
        try:
            self._extend(max(1, min(expected_rows, LARGEST_START_ROWS)))
        except OSError:
            os.close(self._descriptor)
            self.path.unlink()
            raise

    def append(
        self,
        sequence: int,
        phase: int,
        connection: int,
        intended_ns: int,
        sent_ns: int,
        received_ns: int,
        service_ns: int,
        bytes_sent: int,
        bytes_received: int,
        status: int,
    ) -> None:
        """Store one row, its sequence last: a row without a sequence was never completed.

        Threads may store at once: taking a place is one step of the interpreter.
        """
        row = next(self._next_row)
        if row >= self._capacity_rows:
            self._grow(row)
        mapping = self._map
        offset = row * ROW_BYTES
        _pack_rest(
            mapping,
            offset + 8,
            phase,
            connection,
            intended_ns,
            sent_ns,
            received_ns,
            service_ns,
            bytes_sent,
            bytes_received,
            status,
        )
        _pack_sequence(mapping, offset, sequence)

    @property
    def rows(self) -> int:
        """How many rows are stored."""
        return int(self._next_row.__reduce__()[1][0])

    def close(self) -> None:
        """Cut the file to the rows that were stored; idempotent."""
        if self._descriptor >= 0:
            self._map.close()
            os.ftruncate(self._descriptor, self.rows * ROW_BYTES)
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _grow(self, row: int) -> None:
        with self._growing:
            if row >= self._capacity_rows:
                self._extend(GROW_ROWS)

    def _extend(self, rows: int) -> None:
        """Map the file with room for so many rows more; the mapping before it goes when nobody holds it."""
        before, wanted = self._capacity_rows * ROW_BYTES, (self._capacity_rows + rows) * ROW_BYTES
        _reserve(self._descriptor, before, wanted)
        mapping = mmap.mmap(self._descriptor, wanted, flags=mmap.MAP_SHARED)
        with contextlib.suppress(OSError, ValueError, AttributeError):
            # No page fault at a store. MAP_POPULATE would not do: it maps shared pages for reading only.
            mapping.madvise(_MADV_POPULATE_WRITE, before // mmap.PAGESIZE * mmap.PAGESIZE)
        self._map = mapping  # first: a thread that sees the room must find it there
        self._capacity_rows += rows


def _reserve(descriptor: int, start: int, end: int) -> None:
    if hasattr(os, "posix_fallocate"):
        try:
            os.posix_fallocate(descriptor, start, end - start)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP):
                raise
        else:
            return
    # macOS, and file systems that cannot reserve: writing the zeros takes the space just as well.
    while start < end:
        start += os.pwrite(descriptor, _ZEROS[: end - start], start)


def read_record(path: str | os.PathLike[str]) -> Iterator[Row]:
    """The rows of a record in order of completion, up to the first that was never completed.

    ValueError when the file's size is not a whole number of rows.
    """
    content = Path(path).read_bytes()
    if len(content) % ROW_BYTES:
        raise ValueError(f"{path}: {len(content)} bytes are not a whole number of rows of {ROW_BYTES}")
    for values in _ROW.iter_unpack(content):
        row = Row._make(values)
        if row.sequence == 0:
            return
        yield row
