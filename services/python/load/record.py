"""The raw timing record of `protos/timings.md`: rows stored straight into the kernel's page cache while measuring."""

from __future__ import annotations

import contextlib
import errno
import itertools
import mmap
import os
import stat
import struct
import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

MAGIC = b"orchtime"
VERSION = 2


class Row(NamedTuple):
    """One row; units and meanings as in `protos/timings.md`. `kind` and `sender_clock` are places in `KINDS`, `CLOCKS`."""

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
    kind: int = 0
    parent: int = 0
    sender_ns: int = 0
    sender_clock: int = 0


COLUMNS = Row._fields
KINDS = ("request", "task", "part", "event", "codec", "unused", "mixed")
CLOCKS = ("none", "requester-monotonic", "responder-monotonic", "requester-wall", "responder-wall")

_ROW = struct.Struct(f"<{len(COLUMNS)}q")
ROW_BYTES = _ROW.size
_HEADER_NUMBERS = struct.Struct("<8s4q24x")
_NAME_BYTES = 32
HEADER_BYTES = _HEADER_NUMBERS.size + _NAME_BYTES * len(COLUMNS)
HEADER = _HEADER_NUMBERS.pack(MAGIC, VERSION, HEADER_BYTES, ROW_BYTES, len(COLUMNS)) + b"".join(
    name.encode().ljust(_NAME_BYTES, b"\0") for name in COLUMNS
)

# Bound once: `append` runs between any two requests.
_pack_sequence = struct.Struct("<q").pack_into
_pack_request = struct.Struct("<9q").pack_into  # what comes after is 0 for an ordinary request, as the file is
_pack_rest = struct.Struct("<13q").pack_into
# From a row's second column, whose place in the file is what is counted: so `append` need not calculate it.
_FIRST_PLACE = HEADER_BYTES + 8
_ZEROS = bytes(1 << 20)
_MADV_POPULATE_WRITE = 23  # Linux 5.14; before it pages are faulted in one by one

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NONBLOCK  # nobody may read a pipe
_ROWS_AT_ONCE = 1 << 12
GROW_ROWS = 1 << 17  # 15 MB
LARGEST_START_ROWS = 1 << 22  # 470 MB; a longer trial grows on its way


class Record:
    """A pre-sized, memory-mapped file: a header, and rows behind it.

    Storing a row costs about 0.15 us and no system call, and what was stored outlives this process however it ends. The
    space is reserved on disk beforehand: a full disk is an OSError here, not a fatal signal in the middle of a trial.
    """

    __slots__ = ("_descriptor", "_growing", "_map", "_next_place", "_size", "path")

    def __init__(self, path: str | os.PathLike[str], expected_rows: int) -> None:
        self.path = Path(path)
        self._next_place = itertools.count(_FIRST_PLACE, ROW_BYTES)
        self._growing = threading.Lock()
        self._descriptor = os.open(self.path, _FLAGS, 0o644)
        if not stat.S_ISREG(os.fstat(self._descriptor).st_mode):
            os.close(self._descriptor)  # and left where it is
            raise OSError(errno.EINVAL, "no regular file", str(self.path))
        self._size = 0
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
        """Store an ordinary request.

        The sequence is stored last: a row without one was never completed.
        Threads may store at once: taking a place is one step of the interpreter.
        """
        place = next(self._next_place)
        if place > self._size:
            self._grow(place)
        mapping = self._map
        _pack_request(
            mapping,
            place,
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
        _pack_sequence(mapping, place - 8, sequence)

    def append_row(self, values: Row) -> None:
        """Store a row of any kind, in every other respect as `append`."""
        place = next(self._next_place)
        if place > self._size:
            self._grow(place)
        mapping = self._map
        sequence, *rest = values
        _pack_rest(mapping, place, *rest)
        _pack_sequence(mapping, place - 8, sequence)

    def stored(self, first: int) -> Iterator[Row]:
        """The rows from the `first` (from 0) to the last that is stored now."""
        at, end = HEADER_BYTES + first * ROW_BYTES, HEADER_BYTES + self.rows * ROW_BYTES
        while at < end:
            part = self._map[at : min(end, at + _ROWS_AT_ONCE * ROW_BYTES)]
            yield from map(Row._make, _ROW.iter_unpack(part))
            at += len(part)

    @property
    def rows(self) -> int:
        return (int(self._next_place.__reduce__()[1][0]) - _FIRST_PLACE) // ROW_BYTES

    def close(self) -> None:
        """Cut the file to the rows that were stored; idempotent."""
        if self._descriptor >= 0:
            self._map.close()
            os.ftruncate(self._descriptor, HEADER_BYTES + self.rows * ROW_BYTES)
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _grow(self, place: int) -> None:
        with self._growing:
            if place > self._size:
                self._extend(GROW_ROWS)

    def _extend(self, rows: int) -> None:
        """Map the file with room for so many rows more; the mapping before it goes when nobody holds it."""
        before = self._size
        wanted = (before or HEADER_BYTES) + rows * ROW_BYTES
        try:
            _reserve(self._descriptor, before, wanted)
        except OSError:
            os.ftruncate(self._descriptor, before)  # a part of a row more is no record
            raise
        mapping = mmap.mmap(self._descriptor, wanted, flags=mmap.MAP_SHARED)
        with contextlib.suppress(OSError, ValueError):
            # No page fault at a store. MAP_POPULATE would not do: it maps shared pages for reading only.
            mapping.madvise(_MADV_POPULATE_WRITE, before // mmap.PAGESIZE * mmap.PAGESIZE)
        if not before:
            mapping[:HEADER_BYTES] = HEADER
        self._map = mapping  # first: a thread that sees the room must find it there
        self._size = wanted


def _reserve(descriptor: int, start: int, end: int) -> None:
    try:
        os.posix_fallocate(descriptor, start, end - start)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP):
            raise
        while start < end:  # a file system that cannot reserve: writing the zeros takes the space just as well
            start += os.pwrite(descriptor, _ZEROS[: end - start], start)


def read_record(path: str | os.PathLike[str]) -> Iterator[Row]:
    """The rows of a record in order of completion, up to the first that was never completed. ValueError for no record."""
    content = Path(path).read_bytes()
    if content[:HEADER_BYTES] != HEADER:
        raise ValueError(f"{path}: not a timing record of version {VERSION}")
    rows = map(Row._make, _ROW.iter_unpack(memoryview(content)[HEADER_BYTES:]))
    return itertools.takewhile(lambda row: row.sequence, rows)
