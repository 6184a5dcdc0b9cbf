"""The raw record of `protos/timings.md`, version 2, written from its prose."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import NamedTuple


class Row(NamedTuple):
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


ROW_BYTES = 112
HEADER = (
    b"orchtime"
    + struct.pack("<4q", 2, 512, ROW_BYTES, 14)
    + bytes(24)
    + b"".join(name.encode("ascii").ljust(32, b"\0") for name in Row._fields)
)
assert len(HEADER) == 512


def packed(row: Row) -> bytes:
    return struct.pack("<14q", *row)


def rows_of(path: Path) -> list[Row]:
    """The rows up to the first that was never written. AssertionError for a file that is no record."""
    content = path.read_bytes()
    assert content[:512] == HEADER, "the header is not that of timings.md"
    assert (len(content) - 512) % ROW_BYTES == 0, "no whole number of rows"
    rows = []
    for values in struct.iter_unpack("<14q", content[512:]):
        if values[0] == 0:
            break
        rows.append(Row(*values))
    return rows
