"""How a raw timing record lies in its file: the orchestrator's one description of `protos/timings.md`."""

from __future__ import annotations

from struct import Struct

MAGIC = b"orchtime"
VERSION = 2
COLUMNS = (
    "sequence",
    "phase",
    "connection",
    "intended_ns",
    "sent_ns",
    "received_ns",
    "service_ns",
    "bytes_sent",
    "bytes_received",
    "status",
    "kind",
    "parent",
    "sender_ns",
    "sender_clock",
)
KINDS = ("request", "task", "part", "event", "codec", "unused", "mixed")
CLOCKS = ("none", "requester-monotonic", "responder-monotonic", "requester-wall", "responder-wall")

ROW = Struct(f"<{len(COLUMNS)}q")
_NUMBERS = Struct("<8s4q24s")
_NAME = Struct("<32s")
HEADER_BYTES = _NUMBERS.size + _NAME.size * len(COLUMNS)


def refusal(header: bytes, size: int) -> str | None:
    """Why a file of `size` bytes that begins with `header` (its first `HEADER_BYTES`) is not read; None where it is."""
    if header[: len(MAGIC)] != MAGIC:
        return "not a timing record: it does not begin with its magic bytes"
    cut = f"its header is cut off after {len(header)} of {HEADER_BYTES} bytes"
    if len(header) < _NUMBERS.size:
        return cut
    _, version, header_bytes, row_bytes, count, spare = _NUMBERS.unpack_from(header)
    if version != VERSION:
        return f"record version {version}, this reads {VERSION}"
    if (header_bytes, row_bytes, count) != (HEADER_BYTES, ROW.size, len(COLUMNS)):
        return (
            f"a header of {header_bytes} bytes and rows of {row_bytes} bytes in {count} columns; "
            f"version {VERSION} has {HEADER_BYTES}, {ROW.size} and {len(COLUMNS)}"
        )
    if len(header) < HEADER_BYTES:
        return cut
    names = [bytes(name).rstrip(b"\0") for (name,) in _NAME.iter_unpack(header[_NUMBERS.size : HEADER_BYTES])]
    for place, (name, known) in enumerate(zip(names, COLUMNS, strict=True)):
        if name != known.encode():
            return f"its column {place} is {name.decode('ascii', 'backslashreplace')!r}, this reads {known!r}"
    if any(spare):
        return f"its header holds more than version {VERSION} says"
    if (size - HEADER_BYTES) % ROW.size:
        return f"its {size - HEADER_BYTES:,} bytes after the header are no whole number of rows of {ROW.size}"
    return None
